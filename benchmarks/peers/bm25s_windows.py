"""bm25s over windows of lines, with English stop words and stems, as its documentation shows.

pip install bm25s PyStemmer
python -m benchmarks.peers.bm25s_windows --root DIR
"""

from __future__ import annotations

from pathlib import Path

import bm25s
import Stemmer

from benchmarks.peers.adapter import Search, run, split_names, windows


def open_search(root: Path) -> Search:
    passages = windows(root)
    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]):
        texts = [split_names(text) for text in texts]
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    engine = bm25s.BM25()
    engine.index(tokens([one.text for one in passages]), show_progress=False)

    def search(question: str, k: int):
        k = min(k, len(passages))
        found, scores = engine.retrieve(tokens([question]), k=k, show_progress=False)
        return [passages[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return search


if __name__ == "__main__":
    run(open_search)
