"""Pages of commits that a question names: by their hashes, or by a range."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.federation.combined_cursor import join_cursors
from rootle.history.commit_results import single_result
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.names.unindexed_commits import MAX_HEADERS, NOT_SEARCHED, result_of_header
from rootle.index.reader import FileState
from rootle.search.query.file_filters import expand_commits, filter_files
from rootle.search.query.operators import ParsedQuery, parse_query, restrictions_in
from rootle.serialization.path_text import short_date
from rootle.serialization.timestamps import format_commit_time
from rootle.types import (
    COMMIT_URI,
    MAX_INDEXED_FILES,
    SearchQuery,
    SearchResponse,
    SearchResult,
)

EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)


def list_commits(
    view: CommitView,
    listed: Sequence[FileState | str],
    commits: CommitSearch | None = None,
    make_result: Callable[[CommitView, FileState], SearchResult] = single_result,
) -> SearchResponse:
    """Return a page with these commits.

    If a commit is given as a hash, git reads its message, and `commits` is needed. `make_result`
    describes an indexed commit.
    """
    hashes = [one for one in listed if isinstance(one, str)]
    headers = commits.updates.read_headers(hashes) if commits is not None and hashes else {}
    results = (
        result_of_header(headers[one]) if isinstance(one, str) else make_result(view, one)
        for one in listed
        if not isinstance(one, str) or one in headers
    )
    return replace(EMPTY, results=tuple(results), confident=True, generation=view.index.generation)


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


def has_filters(query: SearchQuery) -> bool:
    """Return whether a query has filters. They can be applied only to indexed commits."""
    fields = (query.file_paths, query.languages, query.min_recency_days)
    return bool(restrictions_in(query.text_query)) or any(one is not None for one in fields)


def list_range(
    query: SearchQuery,
    commits: CommitSearch,
    view: CommitView,
    hashes: Sequence[str],
    start: int,
    limit: int,
    *,
    is_complete: bool,
) -> SearchResponse:
    """Return one page of the commits of a range that pass the filters, in the order of `hashes`.

    Without filters, the page also contains commits that are not indexed, or are not in the history
    of HEAD. `start` is the number of commits before the page; the cursor is the same number. While
    commits are still being indexed (`is_complete` is False), it is not known how many pass the
    filters.
    """
    wanted = {f"{COMMIT_URI}{sha}" for sha in hashes}
    states = {state.path: state for state in view.states() if state.path in wanted}
    known = [states[uri] for sha in hashes if (uri := f"{COMMIT_URI}{sha}") in states]
    found = filter_commits(query, view, known)
    missing = _find_missing(view, hashes, states)
    others = None if has_filters(query) else commits.updates.select_shown(missing[:MAX_HEADERS])
    listed: Sequence[FileState | str] = found
    if others:
        places = ((sha, states.get(f"{COMMIT_URI}{sha}")) for sha in hashes)
        listed = [state or sha for sha, state in places if state is not None or sha in others]
    notes = _describe_range(
        query,
        view,
        _RangeCounts(len(hashes), known, found, len(others or ()), _count_rest(missing, others)),
        is_complete=is_complete,
    )
    more = str(start + limit) if start + limit < len(listed) else None
    if more is not None:
        first = f"; {limit} on each page; from:{start + limit + 1} in the query shows the next one"
        notes[0] += first
    page = list_commits(view, listed[start : start + limit], commits)
    return replace(page, next_cursor=join_cursors(more, None), suggestions=tuple(notes))


@dataclass(frozen=True, slots=True)
class _RangeCounts:
    """The commits of a range, and how many of them are listed."""

    total: int
    known: Sequence[FileState]  # commits that are indexed and in the history of HEAD
    found: Sequence[FileState]  # commits in `known` that pass the filters
    others: int  # the number of other commits that are listed
    missing: int  # the number of commits that may be wanted but are not listed


def _find_missing(
    view: CommitView, hashes: Sequence[str], states: Mapping[str, FileState]
) -> list[str]:
    """Return the commits that are not indexed, or not in the history of HEAD.

    The other commits that are not in `states` changed only ignored files or files outside the
    folder.
    """
    missing = [sha for sha in hashes if f"{COMMIT_URI}{sha}" not in states]
    order = view.find_order() if missing else {}
    indexed = ((sha, view.index.file_at(f"{COMMIT_URI}{sha}")) for sha in missing)
    return [sha for sha, state in indexed if state is None or state.id not in order]


def _count_rest(missing: Sequence[str], others: Collection[str] | None) -> int:
    """Return how many missing commits are not listed, for reasons other than their files."""
    return len(missing) if others is None else max(0, len(missing) - MAX_HEADERS)


def _describe_range(
    query: SearchQuery, view: CommitView, counts: _RangeCounts, *, is_complete: bool
) -> list[str]:
    """Return notes about the number of the commits of a range, and about those not listed."""
    known, found = counts.known, counts.found
    is_partial = not is_complete and counts.missing > 0
    unlisted = _count_unlisted(query, view, known, found)
    at_least = "at least " if unlisted else ""
    total = _count(len(found) + counts.others, "commit")
    notes = [f"{at_least}{total}{' so far' if is_partial else ''}"]
    if known and not found:
        newest = short_date(format_commit_time(max(one.committed_s or 0 for one in known)))
        count = _count(len(known), "commit")
        notes.append(f"the filters exclude {count}; the newest of them is of {newest}")
    elif len(found) < len(known):
        notes.append(f"the filters exclude {_count(len(known) - len(found), 'other commit')}")
    if unlisted:
        notes.append(
            f"{unlisted:,} of them may have changed this path too: only "
            f"{MAX_INDEXED_FILES} files of a commit are indexed"
        )
    if counts.others:
        is_one = counts.others == 1
        notes.append(
            f"{counts.others:,} of them {'is' if is_one else 'are'} {NOT_SEARCHED}, so only "
            f"{'its message is' if is_one else 'their messages are'} listed"
        )
    if is_partial:
        indexed = f"{len(known):,} of {_count(counts.total, 'commit')}"
        notes.append(f"indexed so far: {indexed} in this range")
    elif counts.missing:
        notes.append(
            f"not listed: {_count(counts.missing, 'commit')} of this range, {NOT_SEARCHED}"
        )
    return notes


def describe_unknown(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note about the ends of a range that do not exist."""
    if not names:
        return ()
    quoted = " or ".join(f'"{name}"' for name in dict.fromkeys(names))
    return (f"no commit, tag or branch is named {quoted}; the question was searched as words",)


def _count_unlisted(
    query: SearchQuery, view: CommitView, known: Sequence[FileState], found: Sequence[FileState]
) -> int:
    """Return how many commits are excluded, perhaps wrongly, only by the path filter.

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
