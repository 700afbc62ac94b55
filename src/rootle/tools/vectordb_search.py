"""`vectordb_search`: a question in, the passages that answer it best out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import QueryError, RerankError, RootleError
from rootle.protocols import (
    AnsweringBackend,
    Findings,
    Record,
    Reranker,
    TextEmbedder,
    VectorBackend,
)
from rootle.tools.tool import Answer, Tool, error

_log = logging.getLogger(__name__)

# The specification's numbers: so many are read by a reranker, so many are shown, each with so much.
CANDIDATE_K: Final = 50
FINAL_K: Final = 5
SNIPPET_LENGTH: Final = 500

_DESCRIPTION: Final = (
    "Find the code and documents of this folder that answer a question, by meaning and by words. "
    "Use it when you do not know the exact name: how something works, where it is done. "
    "When you know the exact string, grep is better. Ask in a sentence. "
    "Returns up to 5 passages; pass a source to vectordb_read for more."
)


def vectordb_search(
    embedder: TextEmbedder | None, backend: VectorBackend, reranker: Reranker | None = None
) -> Tool:
    """The tool over any embedder and backend; a backend that answers by itself needs no embedder.

    Without a reranker the order of the backend stands.
    """
    if embedder is None and not isinstance(backend, AnsweringBackend):
        raise QueryError(f"{type(backend).__name__} needs an embedder: anything with embed(texts)")
    search = _Search(embedder, backend, reranker)
    return Tool(
        name="vectordb_search",
        title="Search the folder",
        description=_DESCRIPTION,
        parameter="query",
        parameter_description="A question or topic, e.g. how are failed uploads retried",
        run=search.run,
    )


@dataclass(frozen=True, slots=True)
class _Search:
    embedder: TextEmbedder | None
    backend: VectorBackend
    reranker: Reranker | None

    def run(self, query: str) -> Answer:
        if not query.strip():
            return error("query is empty")
        try:
            found = self._findings(query, CANDIDATE_K if self.reranker else FINAL_K)
        except RootleError as problem:
            return error(str(problem))
        records = _best(self.reranker, query, found.records)
        return Answer(_page(records, found.remarks), _data(records, found))

    def _findings(self, query: str, top_k: int) -> Findings:
        if isinstance(self.backend, AnsweringBackend):
            return self.backend.answer(query, top_k)
        assert self.embedder is not None
        vector = self.embedder.embed([query])[0]
        return Findings(tuple(self.backend.query(vector, top_k, text=query)))


def _best(reranker: Reranker | None, query: str, candidates: Sequence[Record]) -> Sequence[Record]:
    """In the reranker's order and with its scores; in their own where there is none or it fails."""
    if reranker is None:
        return candidates[:FINAL_K]
    try:
        hits = reranker.rerank(query, [record.text for record in candidates])
    except RerankError as problem:
        _log.warning("vectordb_search goes on without its reranker: %s", problem)
        return candidates[:FINAL_K]
    return [replace(candidates[hit.index], score=hit.score) for hit in hits[:FINAL_K]]


def _page(records: Sequence[Record], remarks: Sequence[str]) -> str:
    blocks = [_block(number, record) for number, record in enumerate(records, start=1)]
    if not blocks:
        blocks = ["No matches found in the indexed corpus."]
    if remarks:
        blocks.append(f"Note: {'; '.join(remarks)}.")
    return "\n\n".join(blocks)


def _block(number: int, record: Record) -> str:
    about = f" ({record.about})" if record.about else ""
    return f"{number}. {record.source} score={record.score:.3f}{about}\n{_snippet(record.text)}"


def _snippet(text: str) -> str:
    return text if len(text) <= SNIPPET_LENGTH else text[: SNIPPET_LENGTH - 1] + "…"


def _data(records: Sequence[Record], found: Findings) -> dict[str, object]:
    results = [
        {"source": r.source, "score": r.score, "text": _snippet(r.text), "about": r.about}
        for r in records
    ]
    return {"results": results, **found.facts, "remarks": list(found.remarks)}
