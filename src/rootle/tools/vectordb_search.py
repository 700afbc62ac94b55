"""The tool `vectordb_search`, which returns the passages that answer a question best."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.errors import ConfigError, RootleError
from rootle.rerank.request import MAX_DOCUMENT_CHARS, rerank_documents
from rootle.serialization.brief import WEAK_RESULTS
from rootle.text.terms import encodable
from rootle.tools.snippet import excerpt_record
from rootle.tools.tool import Answer, Tool, error
from rootle.types import Findings, Record

if TYPE_CHECKING:
    from rootle.protocols import AnsweringBackend, Reranker, TextEmbedder, VectorBackend

_log = logging.getLogger(__name__)

# The specification sets these numbers: passages for the reranker, passages in the answer, and
# characters per passage in the answer.
CANDIDATE_K: Final = 50
FINAL_K: Final = 5
SNIPPET_LENGTH: Final = 500
# Passages of an answer that is not confident, which are probably useless.
_WEAK_SNIPPET_LENGTH: Final = 200
_NO_MATCHES: Final = "No matches found in the indexed corpus."

_DESCRIPTION: Final = (
    "Find passages of the indexed files that answer a question, by meaning and by words. "
    "Use it when you do not know the exact name: how something works, where it is done. "
    "When you know the exact string or want every occurrence of it, grep is better. "
    "Returns the 5 best passages; read more with vectordb_read(source)."
)

# Exceptions of a reranker whose server is down or sends an invalid response. Any other exception is
# a bug in the reranker and is raised.
_RERANKER_FAILURES: Final = (RootleError, OSError, RuntimeError, ValueError)


def vectordb_search(
    embedder: TextEmbedder | None,
    backend: VectorBackend | AnsweringBackend,
    reranker: Reranker | None = None,
) -> Tool:
    """Return the tool for any embedder and backend. Without a reranker, the backend's order stays.

    A backend that takes text needs no embedder: pass None.
    """
    search = _search_function(embedder, backend)
    return Tool(
        name="vectordb_search",
        title="Search the indexed files",
        description=_DESCRIPTION,
        parameter="query",
        parameter_description="A question or topic in a sentence, e.g. how are uploads retried",
        run=lambda query: _run(search, reranker, query),
    )


_Search = Callable[[str, int], Findings]


def _search_function(
    embedder: TextEmbedder | None, backend: VectorBackend | AnsweringBackend
) -> _Search:
    if embedder is not None:
        return lambda query, top_k: _search_by_vector(embedder, backend, query, top_k)
    search: _Search | None = getattr(backend, "answer", None)
    if search is None:
        raise ConfigError(f"{type(backend).__name__} needs an embedder: anything with embed(texts)")
    return search


def _search_by_vector(
    embedder: TextEmbedder, backend: VectorBackend, query: str, top_k: int
) -> Findings:
    # Some models embed questions differently from documents.
    embed_query = getattr(embedder, "embed_query", None)
    vector = embedder.embed([query])[0] if embed_query is None else embed_query(query)
    return Findings(tuple(backend.query(vector, top_k, text=query)))


def _run(search: _Search, reranker: Reranker | None, query: str) -> Answer:
    if not query.strip():
        return error("query is empty")
    try:
        found = search(query, FINAL_K if reranker is None else CANDIDATE_K)
    except RootleError as problem:
        return error(str(problem))
    best = _rerank(reranker, query, found.records)
    return _answer(query, best[:FINAL_K], found)


def _rerank(
    reranker: Reranker | None, query: str, candidates: Sequence[Record]
) -> Sequence[Record]:
    """Return the candidates with the reranker's order and scores, unchanged if it fails."""
    if reranker is None:
        return candidates
    documents = [record.text[:MAX_DOCUMENT_CHARS] for record in candidates]
    try:
        hits = rerank_documents(reranker, query, documents)
    except _RERANKER_FAILURES as problem:
        _log.warning("vectordb_search continues without its reranker: %s", problem)
        return candidates
    return [replace(candidates[hit.index], score=hit.score) for hit in hits]


def _answer(query: str, records: Sequence[Record], found: Findings) -> Answer:
    is_weak = found.facts.get("confident") is False
    if is_weak:
        records = records[:WEAK_RESULTS]
    length = _WEAK_SNIPPET_LENGTH if is_weak else SNIPPET_LENGTH
    shown = [_shorten(record, query, length) for record in records]
    blocks = [_format(number, record) for number, record in enumerate(shown, start=1)]
    notes = [encodable(note) for note in found.notes]
    if notes:
        # Readers should know that an answer is weak before they read it.
        blocks.insert(0 if is_weak else len(blocks), f"Note: {'; '.join(notes)}")
    text = "\n\n".join(blocks if shown else [_NO_MATCHES, *blocks])
    results = [
        {"source": r.source, "score": r.score, "text": r.text, "about": r.about} for r in shown
    ]
    return Answer(text, {"results": results, "notes": notes, **found.facts})


def _shorten(record: Record, query: str, length: int) -> Record:
    return Record(
        _on_one_line(record.source),
        encodable(excerpt_record(record, query, length)),
        float(record.score),
        _on_one_line(record.about),
    )


def _on_one_line(text: str) -> str:
    """Replace control characters: a file name with a newline must not look like another result."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _format(number: int, record: Record) -> str:
    about = f" ({record.about})" if record.about else ""
    return f"{number}. {record.source} score={record.score:.3f}{about}\n{record.text}"
