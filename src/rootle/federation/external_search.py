"""Search the sources that the user added, and mark the results as untrusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rootle.federation.outside_results import mark_as_outside
from rootle.search.agent import SearchAgent
from rootle.types import SearchQuery, SearchResponse


class ExternalUpdates(Protocol):
    """Keeps the index of the added sources up to date, and describes these sources."""

    def prepare(self) -> None:
        """Index documents that have changed. Raise QueryError if no source was added."""

    def find_origins(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Return the origin of each document: its URL, or the name of its source."""

    def list_notes(self, uris: Sequence[str]) -> Sequence[str]:
        """Return messages about the sources of documents, such as their age."""


@dataclass(frozen=True, slots=True)
class ExternalSearch:
    """The pipeline that searches added sources."""

    open_agent: Callable[[], SearchAgent]
    updates: ExternalUpdates

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page. Raise QueryError if no source was added."""
        self.updates.prepare()
        response = self.open_agent().search(query, explain=explain)
        uris = [result.file_path for result in response.results]
        origins = self.updates.find_origins(uris)
        results = tuple(
            mark_as_outside(
                result, "web", origins.get(result.file_path, result.file_path), "external"
            )
            for result in response.results
        )
        notes = (*response.suggestions, *self.updates.list_notes(uris))
        return replace(response, results=results, suggestions=notes)
