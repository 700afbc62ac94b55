"""rank-bm25 (BM25Okapi) over windows of lines, lower-cased words, identifiers taken apart.

pip install rank-bm25
python -m benchmarks.peers.rank_bm25_windows --root DIR
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi

from benchmarks.peers.adapter import Search, run, split_names, windows

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> Search:
    passages = windows(root)
    engine = BM25Okapi([words(one.text) for one in passages])

    def search(question: str, k: int):
        scores = engine.get_scores(words(question))
        best = np.argsort(-scores, kind="stable")[:k]
        return [passages[at] for at in best if scores[at] > 0]

    return search


def words(text: str) -> list[str]:
    return _WORD.findall(split_names(text).lower())


if __name__ == "__main__":
    run(open_search)
