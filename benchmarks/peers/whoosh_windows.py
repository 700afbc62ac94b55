"""Whoosh over windows of lines: BM25F, any word of the question, English stems.

pip install Whoosh-Reloaded
python -m benchmarks.peers.whoosh_windows --root DIR
"""

from __future__ import annotations

from pathlib import Path

from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import STORED, TEXT, Schema
from whoosh.filedb.filestore import RamStorage
from whoosh.query import Or, Term

from benchmarks.peers.adapter import Search, run, split_names, windows


def open_search(root: Path) -> Search:
    passages = windows(root)
    analyse = StemmingAnalyzer()
    index = RamStorage().create_index(Schema(body=TEXT(analyzer=analyse), number=STORED))
    writer = index.writer(limitmb=256)
    for number, one in enumerate(passages):
        writer.add_document(body=split_names(one.text), number=number)
    writer.commit()
    searcher = index.searcher()

    def search(question: str, k: int):
        words = dict.fromkeys(token.text for token in analyse(split_names(question), mode="query"))
        any_word = Or([Term("body", word) for word in words])
        return [passages[hit["number"]] for hit in searcher.search(any_word, limit=k)]

    return search


if __name__ == "__main__":
    run(open_search)
