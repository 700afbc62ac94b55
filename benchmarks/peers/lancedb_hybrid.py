"""LanceDB over windows of lines: its hybrid search, BM25 and vectors with reciprocal rank fusion.

pip install lancedb model2vec
python -m benchmarks.peers.lancedb_hybrid --root DIR --model MODEL
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from model2vec import StaticModel

from benchmarks.peers import adapter


def open_search(root: Path, model: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    embed = StaticModel.from_pretrained(str(model)).encode
    vectors = embed([one.text for one in passages])
    rows = [
        {"number": number, "body": adapter.split_identifiers(one.text), "vector": vector}
        for number, (one, vector) in enumerate(zip(passages, vectors, strict=True))
    ]
    folder = tempfile.TemporaryDirectory()
    table = lancedb.connect(folder.name).create_table("passages", rows)
    table.create_index("body", config=FTS())  # English stems and stop words by default
    reranker = RRFReranker()

    # The default argument keeps the temporary folder alive as long as the function.
    def search(query: str, k: int, _folder: object = folder) -> Sequence[adapter.Passage]:
        dense = table.search(query_type="hybrid").vector(embed([query])[0])
        hybrid = dense.text(adapter.split_identifiers(query)).rerank(reranker)
        return [passages[row["number"]] for row in hybrid.limit(k).to_list()[:k]]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser("model"))
