"""LlamaIndex: its BM25 retriever over nodes from its own splitter, with default settings.

pip install llama-index-core llama-index-retrievers-bm25
python -m benchmarks.peers.llama_index_bm25 --root DIR
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llama_index.core import Document
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from benchmarks.common.git import tracked_texts
from benchmarks.peers import adapter


def open_search(root: Path) -> adapter.Search:
    documents = [
        Document(text=content.decode("utf-8", errors="replace"), metadata={"path": path})
        for path, content in tracked_texts(root)
    ]
    nodes = SentenceSplitter().get_nodes_from_documents(documents)
    texts = {one.metadata["path"]: one.text for one in documents}
    retriever = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(10, len(nodes)))

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        return [make_passage(hit.node, texts) for hit in retriever.retrieve(query)[:k]]

    return search


def make_passage(node: TextNode, texts: dict[str, str]) -> adapter.Passage:
    path = node.metadata["path"]
    start = texts[path].count("\n", 0, node.start_char_idx or 0) + 1
    return adapter.Passage(path, start, start + len(node.text.splitlines()) - 1)


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
