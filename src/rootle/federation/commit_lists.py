"""Pages of commits that a question names: by their hashes, or by a range."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.federation.combined_cursor import join_cursors
from rootle.history.commit_results import single_result
from rootle.history.commit_view import CommitView
from rootle.index.reader import FileState
from rootle.search.query.filters import expand_commits, filter_files
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.types import COMMIT_URI, MAX_INDEXED_FILES, SearchQuery, SearchResponse

EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)


def list_commits(view: CommitView, states: Sequence[FileState]) -> SearchResponse:
    """Return a page with these commits."""
    results = tuple(single_result(view, state) for state in states)
    return replace(EMPTY, results=results, confident=True, generation=view.index.generation)


def find_with_prefixes(view: CommitView, prefixes: Sequence[str]) -> list[FileState]:
    """Return the commits whose hashes begin with one of the prefixes."""
    found = [state for prefix in prefixes for state in view.find_by_prefix(prefix)]
    return list({state.id: state for state in found}.values())


def list_named(
    query: SearchQuery, view: CommitView, found: Sequence[FileState], limit: int
) -> SearchResponse:
    """Return a page with the commits in `found` that pass the filters of the query."""
    passed = filter_commits(query, view, found)
    page = list_commits(view, passed[:limit])
    if passed:
        return page
    note = f"the filters exclude {_count(len(found), 'commit')} with this hash"
    return replace(page, suggestions=(note,))


def filter_commits(
    query: SearchQuery, view: CommitView, states: Sequence[FileState]
) -> Sequence[FileState]:
    """Return the commits that pass the filters of a query, in the same order."""
    return _filter(query, parse_query(query.text_query), view, states)


def _filter(
    query: SearchQuery, parsed: ParsedQuery, view: CommitView, states: Sequence[FileState]
) -> Sequence[FileState]:
    judged = expand_commits(query, parsed, states, view.index, view.list_period)
    passed = filter_files(query, parsed, judged, time.time())
    return states if passed is None else [state for state in states if state.id in passed]


def list_range(
    query: SearchQuery,
    view: CommitView,
    hashes: Sequence[str],
    start: int,
    limit: int,
    *,
    is_complete: bool,
) -> SearchResponse:
    """Return one page of the commits of a range that pass the filters, in the order of `hashes`.

    `start` is the number of commits before the page; the cursor is the same number. While commits
    are still being indexed (`is_complete` is False), the total number is not known.
    """
    wanted = {f"{COMMIT_URI}{sha}" for sha in hashes}
    states = {state.path: state for state in view.states() if state.path in wanted}
    known = [states[uri] for sha in hashes if (uri := f"{COMMIT_URI}{sha}") in states]
    found = filter_commits(query, view, known)
    page = list_commits(view, found[start : start + limit])
    more = str(start + limit) if start + limit < len(found) else None
    is_partial = not is_complete and len(known) < len(hashes)
    unlisted = _count_unlisted(query, view, known, found)
    at_least = "at least " if unlisted else ""
    total = f"{at_least}{_count(len(found), 'commit')}{' so far' if is_partial else ''}"
    next_page = f"; {limit} on each page; from:{start + limit + 1} in the query shows the next one"
    notes = [total + ("" if more is None else next_page)]
    if len(found) < len(known):
        notes.append(f"the filters exclude {_count(len(known) - len(found), 'other commit')}")
    if unlisted:
        notes.append(
            f"{unlisted:,} of them may have changed this path too: only "
            f"{MAX_INDEXED_FILES} files of a commit are indexed"
        )
    if is_partial:
        indexed = f"{len(known):,} of {_count(len(hashes), 'commit')}"
        notes.append(f"indexed so far: {indexed} in this range")
    elif len(known) < len(hashes):
        missing = _count(len(hashes) - len(known), "commit")
        notes.append(
            f"not searched: {missing} of this range, not indexed or not in the history of the "
            "checked-out commit of this folder"
        )
    return replace(page, next_cursor=join_cursors(more, None), suggestions=tuple(notes))


def describe_unknown(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note about the ends of a range that do not exist."""
    if not names:
        return ()
    quoted = " and ".join(f'"{name}"' for name in dict.fromkeys(names))
    return (f"no commit, tag or branch is named {quoted}; the question was searched as words",)


def _count_unlisted(
    query: SearchQuery, view: CommitView, known: Sequence[FileState], found: Sequence[FileState]
) -> int:
    """Return how many commits are excluded only by the filter by path, perhaps wrongly.

    The filter cannot judge these commits, because the index lists only some of their files.
    """
    parsed = parse_query(query.text_query)
    if not (parsed.paths or query.file_paths):
        return 0
    anywhere = _filter(replace(query, file_paths=None), replace(parsed, paths=()), view, known)
    passed = {state.id for state in found}
    return sum(state.id not in passed and view.may_lack_files(state) for state in anywhere)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
