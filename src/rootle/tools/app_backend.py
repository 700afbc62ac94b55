"""An app as a backend of `vectordb_search`: words and meaning together, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rootle.app import App
from rootle.errors import ConfigError, QueryError
from rootle.protocols import Findings, Record
from rootle.types import SearchQuery, SearchResponse, SearchResult
from rootle.wire import to_json

# What is missing where a part could not take part.
_WITHOUT = {
    "dense": "found by words alone, the vectors did not answer",
    "sparse": "found by meaning alone, the word index did not answer",
    "reranker": "the reranker did not answer",
    "embedding": "another model than the configured one served",
    "pending": "some files are found by their words alone for now",
}


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
            "generation": response.generation,
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
    place = f"{result.file_path}:{result.start_line}-{result.end_line}"
    about = " ".join(part for part in (result.metadata.language, result.scope) if part)
    return Record(place, result.snippet, result.score, about)


def _remarks(response: SearchResponse) -> list[str]:
    remarks = []
    if response.confident is False:
        remarks.append("low confidence, the answer may not be in this folder")
    remarks += [_WITHOUT[name] for name in response.degraded if name in _WITHOUT]
    if response.staleness is not None:
        remarks.append(f"{response.staleness.changed_files} changed files are not indexed yet")
    elif "stale" in response.degraded:
        remarks.append("the index is behind the folder")
    return [*remarks, *response.suggestions]
