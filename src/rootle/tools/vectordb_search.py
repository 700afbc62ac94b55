"""`vectordb_search`: a question in, the passages that answer it best out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.errors import ConfigError, RootleError
from rootle.rerank.request import MAX_DOCUMENT_CHARS, rerank_documents
from rootle.text.terms import encodable
from rootle.tools.snippet import shown_text
from rootle.tools.tool import Answer, Tool, error
from rootle.types import Findings, Record

if TYPE_CHECKING:
    from rootle.protocols import AnsweringBackend, Reranker, TextEmbedder, VectorBackend

_log = logging.getLogger(__name__)

# The specification's numbers: so many are read by a reranker, so many are shown, each with so much.
CANDIDATE_K: Final = 50
FINAL_K: Final = 5
SNIPPET_LENGTH: Final = 500
_NOTHING: Final = "No matches found in the indexed corpus."

_DESCRIPTION: Final = (
    "Find passages of the indexed files that answer a question, by meaning and by words. "
    "Use it when you do not know the exact name: how something works, where it is done. "
    "When you know the exact string or want every place where it stands, grep is better. "
    "Gives the 5 best passages; read on with vectordb_read(source)."
)

# What a reranker of somebody else raises when its server is down or answers nonsense. Any other
# exception is a mistake in its code, which nobody is served by hiding.
_RERANKER_FAILURES: Final = (RootleError, OSError, RuntimeError, ValueError)


def vectordb_search(
    embedder: TextEmbedder | None,
    backend: VectorBackend | AnsweringBackend,
    reranker: Reranker | None = None,
) -> Tool:
    """The tool over any embedder and backend; without a reranker the backend's order stands.

    A backend that answers a text by itself needs no embedder: give None.
    """
    find = _finder(embedder, backend)
    return Tool(
        name="vectordb_search",
        title="Search the indexed files",
        description=_DESCRIPTION,
        parameter="query",
        parameter_description="A question or topic in a sentence, e.g. how are uploads retried",
        run=lambda query: _run(find, reranker, query),
    )


_Find = Callable[[str, int], Findings]


def _finder(embedder: TextEmbedder | None, backend: VectorBackend | AnsweringBackend) -> _Find:
    if embedder is not None:
        return lambda query, top_k: _by_vector(embedder, backend, query, top_k)
    find: _Find | None = getattr(backend, "answer", None)
    if find is None:
        raise ConfigError(f"{type(backend).__name__} needs an embedder: anything with embed(texts)")
    return find


def _by_vector(embedder: TextEmbedder, backend: VectorBackend, query: str, top_k: int) -> Findings:
    # Some models take a question in another way than what answers it.
    embed_query = getattr(embedder, "embed_query", None)
    vector = embedder.embed([query])[0] if embed_query is None else embed_query(query)
    return Findings(tuple(backend.query(vector, top_k, text=query)))


def _run(find: _Find, reranker: Reranker | None, query: str) -> Answer:
    if not query.strip():
        return error("query is empty")
    try:
        found = find(query, FINAL_K if reranker is None else CANDIDATE_K)
    except RootleError as problem:
        return error(str(problem))
    best = _best(reranker, query, found.records)
    return _answer(query, best[:FINAL_K], found)


def _best(reranker: Reranker | None, query: str, candidates: Sequence[Record]) -> Sequence[Record]:
    """With the scores that decided the order; as they came where no reranker gives another."""
    if reranker is None:
        return candidates
    documents = [record.text[:MAX_DOCUMENT_CHARS] for record in candidates]
    try:
        hits = rerank_documents(reranker, query, documents)
    except _RERANKER_FAILURES as problem:
        _log.warning("vectordb_search goes on without its reranker: %s", problem)
        return candidates
    return [replace(candidates[hit.index], score=hit.score) for hit in hits]


def _answer(query: str, records: Sequence[Record], found: Findings) -> Answer:
    shown = [_shown(record, query) for record in records]
    blocks = [_block(number, record) for number, record in enumerate(shown, start=1)]
    remarks = [encodable(remark) for remark in found.remarks]
    if remarks:
        blocks.append(f"Note: {'; '.join(remarks)}")
    text = "\n\n".join(blocks if shown else [_NOTHING, *blocks])
    results = [
        {"source": r.source, "score": r.score, "text": r.text, "about": r.about} for r in shown
    ]
    return Answer(text, {"results": results, "notes": remarks, **found.facts})


def _shown(record: Record, query: str) -> Record:
    return Record(
        _on_one_line(record.source),
        encodable(shown_text(record, query, SNIPPET_LENGTH)),
        float(record.score),
        _on_one_line(record.about),
    )


def _on_one_line(text: str) -> str:
    """A file name may hold a line break, and must not look like another result."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def _block(number: int, record: Record) -> str:
    about = f" ({record.about})" if record.about else ""
    return f"{number}. {record.source} score={record.score:.3f}{about}\n{record.text}"
