"""Write the names of the places of a file: the header of a result, and the line with "also"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.serialization.citation import cite, format_place
from rootle.serialization.path_text import escape_path
from rootle.tools.excerpts.answer_places import ChosenPlaces
from rootle.tools.excerpts.file_places import Place
from rootle.tools.history.commit_text import join_lines
from rootle.types import SearchResult, Span

_MAX_NAMED_PLACES: Final = 3
_MAX_SHORT_PLACES: Final = 1
# Names are shortened to this number of innermost parts, because the names of outer definitions and
# headings say little.
_NAME_PARTS: Final = 2
_MAX_NAME_CHARS: Final = 80
_SCOPE: Final = " > "  # between the parts of a name


def write_one_line(result: SearchResult, spans: Sequence[Span], places: ChosenPlaces | None) -> str:
    """Return one line with the path of a result and the ranges and names of its best places."""
    if places is not None and places.named:
        first, *others = places.named
        context = first.name
        own = cite_place(result, first, f"{_format_range(first)} {_shorten_name(context)}")
        names = [
            f"{_format_range(one)} {_shorten_name(one.name, context)}" for one in others if one.name
        ]
    else:
        span, *rest = spans
        context = span.scope
        own = f"{cite(result.file_path, [span])} {_shorten_name(context)}"
        names = [
            f"{format_place(one)} {_shorten_name(one.scope, context)}" for one in rest if one.scope
        ]
    also = f"; also {', '.join(names[:_MAX_SHORT_PLACES])}" if names else ""
    return join_lines(own.rstrip() + also)


def cite_place(result: SearchResult, place: Place, title: str) -> str:
    """Return the path of a result and the title of a place, which begins with its range."""
    return f"{escape_path(result.file_path)}{'#' if place.label else ':'}{title}"


def _format_range(place: Place) -> str:
    return place.label or f"{place.first_line}-{place.last_line}"


def name_places(places: Sequence[Place], *, context: str) -> list[str]:
    """Return a line with the names of places, without the scopes that they share with `context`."""
    names = [
        f"{_format_range(place)} {_shorten_name(place.name, context)}"
        for place in places
        if place.name
    ]
    return [f"also {join_lines(', '.join(names[:_MAX_NAMED_PLACES]))}"] if names else []


def _shorten_name(name: str, context: str = "") -> str:
    """Return the innermost parts of the name of a definition or section: "class B > def c".

    If they are too long, return only the last part, which may be cut.
    """
    parts = strip_scope(name, context).split(_SCOPE)[-_NAME_PARTS:]
    if len(_SCOPE.join(parts)) > _MAX_NAME_CHARS:
        parts = parts[-1:]
    return _SCOPE.join(parts)[:_MAX_NAME_CHARS]


def strip_scope(name: str, context: str) -> str:
    """Return a name without the outer definitions or sections that it shares with `context`."""
    parts, others = name.split(_SCOPE), context.split(_SCOPE)
    shared = 0
    while shared < min(len(parts) - 1, len(others)) and parts[shared] == others[shared]:
        shared += 1
    return _SCOPE.join(parts[shared:])
