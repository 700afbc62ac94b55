"""Haystack: its in-memory BM25 retriever over passages of 50 lines from its own splitter.

pip install haystack-ai
python -m benchmarks.peers.haystack_bm25 --root DIR
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from haystack import Document
from haystack.components.preprocessors import DocumentSplitter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.common.git import tracked_texts
from benchmarks.peers import adapter


def open_search(root: Path) -> adapter.Search:
    texts = {path: text.decode("utf-8", errors="replace") for path, text in tracked_texts(root)}
    documents = [Document(content=text, meta={"path": path}) for path, text in texts.items()]
    splitter = DocumentSplitter(split_by="line", split_length=adapter.WINDOW_LINES)
    store = InMemoryDocumentStore()
    store.write_documents(splitter.run(documents=documents)["documents"])

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        return [make_passage(one, texts) for one in store.bm25_retrieval(query, top_k=k)]

    return search


def make_passage(document: Document, texts: dict[str, str]) -> adapter.Passage:
    path = document.meta["path"]
    start = texts[path].count("\n", 0, document.meta["split_idx_start"]) + 1
    return adapter.Passage(path, start, start + len(document.content.splitlines()) - 1)


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
