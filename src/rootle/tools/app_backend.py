"""An app as a backend of `vectordb_search`, with notes on degradation and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from rootle.app import App
from rootle.errors import ConfigError, QueryError
from rootle.serialization.citation import cite, format_place, result_spans
from rootle.serialization.json import to_json
from rootle.serialization.memories import NOTICE, memory_as_data, memory_as_text
from rootle.types import Findings, Memory, Record, SearchQuery, SearchResponse, SearchResult

# The meaning of each kind of degradation for the reader of an answer.
_CONSEQUENCES: Final = {
    "dense": "the vector index did not answer, so these results match by words only",
    "sparse": "the keyword index did not answer, so these results match by meaning only",
    "reranker": "the reranker did not answer",
    "memory": "the stored memories could not be read",
    "embedding": "a model other than the configured one was used",
    "pending": "some files can currently be found only by their words",
    "stale": "the index is older than the folder",
}
# Memories are shown as notes after the passages; `recall` returns their whole text.
_MAX_MEMORY_CHARS: Final = 300


class AppBackend:
    """A backend that searches the folder of an app. Records cannot be added to it."""

    def __init__(self, app: App) -> None:
        self._app = app

    def answer(self, text: str, top_k: int) -> Findings:
        response = self._app.search(SearchQuery(text, limit=top_k))
        records = tuple(map(_record, response.results))
        facts = {
            "confident": response.confident,
            "degraded": list(response.degraded),
            "staleness": to_json(response.staleness),
            "coverage": to_json(response.coverage),
            "generation": response.generation,
            "memories": [memory_as_data(memory) for memory in response.memories],
        }
        return Findings(records, tuple(_notes(response)), facts)

    def query(
        self,
        vector: Any,  # noqa: ARG002 - the app embeds the text itself
        top_k: int,
        text: str | None = None,
    ) -> Sequence[Record]:
        if text is None:
            raise QueryError("an app needs the question as text: pass `text`")
        return self.answer(text, top_k).records

    def upsert(self, records: Sequence[Record], vectors: Any) -> None:  # noqa: ARG002
        raise ConfigError(
            f"the index of {self._app.root} contains only files of this folder; "
            f"to find these {len(records)} texts, write them to files in it"
        )

    def delete_all(self) -> None:
        """Delete the index, but not the files. The next question builds a new index."""
        self._app.clear()

    def count(self) -> int:
        return self._app.status().chunks


def _record(result: SearchResult) -> Record:
    first, *others = result_spans(result)
    about = " ".join(part for part in (result.metadata.language, result.scope) if part)
    if others:
        about += f"; also {', '.join(format_place(span) for span in others)}"
    source = cite(result.file_path, [first])
    return Record(source, result.snippet, result.score, about, result.more_spans)


def _notes(response: SearchResponse) -> list[str]:
    """Return notes on an answer, including its suggestions, which mention low confidence."""
    staleness = response.staleness
    known = {**_CONSEQUENCES}
    if staleness is not None:
        count = staleness.changed_files
        files = "1 changed file is" if count == 1 else f"{count} changed files are"
        known["stale"] = f"{files} not indexed yet"
    if response.coverage is not None:
        done, total = response.coverage.searched_bytes / 1e6, response.coverage.total_bytes / 1e6
        known["partial"] = (
            f"partial: the index is still being built, and this answer covers {done:.1f} of "
            f"{total:.1f} MB; ask again for a complete answer"
        )
    degraded = [known.get(name, f"{name} was not available") for name in response.degraded]
    memories = [f"from memory ({NOTICE}): {_shorten(memory)}" for memory in response.memories]
    return [*response.suggestions, *degraded, *memories]


def _shorten(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    if len(text) > _MAX_MEMORY_CHARS:
        text = f"{text[:_MAX_MEMORY_CHARS]}…"
    return memory_as_text(replace(memory, text=text))
