"""Shorten the scope of a result so that its innermost names stay visible."""

from __future__ import annotations

from typing import Final

_SEPARATOR: Final = " > "  # between the titles of a scope, outermost first
_CUT: Final = "…"


def fit_scope(scope: str, width: int) -> str:
    """Return a scope in at most `width` characters.

    Outer titles, such as that of a namespace, are left out first. The last title is cut only if it
    does not fit alone. The result is "" if the width is not positive.
    """
    if len(scope) <= width:
        return scope
    titles = scope.split(_SEPARATOR)
    for first in range(1, len(titles)):
        shown = _SEPARATOR.join((_CUT, *titles[first:]))
        if len(shown) <= width:
            return shown
    return cut_end(titles[-1], width)


def shows_name(scope: str, width: int) -> bool:
    """Return whether the last title of a scope is complete when the scope is fitted to a width."""
    return fit_scope(scope, width).endswith(innermost(scope))


def innermost(scope: str) -> str:
    """Return the last title of a scope."""
    return scope.rpartition(_SEPARATOR)[2]


def cut_end(text: str, width: int) -> str:
    """Return a text in at most `width` characters; if it is cut, it ends with "…"."""
    if len(text) <= width:
        return text
    return f"{text[: width - 1]}{_CUT}" if width > 0 else ""
