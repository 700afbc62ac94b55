"""Notes about text that the index does not contain, although an answer may depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.index.reader import FileState
from rootle.search.query.filters import filter_unindexed, names_file
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest

_MAX_NAMES: Final = 3


def note_unindexed(request: SearchRequest, scoped: ScopedQuery) -> tuple[str, ...]:
    """Return a note if a phrase, the regex or a path filter may match text that is not indexed."""
    query, parsed = request.query, scoped.question.parsed
    states = filter_unindexed(query, parsed, request.session.index.unindexed_files())
    if parsed.is_exact:
        return _describe("not searched", states)
    if scoped.files:
        states = [state for state in states if names_file(query, parsed, state.path)]
    return _describe("not indexed", states)


def _describe(what: str, states: Sequence[FileState]) -> tuple[str, ...]:
    if not states:
        return ()
    # Parts of files come first: nothing in their names suggests that text is missing.
    ordered = sorted(states, key=lambda state: (state.skip is not None, state.path))
    named = ", ".join(f"{state.path} ({_reason(state)})" for state in ordered[:_MAX_NAMES])
    rest = len(ordered) - _MAX_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    return (f"{what}: {named}{more}; `rootle status --skipped` lists the reasons",)


def _reason(state: FileState) -> str:
    return state.skip or f"last {max(state.missing_share, 0.01):.0%}"
