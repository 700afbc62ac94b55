"""The tool `vectordb_search` for any embedder and vector backend."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.errors import RootleError
from rootle.rerank.request import MAX_DOCUMENT_CHARS, rerank_documents
from rootle.serialization.path_text import replace_unprintable
from rootle.text.terms import encodable
from rootle.tools.record_snippet import shorten_text
from rootle.tools.tool import Answer, Arguments, Parameter, Tool, error
from rootle.types import Record

if TYPE_CHECKING:
    from rootle.protocols import Reranker, TextEmbedder, VectorBackend

_log = logging.getLogger(__name__)

# The specification fixes these three numbers: passages for the reranker, passages in the answer,
# and characters per passage in the answer.
CANDIDATE_K: Final = 50
FINAL_K: Final = 5
SNIPPET_LENGTH: Final = 500
NO_MATCHES: Final = "No matches found in the indexed corpus."

_DESCRIPTION: Final = (
    "Find passages of the indexed documents that answer a question, by meaning and by words. "
    "Use it when you do not know the exact name: how something works, where it is done. "
    "Returns the 5 best passages with their sources."
)

# Exceptions that a reranker raises if its server is down or sends an invalid response. Any other
# exception is a bug in the reranker and is not caught.
_RERANKER_FAILURES: Final = (RootleError, OSError, RuntimeError, ValueError)


def vectordb_search(
    embedder: TextEmbedder, backend: VectorBackend, reranker: Reranker | None = None
) -> Tool:
    """Return the tool for this embedder and backend.

    Without a reranker, the order of the backend is kept. To search the folder of an app, use
    `search_folder`.
    """

    def run(arguments: Arguments) -> Answer:
        return _run(embedder, backend, reranker, str(arguments["query"]))

    return Tool(
        name="vectordb_search",
        title="Search the indexed files",
        description=_DESCRIPTION,
        parameters=(
            Parameter("query", "A question or topic in a sentence, e.g. how are uploads retried"),
        ),
        execute=run,
    )


def _run(
    embedder: TextEmbedder, backend: VectorBackend, reranker: Reranker | None, query: str
) -> Answer:
    if not query.strip():
        return error("query is empty")
    # Some models embed questions differently from documents.
    embed_query = getattr(embedder, "embed_query", None)
    try:
        vector = embedder.embed([query])[0] if embed_query is None else embed_query(query)
        found = backend.query(vector, FINAL_K if reranker is None else CANDIDATE_K, text=query)
    except RootleError as problem:
        return error(str(problem))
    return _answer(query, _rerank(reranker, query, found)[:FINAL_K])


def _rerank(
    reranker: Reranker | None, query: str, candidates: Sequence[Record]
) -> Sequence[Record]:
    """Return the candidates with the order and scores of the reranker.

    If there is no reranker, or if it fails, return them unchanged.
    """
    if reranker is None:
        return candidates
    documents = [record.text[:MAX_DOCUMENT_CHARS] for record in candidates]
    try:
        hits = rerank_documents(reranker, query, documents)
    except _RERANKER_FAILURES as problem:
        _log.warning("vectordb_search continues without its reranker: %s", problem)
        return candidates
    return [replace(candidates[hit.index], score=hit.score) for hit in hits]


def _answer(query: str, records: Sequence[Record]) -> Answer:
    shown = [_shorten(record, query) for record in records]
    blocks = [_format(number, record) for number, record in enumerate(shown, start=1)]
    results = [
        {"source": r.source, "score": r.score, "text": r.text, "about": r.about} for r in shown
    ]
    return Answer("\n\n".join(blocks) or NO_MATCHES, {"results": results})


def _shorten(record: Record, query: str) -> Record:
    return Record(
        replace_unprintable(record.source),
        encodable(shorten_text(record.text, query, SNIPPET_LENGTH)),
        float(record.score),
        replace_unprintable(record.about),
    )


def _format(number: int, record: Record) -> str:
    about = f" ({record.about})" if record.about else ""
    return f"{number}. {record.source} score={record.score:.3f}{about}\n{record.text}"
