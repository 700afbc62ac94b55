"""rank-bm25 (BM25Okapi) over windows of lines: lower-case words, identifiers split.

pip install rank-bm25
python -m benchmarks.peers.rank_bm25_windows --root DIR
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.peers import adapter

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    engine = BM25Okapi([split_words(one.text) for one in passages])

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        scores = engine.get_scores(split_words(query))
        best = np.argsort(-scores, kind="stable")[:k]
        return [passages[number] for number in best if scores[number] > 0]

    return search


def split_words(text: str) -> list[str]:
    return _WORD.findall(adapter.split_identifiers(text).lower())


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
