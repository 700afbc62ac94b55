"""LlamaIndex: its BM25 retriever over its own pieces of every text file, all at their defaults.

pip install llama-index-core llama-index-retrievers-bm25
python -m benchmarks.peers.llama_index_bm25 --root DIR
"""

from __future__ import annotations

from pathlib import Path

from llama_index.core import Document
from llama_index.core.node_parser import SentenceSplitter
from llama_index.retrievers.bm25 import BM25Retriever

from benchmarks.peers.adapter import Passage, Search, run


def open_search(root: Path) -> Search:
    from benchmarks.common.bm25 import tracked_texts

    documents = [
        Document(text=content.decode("utf-8", errors="replace"), metadata={"path": path})
        for path, content in tracked_texts(root)
    ]
    nodes = SentenceSplitter().get_nodes_from_documents(documents)
    texts = {one.metadata["path"]: one.text for one in documents}
    retriever = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(10, len(nodes)))

    def search(question: str, k: int):
        return [passage(hit.node, texts) for hit in retriever.retrieve(question)[:k]]

    return search


def passage(node, texts: dict[str, str]) -> Passage:
    path = node.metadata["path"]
    start = texts[path].count("\n", 0, node.start_char_idx or 0) + 1
    return Passage(path, start, start + len(node.text.splitlines()) - 1)


if __name__ == "__main__":
    run(open_search)
