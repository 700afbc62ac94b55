"""The interface of collections, and the collection of added sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from rootle.search.query.operators import ParsedQuery
from rootle.types import ResultKind, SearchQuery, SearchResponse

# The position of the results of a collection. "first": before the results of the project. "after":
# after them. "fallback": before them if the collection has a confident answer and the project has
# none; otherwise, they are not shown.
Position = Literal["first", "after", "fallback"]


class Collection(Protocol):
    """Text that is not a file or commit of the project, with a separate index."""

    @property
    def kind(self) -> ResultKind:
        """The value of `in:` that names the collection."""

    def find_position(self, question: ParsedQuery) -> Position | None:
        """Return where to show results for a question without `in:`; None to show none.

        This method is called for each such question, so it must be fast. It must not import the
        search pipeline of the collection unless it returns a position.
        """

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page. `query` has no `in:`, and its cursor comes from this collection.

        Raise QueryError if the collection cannot be searched; the message contains the remedy.
        """


class SearchPipeline(Protocol):
    """Searches the index of a collection. Its module is imported when a question needs it."""

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page."""


@dataclass(frozen=True, slots=True)
class ExternalCollection:
    """Answers `in:web`, and questions that the project does not answer with confidence."""

    exists: Callable[[], bool]  # whether a source may have been added; must be fast
    open_search: Callable[[], SearchPipeline]

    @property
    def kind(self) -> ResultKind:
        """The value of `in:` that names the collection."""
        return "web"

    def find_position(self, question: ParsedQuery) -> Position | None:  # noqa: ARG002
        """Return "fallback" if there are sources."""
        return "fallback" if self.exists() else None

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page from the added sources. Raise QueryError if there are none."""
        return self.open_search().search(query, explain=explain)
