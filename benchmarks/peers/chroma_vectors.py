"""Chroma over windows of lines: dense retrieval only, with a static model from a local folder.

pip install chromadb model2vec
python -m benchmarks.peers.chroma_vectors --root DIR --model MODEL
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chromadb
from model2vec import StaticModel

from benchmarks.peers import adapter

_BATCH = 2_000


def open_search(root: Path, model: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    embed = StaticModel.from_pretrained(str(model)).encode
    settings = chromadb.Settings(anonymized_telemetry=False)
    collection = chromadb.EphemeralClient(settings).create_collection(
        "passages", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for start in range(0, len(passages), _BATCH):
        part = passages[start : start + _BATCH]
        ids = [str(start + number) for number in range(len(part))]
        collection.add(ids=ids, embeddings=embed([one.text for one in part]))

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        found = collection.query(query_embeddings=embed([query]), n_results=k)
        return [passages[int(number)] for number in found["ids"][0]]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser("model"))
