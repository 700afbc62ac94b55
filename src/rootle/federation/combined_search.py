"""Answer a question from the files, the commits, or both, depending on what it asks."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from rootle.config.fields import Config
from rootle.errors import QueryError, StaleCursorError
from rootle.history.commit_request import PARTIAL, OpenCommits, elapsed_ms
from rootle.history.commit_results import add_commits, single_result
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.name_history import (
    CONTAINERS,
    MAX_DEFINITIONS,
    find_name_changes,
    parse_name_question,
    result_of_change,
)
from rootle.history.past_question import (
    PastQuestion,
    find_hashes,
    parse_past_question,
    without_hashes,
)
from rootle.history.revision_dates import resolve_dates, restore_revisions
from rootle.index.reader import FileState
from rootle.search.query.filters import expand_commits, filter_files
from rootle.search.query.syntax import parse_query
from rootle.search.request import check_query
from rootle.search.stages.query_expansion import EXPANSION
from rootle.types import COMMIT_URI, SearchQuery, SearchResponse

# The share of commits on a page with commits and files.
_COMMIT_SHARE: Final = 0.7
_CURSOR_PREFIX: Final = "h."
_MAX_OFFSET_DIGITS: Final = 9
_EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)

FindFiles = Callable[[SearchQuery], SearchResponse]


@dataclass(frozen=True, slots=True)
class CombinedSearch:
    """Searches files and commits."""

    config: Config
    open_commits: OpenCommits
    open_indexed: Callable[[], CommitSearch | None]  # returns None if no commits are indexed yet
    date_of: Callable[[str], float | None]  # the Unix time of a commit, tag or branch
    list_kinds: Callable[[str], Sequence[str]]  # of the definitions of a name in the files

    def search(
        self, query: SearchQuery, find_files: FindFiles, *, explain: bool = False
    ) -> SearchResponse:
        """Return one page: commits first if the question asks about the past, else files.

        Raise QueryError for an invalid query.
        """
        parsed = parse_query(query.text_query)
        past = parse_past_question(parsed.text, parsed.kinds)
        has_dates = bool(parsed.since or parsed.until)
        commits = self.open_commits() if past is not None or has_dates else self.open_indexed()
        find_files = partial(_find_files, find_files, None if isinstance(commits, str) else commits)
        if past is None and not has_dates:
            named = () if parsed.kinds or parsed.is_exact else find_hashes(parsed.text)
            if named and isinstance(commits, CommitSearch):
                return self._add_named(query, named, commits, find_files)
            return find_files(query)
        in_words = past is not None and not isinstance(commits, str)
        text = resolve_dates(query.text_query, self.date_of, in_words=in_words)
        resolved = replace(query, text_query=text)
        response = self._answer(resolved, past, commits, find_files, explain=explain)
        notes = restore_revisions(response.suggestions, query.text_query, text)
        return replace(response, suggestions=notes)

    def _answer(
        self,
        query: SearchQuery,
        past: PastQuestion | None,
        commits: CommitSearch | str | None,
        find_files: FindFiles,
        *,
        explain: bool,
    ) -> SearchResponse:
        """Answer a question whose filters have dates instead of revisions.

        `commits` is a message if there are none to search.
        """
        if past is None or commits is None:
            return find_files(query)
        if query.context or query.budget is not None:
            return _find_contexts(query, past, find_files)
        if isinstance(commits, str):
            return self._search_without_commits(query, past, find_files, commits)
        started_s = time.perf_counter()
        note = commits.prepare()
        view = commits.view()
        if view is not None and view.count:
            search = partial(self._search, is_complete=not note, explain=explain)
            response = search(query, past, commits, view, find_files)
        else:
            response = _EMPTY if past.excludes_files else find_files(query)
        if note:
            count = 0 if view is None else view.count
            response = replace(
                response,
                degraded=(*response.degraded, PARTIAL),
                suggestions=(*response.suggestions, f"{note}; searched: {count:,} commits"),
            )
        return replace(response, took_ms=elapsed_ms(started_s))

    def _add_named(
        self, query: SearchQuery, named: Sequence[str], commits: CommitSearch, find_files: FindFiles
    ) -> SearchResponse:
        """Return files, after the indexed commits whose hashes a question about code names."""
        view = commits.view()
        found = [] if view is None else _with_prefixes(view, named)
        if view is None or not found or query.context or query.budget is not None:
            return find_files(query)
        text = without_hashes(query.text_query)
        rest = replace(query, text_query=text)
        if query.cursor and text.strip():
            return find_files(rest)
        limit = check_query(query, self.config)
        shown = _list(view, _filter(query, view, found)[:limit])
        count = limit - len(shown.results)
        if not count or not any(map(str.isalnum, text)):
            return shown
        files = find_files(replace(rest, limit=count))
        return replace(_merge(shown, files, commits_first=True), symbols=files.symbols)

    @staticmethod
    def _search_without_commits(
        query: SearchQuery, past: PastQuestion, find_files: FindFiles, reason: str
    ) -> SearchResponse:
        """Search only files. `reason` is the reason why no commits are searched."""
        if past.excludes_files:
            raise QueryError(f"{reason}; leave out in:history")
        response = find_files(query)
        # A word or a path can look like a hash or a range.
        if past.commit or past.revisions is not None:
            return response
        return replace(response, suggestions=(*response.suggestions, reason))

    def _search(
        self,
        query: SearchQuery,
        past: PastQuestion,
        commits: CommitSearch,
        view: CommitView,
        find_files: FindFiles,
        *,
        is_complete: bool,
        explain: bool,
    ) -> SearchResponse:
        limit = check_query(query, self.config)
        if past.commit:
            found = view.with_prefix(past.commit)
            return _list_named(query, view, found, limit) if found else find_files(query)
        if past.asks_first and (found := _with_prefixes(view, past.named)):
            return _list_named(query, view, found, limit)
        if past.revisions is not None:
            hashes = commits.list_range(past.revisions)
            if hashes is None:
                # The two dots may also belong to a path or to code.
                note = _describe_unknown(commits.list_unknown(past.revisions))
                found_files = find_files(query)
                return replace(found_files, suggestions=(*note, *found_files.suggestions))
            start = _read_offset(query.cursor) if query.cursor else past.offset
            return _page_of_range(query, view, hashes, start, limit, is_complete=is_complete)
        changes = self._list_changes(query, past, commits, view, limit, is_complete=is_complete)
        if changes is not None:
            return changes
        history_cursor, file_cursor, is_plain = _split_cursor(query.cursor)
        history = _EMPTY
        if history_cursor is not None:
            has_files = not past.excludes_files and file_cursor is not None
            share = max(1, round(limit * _COMMIT_SHARE)) if has_files else limit
            wanted = replace(query, cursor=history_cursor or None, limit=share)
            found_commits = commits.search(wanted, explain=explain)
            history = add_commits(found_commits, view)
        # If the server of the query expansion has failed, the files do not wait for it again.
        is_plain = is_plain or EXPANSION in history.degraded
        if past.excludes_files or file_cursor is None:
            return replace(history, next_cursor=_join_cursors(history.next_cursor, None, is_plain))
        rest = limit - len(history.results)
        if not rest:  # no room for files on this page
            cursor = _join_cursors(history.next_cursor, file_cursor, is_plain)
            return replace(history, next_cursor=cursor)
        expand = query.expand and not is_plain
        files = find_files(replace(query, cursor=file_cursor or None, limit=rest, expand=expand))
        if is_plain:
            files = replace(files, degraded=(EXPANSION, *files.degraded))
        merged = _merge(history, files, commits_first=past.asks_first)
        cursor = _join_cursors(history.next_cursor, files.next_cursor, is_plain)
        return replace(merged, next_cursor=cursor)

    def _list_changes(
        self,
        query: SearchQuery,
        past: PastQuestion,
        commits: CommitSearch,
        view: CommitView,
        limit: int,
        *,
        is_complete: bool,
    ) -> SearchResponse | None:
        """Return the commits that changed a definition, if the question asks for them.

        Return None if it does not, or if no commit is known to have changed the definition.
        """
        parsed = parse_query(query.text_query)
        question = parse_name_question(parsed.text) if past.asks_first else None
        if question is None or parsed.is_exact:
            return None
        kinds = self.list_kinds(question.name)
        if not 0 < len(kinds) <= MAX_DEFINITIONS:
            return None
        if not question.oldest_first and not CONTAINERS.isdisjoint(kinds):
            return None
        found = find_name_changes(view, question, commits.updates.find_by_count)
        passed = _filter(query, view, [state for state, _ in found.commits])
        sections = {state.id: section for state, section in found.commits}
        start = _read_offset(query.cursor) if query.cursor else 0
        results = tuple(
            result_of_change(view, state, sections[state.id], question.name)
            for state in passed[start : start + limit]
        )
        if not results:
            return None
        notes = found.notes
        if question.oldest_first and not is_complete:
            notes = (*notes, "an older commit that is not indexed yet may be the first one")
        more = str(start + limit) if start + limit < len(passed) else None
        return replace(
            _EMPTY,
            results=results,
            confident=True,
            generation=view.index.generation,
            suggestions=notes,
            next_cursor=_join_cursors(more, None),
        )


def _find_files(
    find_files: FindFiles, commits: CommitSearch | None, query: SearchQuery
) -> SearchResponse:
    """Return files with the commits that changed them last, if commits are indexed."""
    response = find_files(query)
    view = commits.view() if commits is not None else None
    if commits is None or view is None:
        return response
    return commits.last_commits.add(response, view)


def _find_contexts(query: SearchQuery, past: PastQuestion, find_files: FindFiles) -> SearchResponse:
    """Return files with their contexts; commits have none."""
    if past.excludes_files:
        raise QueryError(
            "in:history finds commits, which have no context; leave out in:history, or the "
            "context and its budget"
        )
    response = find_files(query)
    # A word or a path can look like a hash or a range.
    if past.commit or past.revisions is not None:
        return response
    note = "commits are not searched, because a context was asked for"
    return replace(response, suggestions=(*response.suggestions, note))


def _merge(
    history: SearchResponse, files: SearchResponse, *, commits_first: bool
) -> SearchResponse:
    """Return one page with the results of both responses. Other fields are those of the files."""
    first, second = (history, files) if commits_first else (files, history)
    # The second part complements the first one: its low confidence says nothing about the answer.
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


def _list(view: CommitView, states: Sequence[FileState]) -> SearchResponse:
    results = tuple(single_result(view, state) for state in states)
    return replace(_EMPTY, results=results, confident=True, generation=view.index.generation)


def _with_prefixes(view: CommitView, prefixes: Sequence[str]) -> list[FileState]:
    """Return the commits whose hashes begin with one of the prefixes."""
    found = [state for prefix in prefixes for state in view.with_prefix(prefix)]
    return list({state.id: state for state in found}.values())


def _list_named(
    query: SearchQuery, view: CommitView, found: Sequence[FileState], limit: int
) -> SearchResponse:
    """Return the commits with a hash that pass the filters of the query."""
    passed = _filter(query, view, found)
    page = _list(view, passed[:limit])
    if passed:
        return page
    note = f"the filters exclude {_count(len(found), 'commit')} with this hash"
    return replace(page, suggestions=(note,))


def _filter(
    query: SearchQuery, view: CommitView, states: Sequence[FileState]
) -> Sequence[FileState]:
    parsed = parse_query(query.text_query)
    judged = expand_commits(query, parsed, states, view.index)
    passed = filter_files(query, parsed, judged, time.time())
    return states if passed is None else [state for state in states if state.id in passed]


def _page_of_range(
    query: SearchQuery,
    view: CommitView,
    hashes: Sequence[str],
    start: int,
    limit: int,
    *,
    is_complete: bool,
) -> SearchResponse:
    """Return commits in the given order that pass the filters of the query, after the first ones.

    The cursor is the number of commits before the page. While commits are still being indexed
    (`is_complete` is False), the total number is not known.
    """
    wanted = {f"{COMMIT_URI}{sha}" for sha in hashes}
    states = {state.path: state for state in view.states() if state.path in wanted}
    known = [states[uri] for sha in hashes if (uri := f"{COMMIT_URI}{sha}") in states]
    found = _filter(query, view, known)
    page = _list(view, found[start : start + limit])
    more = str(start + limit) if start + limit < len(found) else None
    is_partial = not is_complete and len(known) < len(hashes)
    total = f"{_count(len(found), 'commit')}{' so far' if is_partial else ''}"
    next_page = f"; {limit} on each page; from:{start + limit + 1} in the query shows the next one"
    notes = [total + ("" if more is None else next_page)]
    if len(found) < len(known):
        notes.append(f"the filters exclude {_count(len(known) - len(found), 'other commit')}")
    if is_partial:
        indexed = f"{len(known):,} of {_count(len(hashes), 'commit')}"
        notes.append(f"indexed so far: {indexed} in this range")
    elif len(known) < len(hashes):
        missing = _count(len(hashes) - len(known), "commit")
        notes.append(
            f"not searched: {missing} of this range, not indexed or not in the history of the "
            "checked-out commit of this folder"
        )
    return replace(page, next_cursor=_join_cursors(more, None), suggestions=tuple(notes))


def _describe_unknown(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note about the ends of a range that do not exist."""
    if not names:
        return ()
    quoted = " and ".join(f'"{name}"' for name in dict.fromkeys(names))
    return (f"no commit, tag or branch is named {quoted}; the range was searched as words",)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _read_offset(cursor: str | None) -> int:
    text, _, _ = _split_cursor(cursor)
    if text and not (text.isdecimal() and len(text) <= _MAX_OFFSET_DIGITS):
        raise StaleCursorError("cursor invalidated: it belongs to another question; start again")
    return int(text) if text else 0


def _split_cursor(cursor: str | None) -> tuple[str | None, str | None, bool]:
    """Return the cursors of the commits and of the files: "" for a start, None for the end.

    Also return whether the expansion of the question failed.
    """
    if not cursor:
        return "", "", False
    if not cursor.startswith(_CURSOR_PREFIX):
        return None, cursor, False
    try:
        data = base64.urlsafe_b64decode(cursor.removeprefix(_CURSOR_PREFIX).encode("ascii"))
        history, files, *plain = json.loads(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise StaleCursorError(
            "cursor invalidated: it cannot be read; start again without a cursor"
        ) from error
    return _as_cursor(history), _as_cursor(files), bool(plain)


def _as_cursor(value: object) -> str | None:
    return None if value is None else str(value)


def _join_cursors(history: str | None, files: str | None, is_plain: bool = False) -> str | None:
    if history is None and files is None:
        return None
    if history is None and files and not is_plain:
        return files
    data = json.dumps([history, files, *([1] if is_plain else [])]).encode("ascii")
    return _CURSOR_PREFIX + base64.urlsafe_b64encode(data).decode("ascii")
