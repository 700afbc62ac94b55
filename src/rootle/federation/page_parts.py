"""Divide a page of results between the project and collections, and merge their results."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import StaleCursorError
from rootle.types import SearchQuery, SearchResponse

# The share, from 0 to 1, of the first part of a page. The other parts divide the rest.
_FIRST_SHARE: Final = 0.7
_CURSOR_PREFIX: Final = "f."

# Searches with the given query, which has the limit and the cursor of the part.
SearchPart = Callable[[SearchQuery], SearchResponse]


@dataclass(frozen=True, slots=True)
class PagePart:
    """One of the searches that fill a page, such as the search of the dependencies."""

    name: str
    search: SearchPart
    operator: str = ""  # such as "in:deps", if the query names the part; "" if it does not


def search_parts(query: SearchQuery, parts: Sequence[PagePart], limit: int) -> SearchResponse:
    """Return a page of at most `limit` results from all parts, in their order.

    A part that finds less than its share leaves room for the next ones. On the first page, parts
    that are not confident come after the others. A note says which of the parts that the query
    names found no likely answer, unless this is true of all parts. The cursor of the page contains
    one cursor for each part.

    Raise StaleCursorError if the cursor of the query belongs to another query.
    """
    cursors = _split_cursor(query.cursor, parts)
    open_parts = [part for part in parts if part.name in cursors]
    responses: list[SearchResponse] = []
    weak: list[str] = []
    following: dict[str, str] = {}
    room = limit
    for at, part in enumerate(open_parts):
        share = _limit_part(room, limit, at, len(open_parts) - at - 1)
        if not share:
            following[part.name] = cursors[part.name]
            continue
        wanted = replace(query, cursor=cursors[part.name] or None, limit=share)
        response = part.search(wanted)
        responses.append(response)
        has_answer = response.confident is not False and (response.results or response.memories)
        if part.operator and not has_answer:
            weak.append(part.operator)
        room -= len(response.results)
        if response.next_cursor is not None:
            following[part.name] = response.next_cursor
    if not query.cursor:
        responses.sort(key=lambda found: found.confident is False)
    merged = replace(_merge(responses), next_cursor=_join_cursors(following))
    if query.cursor or len(weak) == len(responses):
        return merged  # one note is enough: that the answer as a whole is not confident
    notes = [f"{operator} has no result that is likely to be an answer" for operator in weak]
    return replace(merged, suggestions=(*notes, *merged.suggestions))


def names_of_cursor(cursor: str | None) -> Collection[str]:
    """Return the names of the parts in a cursor; none if it is not a cursor of several parts."""
    return _read_cursor(cursor) if cursor and cursor.startswith(_CURSOR_PREFIX) else ()


def _limit_part(room: int, limit: int, at: int, rest: int) -> int:
    """Return the maximum number of results of part number `at` if `rest` parts follow it."""
    if not rest:
        return room
    if not at:
        return max(1, round(limit * _FIRST_SHARE))
    return -(-room // (rest + 1))


def _merge(responses: Sequence[SearchResponse]) -> SearchResponse:
    """Return one response with all results.

    The first part that found something determines whether the answer is confident: the other parts
    complement it.
    """
    decisive = next((found for found in responses if found.results), responses[0])
    notes = [
        note
        for found in responses
        if found is decisive or found.confident is not False
        for note in found.suggestions
    ]
    return replace(
        decisive,
        results=tuple(result for found in responses for result in found.results),
        degraded=tuple(dict.fromkeys(name for found in responses for name in found.degraded)),
        suggestions=tuple(dict.fromkeys(notes)),
        memories=tuple(
            {memory.id: memory for found in responses for memory in found.memories}.values()
        ),
        took_ms=round(sum(found.took_ms for found in responses), 3),
    )


def _split_cursor(cursor: str | None, parts: Sequence[PagePart]) -> Mapping[str, str]:
    """Return the cursor of each part that has more results; "" for the first page of a part."""
    if not cursor:
        return {part.name: "" for part in parts}
    found = _read_cursor(cursor)
    if not found or not found.keys() <= {part.name for part in parts}:
        raise StaleCursorError(
            "cursor invalidated: it belongs to another question; start again without a cursor"
        )
    return found


def _read_cursor(cursor: str) -> Mapping[str, str]:
    """Return the cursors in a cursor; none if it is not a cursor of several parts."""
    try:
        data = json.loads(base64.urlsafe_b64decode(cursor.removeprefix(_CURSOR_PREFIX)))
        return {str(name): str(part) for name, part in data.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _join_cursors(cursors: Mapping[str, str]) -> str | None:
    if not cursors:
        return None
    data = json.dumps(cursors).encode("utf-8")
    return _CURSOR_PREFIX + base64.urlsafe_b64encode(data).decode("ascii")


def merge_with_files(
    history: SearchResponse, files: SearchResponse, *, commits_first: bool
) -> SearchResponse:
    """Return one page with the results of both responses. Other fields come from `files`."""
    first, second = (history, files) if commits_first else (files, history)
    # The second response only complements the first one, so its notes about low confidence are left
    # out.
    notes = () if second.confident is False and first.results else second.suggestions
    return replace(
        files,
        results=(*first.results, *second.results),
        degraded=tuple(dict.fromkeys((*files.degraded, *history.degraded))),
        confident=first.confident if first.results else second.confident,
        suggestions=tuple(dict.fromkeys((*first.suggestions, *notes))),
        interpretation=first.interpretation or second.interpretation,
        symbols=None if commits_first else files.symbols,
    )
