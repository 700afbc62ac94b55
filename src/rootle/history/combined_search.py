"""Answer a question from the files, the commits, or both, depending on what it asks."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.config.fields import Config
from rootle.errors import QueryError, StaleCursorError
from rootle.history.commit_results import (
    COMMIT_URI,
    add_commits,
    add_last_commits,
    single_result,
)
from rootle.history.commit_search import CommitSearch
from rootle.history.past_question import PastQuestion, parse_past_question
from rootle.index.reader import FileState, IndexReader
from rootle.search.query.syntax import parse_query
from rootle.types import SearchQuery, SearchResponse

# Of a page with commits and files, the share of commits.
_COMMIT_SHARE: Final = 0.7
_CURSOR_PREFIX: Final = "h."
_PARTIAL: Final = "history"  # in `degraded`: not all commits are indexed yet
_EMPTY: Final = SearchResponse((), None, (), None, 0, 0.0)

FindFiles = Callable[[SearchQuery], SearchResponse]


@dataclass(frozen=True, slots=True)
class CombinedSearch:
    """Searches files and commits."""

    config: Config
    open_commits: Callable[[], CommitSearch | None]  # None if there are no commits to search

    def search(
        self, query: SearchQuery, find_files: FindFiles, *, explain: bool = False
    ) -> SearchResponse:
        """Return one page: commits first if the question asks about the past, else files.

        Raise QueryError for an invalid query.
        """
        parsed = parse_query(query.text_query)
        past = parse_past_question(parsed.text, parsed.kinds)
        if past is None or query.context or query.budget is not None:
            return self._find_files(query, find_files)
        commits = self.open_commits()
        if commits is None:
            if past.excludes_files:
                raise QueryError(_NO_HISTORY)
            return find_files(query)
        started_s = time.perf_counter()
        is_complete = commits.prepare()
        query = replace(query, text_query=commits.resolve_dates(query.text_query))
        response = self._search(query, past, commits, find_files, explain=explain)
        if not is_complete:
            response = replace(
                response,
                degraded=(*response.degraded, _PARTIAL),
                suggestions=(*response.suggestions, _note_progress(commits.index())),
            )
        return replace(response, took_ms=round((time.perf_counter() - started_s) * 1000, 3))

    def _find_files(self, query: SearchQuery, find_files: FindFiles) -> SearchResponse:
        """Return files with the commits that changed them last, if commits are indexed."""
        response = find_files(query)
        commits = self.open_commits()
        index = commits.existing_index() if commits is not None else None
        return response if index is None else add_last_commits(response, index)

    def _search(
        self,
        query: SearchQuery,
        past: PastQuestion,
        commits: CommitSearch,
        find_files: FindFiles,
        *,
        explain: bool,
    ) -> SearchResponse:
        limit = query.limit or self.config.default_limit
        if past.commit:
            found = _find_hash(commits.index(), past.commit)
            return _list(commits.index(), found) if found else find_files(query)
        if past.revisions is not None:
            hashes = commits.list_range(*past.revisions)
            if hashes is None:
                return find_files(query)
            return _page_of_range(query, commits.index(), hashes, limit)
        history_cursor, file_cursor = _split_cursor(query.cursor)
        history = _EMPTY
        if history_cursor is not None:
            share = limit if past.excludes_files else max(1, round(limit * _COMMIT_SHARE))
            wanted = replace(query, cursor=history_cursor or None, limit=share)
            found_commits = commits.search(wanted, explain=explain)
            history = add_commits(found_commits, commits.index())
        if past.excludes_files or file_cursor is None:
            return replace(history, next_cursor=_join_cursors(history.next_cursor, None))
        rest = limit - len(history.results)
        files = find_files(replace(query, cursor=file_cursor or None, limit=max(1, rest)))
        return _merge(history, files, commits_first=past.asks_first)


def _merge(
    history: SearchResponse, files: SearchResponse, *, commits_first: bool
) -> SearchResponse:
    """Return one page with the results of both; the response is that of the files otherwise."""
    first, second = (history, files) if commits_first else (files, history)
    # The second part complements the first one, so its low confidence says nothing about the answer.
    notes = () if second.confident is False and first.results else second.suggestions
    return replace(
        files,
        results=(*first.results, *second.results),
        next_cursor=_join_cursors(history.next_cursor, files.next_cursor),
        degraded=tuple(dict.fromkeys((*files.degraded, *history.degraded))),
        confident=first.confident if first.results else second.confident,
        suggestions=tuple(dict.fromkeys((*first.suggestions, *notes))),
        interpretation=first.interpretation or second.interpretation,
        symbols=None if commits_first else files.symbols,
    )


def _find_hash(index: IndexReader, prefix: str) -> list[FileState]:
    """Return the commits whose hashes begin with a prefix."""
    uri = f"{COMMIT_URI}{prefix}"
    if len(prefix) >= 40 and (state := index.file_at(uri)) is not None:
        return [state]
    return [state for state in index.all_files() if state.path.startswith(uri)]


def _list(index: IndexReader, states: Sequence[FileState]) -> SearchResponse:
    results = tuple(single_result(index, state) for state in states)
    return replace(_EMPTY, results=results, confident=True, generation=index.generation)


def _page_of_range(
    query: SearchQuery, index: IndexReader, hashes: Sequence[str], limit: int
) -> SearchResponse:
    """Return commits in the given order; the cursor is the number of commits before the page."""
    start = _read_offset(query.cursor)
    states = [index.file_at(f"{COMMIT_URI}{sha}") for sha in hashes[start : start + limit]]
    page = _list(index, [state for state in states if state is not None])
    more = str(start + limit) if start + limit < len(hashes) else None
    note = f"{len(hashes):,} commits" + ("" if more is None else f"; {limit} on each page")
    return replace(page, next_cursor=_join_cursors(more, None), suggestions=(note,))


def _read_offset(cursor: str | None) -> int:
    text, _ = _split_cursor(cursor)
    if text and not text.isdecimal():
        raise StaleCursorError("cursor invalidated: it belongs to another question; start again")
    return int(text) if text else 0


def _split_cursor(cursor: str | None) -> tuple[str | None, str | None]:
    """Return the cursors of the commits and of the files: "" for a start, None for the end."""
    if not cursor:
        return "", ""
    if not cursor.startswith(_CURSOR_PREFIX):
        return None, cursor
    try:
        data = base64.urlsafe_b64decode(cursor.removeprefix(_CURSOR_PREFIX).encode("ascii"))
        history, files = json.loads(data)
    except (ValueError, TypeError) as error:
        raise StaleCursorError(
            "cursor invalidated: it cannot be read; start again without a cursor"
        ) from error
    return _as_cursor(history), _as_cursor(files)


def _as_cursor(value: object) -> str | None:
    return None if value is None else str(value)


def _join_cursors(history: str | None, files: str | None) -> str | None:
    if history is None and files is None:
        return None
    if history is None:
        return files
    data = json.dumps([history, files]).encode("ascii")
    return _CURSOR_PREFIX + base64.urlsafe_b64encode(data).decode("ascii")


def _note_progress(index: IndexReader) -> str:
    count = len(index.all_files())
    return f"commits are still being indexed, the newest first: {count:,} so far; ask again later"


_NO_HISTORY: Final = (
    "no commits can be searched here: the folder is not in a git repository, or maxHistoryCommits "
    "is 0; leave out in:history"
)
