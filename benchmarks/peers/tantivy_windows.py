"""tantivy over windows of lines: BM25 with query words joined by OR, and English stemming.

pip install tantivy
python -m benchmarks.peers.tantivy_windows --root DIR
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import tantivy

from benchmarks.peers import adapter

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="en_stem")
    builder.add_unsigned_field("number", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for number, one in enumerate(passages):
        body = adapter.split_identifiers(one.text)
        writer.add_document(tantivy.Document(body=body, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        words = " ".join(_WORD.findall(adapter.split_identifiers(query).lower()))  # no query syntax
        hits = searcher.search(index.parse_query(words, ["body"]), limit=k).hits
        return [passages[searcher.doc(address)["number"][0]] for _, address in hits]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
