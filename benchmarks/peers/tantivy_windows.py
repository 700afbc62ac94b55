"""tantivy over windows of lines: BM25, any word of the question, English stems.

pip install tantivy
python -m benchmarks.peers.tantivy_windows --root DIR
"""

from __future__ import annotations

import re
from pathlib import Path

import tantivy

from benchmarks.peers.adapter import Search, run, split_names, windows

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> Search:
    passages = windows(root)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="en_stem")
    builder.add_unsigned_field("number", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer(num_threads=1)
    for number, one in enumerate(passages):
        writer.add_document(tantivy.Document(body=split_names(one.text), number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str, k: int):
        words = " ".join(_WORD.findall(split_names(question).lower()))  # no signs of its syntax
        hits = searcher.search(index.parse_query(words, ["body"]), limit=k).hits
        return [passages[searcher.doc(at)["number"][0]] for _, at in hits]

    return search


if __name__ == "__main__":
    run(open_search)
