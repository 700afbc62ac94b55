"""LanceDB over windows of lines: its hybrid of words (BM25) and vectors, fused by rank.

pip install lancedb model2vec
python -m benchmarks.peers.lancedb_hybrid --root DIR --model MODEL
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from model2vec import StaticModel

from benchmarks.peers.adapter import Search, run, split_names, windows


def open_search(root: Path, model: Path) -> Search:
    passages = windows(root)
    embed = StaticModel.from_pretrained(str(model)).encode
    vectors = embed([one.text for one in passages])
    rows = [
        {"number": at, "body": split_names(one.text), "vector": vector}
        for at, (one, vector) in enumerate(zip(passages, vectors, strict=True))
    ]
    folder = tempfile.TemporaryDirectory()
    table = lancedb.connect(folder.name).create_table("passages", rows)
    table.create_index("body", config=FTS())  # English stems and stop words by default
    fuse = RRFReranker()

    def search(question: str, k: int, _keep: object = folder):
        asked = table.search(query_type="hybrid").vector(embed([question])[0])
        found = asked.text(split_names(question)).rerank(fuse).limit(k).to_list()
        return [passages[row["number"]] for row in found[:k]]

    return search


if __name__ == "__main__":
    run(open_search, "model")
