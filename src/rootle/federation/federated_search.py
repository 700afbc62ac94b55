"""Search the project and, if a question asks for them, collections such as its dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.config.fields import Config
from rootle.errors import QueryError, RootleError
from rootle.federation.collection import Collection, Position
from rootle.federation.page_parts import PagePart, names_of_cursor, search_parts
from rootle.search.query.operators import (
    COLLECTION_KINDS,
    PROJECT_KINDS,
    ParsedQuery,
    parse_query,
    replace_kinds,
)
from rootle.search.request import check_query
from rootle.types import SearchQuery, SearchResponse, WarningCallback

_PROJECT: Final = "project"
_EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)

SearchProject = Callable[[SearchQuery], SearchResponse]


@dataclass(frozen=True, slots=True)
class FederatedSearch:
    """Searches the project and collections."""

    config: Config
    collections: Mapping[str, Collection]  # keyed by their `in:` values
    on_warning: WarningCallback

    def search(
        self, query: SearchQuery, search_project: SearchProject, *, explain: bool = False
    ) -> SearchResponse:
        """Return one page from the project and the collections that `in:` names.

        Without `in:`, the page contains results of the project, and results of each collection that
        returns a position for the question. If such a collection cannot be searched, its name is in
        `degraded`. Raise QueryError for an invalid query, and if a named collection cannot be
        searched.
        """
        parsed = parse_query(query.text_query)
        named = [kind for kind in parsed.kinds if kind in COLLECTION_KINDS]
        if named:
            return self._search_named(query, parsed, named, search_project, explain=explain)
        positions = {} if parsed.kinds else self._find_positions(parsed)
        if not positions or query.context or query.budget is not None:
            return search_project(query)
        parts = [PagePart(_PROJECT, search_project)]
        spare = []
        for kind, position in positions.items():
            part = self._part(kind, explain=explain, is_optional=True)
            if position == "fallback":
                spare.append(part)
            else:
                parts.insert(0 if position == "first" else len(parts), part)
        return _search_with_spare(query, parts, spare, check_query(query, self.config))

    def _find_positions(self, question: ParsedQuery) -> dict[str, Position]:
        found = {
            kind: collection.find_position(question)
            for kind, collection in self.collections.items()
        }
        return {kind: position for kind, position in found.items() if position is not None}

    def _search_named(
        self,
        query: SearchQuery,
        parsed: ParsedQuery,
        named: list[str],
        search_project: SearchProject,
        *,
        explain: bool,
    ) -> SearchResponse:
        plain = replace(query, text_query=replace_kinds(query.text_query, ()))
        own = [kind for kind in parsed.kinds if kind in PROJECT_KINDS]
        parts = [self._part(kind, explain=explain, is_optional=False) for kind in named]
        if len(parts) == 1 and not own:
            return parts[0].search(plain)
        if own:
            text = replace_kinds(query.text_query, own)

            def search_own(part: SearchQuery) -> SearchResponse:
                found = search_project(replace(part, text_query=text))
                # These memories have not been filtered by the query. If `in:memory` is named, its
                # part returns the filtered memories.
                return replace(found, memories=()) if "memory" in named else found

            parts.insert(0, PagePart(_PROJECT, search_own, f"in:{','.join(own)}"))
        return search_parts(plain, parts, check_query(plain, self.config))

    def _part(self, kind: str, *, explain: bool, is_optional: bool) -> PagePart:
        collection = self.collections.get(kind)
        if collection is None:
            raise QueryError(f"in:{kind} has nothing to search here; leave it out")

        def search(query: SearchQuery) -> SearchResponse:
            try:
                return collection.search(query, explain=explain)
            except RootleError as error:
                if not is_optional:
                    raise
                self.on_warning(f"in:{kind} is not searched: {error}")
                return replace(_EMPTY, degraded=(kind,))

        return PagePart(kind, search, "" if is_optional else f"in:{kind}")


def _search_with_spare(
    query: SearchQuery, parts: Sequence[PagePart], spare: Sequence[PagePart], limit: int
) -> SearchResponse:
    """Return a page of `parts`. If only a fallback part is confident, it comes first.

    `spare` are the fallback parts. The cursor of a page with results of a fallback contains the
    name of this fallback.
    """
    named = names_of_cursor(query.cursor)
    used = next((part for part in spare if part.name in named), None)
    if used is not None:
        return search_parts(query, [used, *parts], limit)
    is_plain = len(parts) == 1 and not named
    response = parts[0].search(query) if is_plain else search_parts(query, parts, limit)
    if response.confident is not False or query.cursor:
        return response
    for part in spare:
        found = part.search(replace(query, limit=1))
        if found.results and found.confident:
            return search_parts(query, [part, *parts], limit)
    return response
