"""An app as a backend of `vectordb_search`: words and meaning together, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from rootle.app import App
from rootle.errors import ConfigError, QueryError
from rootle.serialization.citation import cite, format_place, result_spans
from rootle.serialization.json import to_json
from rootle.serialization.markdown import memory_as_text
from rootle.types import Findings, Memory, Record, SearchQuery, SearchResponse, SearchResult

# What it means for a reader that a part of the search did not take part.
_WITHOUT: Final = {
    "dense": "the vectors did not answer, so this was found by words alone",
    "sparse": "the word index did not answer, so this was found by meaning alone",
    "reranker": "the reranker did not answer",
    "memory": "what was remembered earlier could not be asked",
    "embedding": "another model than the configured one served",
    "pending": "some files are found by their words alone for now",
    "stale": "the index is behind the folder",
}
# A memory is a note beside the passages, and `recall` gives the whole of it.
_MEMORY_CHARS: Final = 300


class AppBackend:
    """What an app knows. Its records come from the files of its folder, and from nowhere else."""

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
            "memories": [memory.text for memory in response.memories],
        }
        return Findings(records, tuple(_remarks(response)), facts)

    def query(
        self,
        vector: Any,  # noqa: ARG002 - the app embeds the text itself
        top_k: int,
        text: str | None = None,
    ) -> Sequence[Record]:
        if text is None:
            raise QueryError("an app is asked in words: give the question as `text`")
        return self.answer(text, top_k).records

    def upsert(self, records: Sequence[Record], vectors: Any) -> None:  # noqa: ARG002
        raise ConfigError(
            f"the index of {self._app.root} holds what its files say: "
            f"write the {len(records)} texts to files there, and they are found"
        )

    def delete_all(self) -> None:
        """Delete the index; the files stay, and the next question makes it again."""
        self._app.clear()

    def count(self) -> int:
        return self._app.status().chunks


def _record(result: SearchResult) -> Record:
    first, *others = result_spans(result)
    about = " ".join(part for part in (result.metadata.language, result.scope) if part)
    if others:
        about += f"; also {', '.join(format_place(span) for span in others)}"
    return Record(
        cite(result.file_path, [first]), result.snippet, result.score, about, result.more_spans
    )


def _remarks(response: SearchResponse) -> list[str]:
    """A doubt about the whole answer is among the suggestions."""
    staleness = response.staleness
    known = {**_WITHOUT}
    if staleness is not None:
        count = staleness.changed_files
        files = "1 changed file is" if count == 1 else f"{count} changed files are"
        known["stale"] = f"{files} not indexed yet"
    if response.coverage is not None:
        done, total = response.coverage.searched_bytes / 1e6, response.coverage.total_bytes / 1e6
        known["partial"] = (
            f"partial: the index is still being made, this is from {done:.1f} of {total:.1f} MB; "
            "ask again for an answer from all of it"
        )
    missing = [known.get(name, f"{name} did not take part") for name in response.degraded]
    remembered = [f"from memory: {_in_short(memory)}" for memory in response.memories]
    return [*response.suggestions, *missing, *remembered]


def _in_short(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    if len(text) > _MEMORY_CHARS:
        text = f"{text[:_MEMORY_CHARS]}…"
    return memory_as_text(replace(memory, text=text))
