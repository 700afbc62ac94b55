"""bm25s over windows of lines, with English stop words and stemming as in its documentation.

pip install bm25s PyStemmer
python -m benchmarks.peers.bm25s_windows --root DIR
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bm25s
import Stemmer

from benchmarks.peers import adapter


def open_search(root: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    stemmer = Stemmer.Stemmer("english")

    def tokenize(texts: Sequence[str]) -> Any:
        split = [adapter.split_identifiers(text) for text in texts]
        return bm25s.tokenize(split, stopwords="en", stemmer=stemmer, show_progress=False)

    engine = bm25s.BM25()
    engine.index(tokenize([one.text for one in passages]), show_progress=False)

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        k = min(k, len(passages))
        numbers, scores = engine.retrieve(tokenize([query]), k=k, show_progress=False)
        pairs = zip(numbers[0], scores[0], strict=True)
        return [passages[number] for number, score in pairs if score > 0]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
