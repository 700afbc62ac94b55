"""Chroma over windows of lines: vectors alone, of a static model in a local folder.

pip install chromadb model2vec
python -m benchmarks.peers.chroma_vectors --root DIR --model MODEL
"""

from __future__ import annotations

from pathlib import Path

import chromadb
from model2vec import StaticModel

from benchmarks.peers.adapter import Search, run, windows

_BATCH = 2_000


def open_search(root: Path, model: Path) -> Search:
    passages = windows(root)
    embed = StaticModel.from_pretrained(str(model)).encode
    settings = chromadb.Settings(anonymized_telemetry=False)
    collection = chromadb.EphemeralClient(settings).create_collection(
        "passages", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for start in range(0, len(passages), _BATCH):
        part = passages[start : start + _BATCH]
        numbers = [str(start + at) for at in range(len(part))]
        collection.add(ids=numbers, embeddings=embed([one.text for one in part]))

    def search(question: str, k: int):
        found = collection.query(query_embeddings=embed([question]), n_results=k)
        return [passages[int(number)] for number in found["ids"][0]]

    return search


if __name__ == "__main__":
    run(open_search, "model")
