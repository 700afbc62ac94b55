"""Whoosh over windows of lines: BM25F with query words joined by OR, and English stemming.

pip install Whoosh-Reloaded
python -m benchmarks.peers.whoosh_windows --root DIR
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import STORED, TEXT, Schema
from whoosh.filedb.filestore import RamStorage
from whoosh.query import Or, Term

from benchmarks.peers import adapter


def open_search(root: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    analyze = StemmingAnalyzer()
    index = RamStorage().create_index(Schema(body=TEXT(analyzer=analyze), number=STORED))
    writer = index.writer(limitmb=256)
    for number, one in enumerate(passages):
        writer.add_document(body=adapter.split_identifiers(one.text), number=number)
    writer.commit()
    searcher = index.searcher()

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        tokens = analyze(adapter.split_identifiers(query), mode="query")
        words = dict.fromkeys(token.text for token in tokens)
        any_word = Or([Term("body", word) for word in words])
        return [passages[hit["number"]] for hit in searcher.search(any_word, limit=k)]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
