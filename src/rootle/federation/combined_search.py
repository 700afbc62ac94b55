"""Answer a question from the files, the commits, or both, depending on the question."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from rootle.config.fields import Config
from rootle.errors import QueryError
from rootle.federation.combined_cursor import join_cursors, split_cursor
from rootle.federation.commit_lists import (
    EMPTY,
    filter_commits,
    find_with_prefixes,
    list_commits,
)
from rootle.federation.commit_selection import CommitSelection
from rootle.federation.name_answers import NameLookup
from rootle.federation.page_parts import merge_with_files
from rootle.history.authors.author_questions import asks_for_commits, may_name_author
from rootle.history.authors.author_request import (
    AuthorRequest,
    Repository,
    allows_author,
    rewrite_question,
)
from rootle.history.commit_request import (
    IndexGap,
    OpenCommits,
    elapsed_ms,
    explain_missing,
    lower_confidence,
)
from rootle.history.commit_search import NOTED_SHARE, CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.names.name_changes import may_be_path
from rootle.history.names.name_questions import looks_like_revision, parse_name_history
from rootle.history.past_question import (
    HISTORY,
    PastQuestion,
    asks_for_all,
    find_hashes,
    may_list_changes,
    parse_past_question,
    remove_hashes,
    rewrite_changes,
)
from rootle.history.question_dates import read_dates
from rootle.history.revision_dates import resolve_dates, restore_revisions
from rootle.search.query.operators import ParsedQuery, parse_query, restrictions_in
from rootle.search.request import check_query
from rootle.search.stages.query_expansion import EXPANSION
from rootle.types import PARTIAL_HISTORY, SearchQuery, SearchResponse

# The share, from 0 to 1, of commits on a page with commits and files.
_COMMIT_SHARE: Final = 0.7

FindFiles = Callable[[SearchQuery], SearchResponse]


@dataclass(frozen=True, slots=True)
class CombinedSearch:
    """Searches files and commits."""

    config: Config
    open_commits: OpenCommits
    open_indexed: Callable[[], CommitSearch | None]  # returns None if no commits are indexed yet
    find_date: Callable[[str], float | None]  # returns the Unix time of a commit, tag or branch
    open_names: Callable[[], NameLookup]  # called only for questions about a name

    def search(
        self, query: SearchQuery, find_files: FindFiles, *, explain: bool = False
    ) -> SearchResponse:
        """Return one page: commits first if the question asks about the past, else files.

        Raise QueryError for an invalid query.
        """
        parsed = parse_query(query.text_query)
        request, reason = self._read_author(query, parsed)
        if request is None:
            found = self._search(query, find_files, explain=explain, reason=reason)
            return self._add_gap(found, reason or "")
        limit = query.limit
        if request.count is not None:
            limit = min(request.count, check_query(query, self.config))
        found = self._search(
            replace(query, text_query=request.text, limit=limit),
            find_files,
            explain=explain,
            oldest_first=request.oldest_first,
            reason=reason,
        )
        at = 1 if PARTIAL_HISTORY in found.degraded else 0
        notes = (*found.suggestions[:at], request.note, *found.suggestions[at:])
        return replace(found, suggestions=notes)

    def _add_gap(self, found: SearchResponse, reason: str) -> SearchResponse:
        """Return the response, with a note if the author in the question may not be indexed yet."""
        commits = self.open_indexed() if reason and PARTIAL_HISTORY not in found.degraded else None
        if commits is None:
            return found
        view, reason = commits.view_with_gap()
        return _add_gap(found, IndexGap(reason), view)

    def _read_author(
        self, query: SearchQuery, parsed: ParsedQuery
    ) -> tuple[AuthorRequest | None, str | None]:
        """Return a query for the commits of the author in a question; None if it names no author.

        The second value is the result of `CommitSearch.prepare`; None if it was not called. Because
        `prepare` may take seconds, it is called only if the question is almost certainly not about
        code.
        """
        text = parsed.text
        if not (allows_author(parsed) and may_name_author(text)) or _wants_context(query):
            return None, None
        is_past = asks_for_commits(text) or parse_past_question(text, parsed.kinds) is not None
        commits = self.open_commits() if is_past else self.open_indexed()
        if commits is None or isinstance(commits, str):
            return None, None
        reason = commits.prepare() if is_past else None
        view = commits.view(has_ignored=True)
        if view is None:
            return None, reason
        repository = Repository(
            commits.authors.get(view),
            self.find_date,
            lambda name: self.open_names().has_place(name),
            view.has_folder,
        )
        return rewrite_question(query.text_query, parsed, repository), reason

    def _search(
        self,
        query: SearchQuery,
        find_files: FindFiles,
        *,
        explain: bool,
        oldest_first: bool = False,
        reason: str | None,
    ) -> SearchResponse:
        """Return one page. `reason` is the result of `CommitSearch.prepare`, if it was called."""
        dated = self._read_dates(query)
        found = self._search_undated(
            dated or query, find_files, explain=explain, oldest_first=oldest_first, reason=reason
        )
        if dated is None:
            return found
        note = f"searched as {dated.text_query}"
        return replace(found, suggestions=(*found.suggestions, note))

    def _is_revision(self, name: str) -> bool:
        return looks_like_revision(name) or self.find_date(name) is not None

    def _read_dates(self, query: SearchQuery) -> SearchQuery | None:
        """Replace the dates in a question about the past with filters; return None if it has none.

        If only "what changed" is left without the dates, the new question asks for all commits.
        """
        parsed = parse_query(query.text_query)
        past = parse_past_question(parsed.text, parsed.kinds)
        is_past = past is not None and past.asks_first and past.revisions is None
        may_ask = is_past or (past is None and may_list_changes(parsed.text))
        if not may_ask or parsed.is_exact:
            return None
        now = datetime.fromtimestamp(time.time(), UTC)
        text, operators = read_dates(query.text_query, now, self.find_date, is_strict=True)
        if not operators:
            return None
        rest = parse_query(text).text
        if asks_for_all(rest):
            restrictions = restrictions_in(query.text_query)
            kind = "" if parsed.kinds else f"in:{HISTORY}"
            text = " ".join(filter(None, (kind, restrictions)))
        elif parse_past_question(rest, parsed.kinds) is None:
            # Without its date, this is not a question about the past, unless it asks for changes.
            text = rewrite_changes(text)
        return replace(query, text_query=" ".join((*text.split(), *operators))) if text else None

    def _search_undated(
        self,
        query: SearchQuery,
        find_files: FindFiles,
        *,
        explain: bool,
        oldest_first: bool,
        reason: str | None,
    ) -> SearchResponse:
        """Return one page for a question in which dates have been replaced with filters."""
        parsed = parse_query(query.text_query)
        past = parse_past_question(parsed.text, parsed.kinds, self._is_revision)
        if past is not None and past.lists_all:
            past = replace(past, oldest_first=oldest_first)
        has_dates = bool(parsed.since or parsed.until)
        commits = self.open_commits() if past is not None or has_dates else self.open_indexed()
        find_files = partial(_find_files, find_files, None if isinstance(commits, str) else commits)
        if past is None and not has_dates:
            hashes = () if parsed.kinds or parsed.is_exact else find_hashes(parsed.text)
            if hashes and isinstance(commits, CommitSearch):
                return self._add_named(query, hashes, commits, find_files)
            return find_files(query)
        if past is not None and past.asks_first and not parsed.is_exact:
            is_filtered = has_dates or bool(parsed.authors)
            named = parse_name_history(parsed.text, self._is_revision, is_filtered=is_filtered)
            past = replace(past, name_history=named)
        # "since v2.1" is not a filter if `CommitSelection` lists the commits of the range.
        in_words = past is not None and not isinstance(commits, str) and not past.selects_range
        text = resolve_dates(query.text_query, self.find_date, in_words=in_words)
        answer = partial(self._answer, explain=explain, reason=reason)
        response = answer(replace(query, text_query=text), past, commits, find_files)
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
        reason: str | None,
    ) -> SearchResponse:
        """Answer a question in which revisions have been replaced by their dates.

        If no commits can be searched, `commits` is the reason, or None.
        """
        if past is None or commits is None:
            return find_files(query)
        if _wants_context(query):
            return _find_contexts(query, past, find_files)
        if isinstance(commits, str):
            return self._search_without_commits(query, past, find_files, commits)
        started_s = time.perf_counter()
        reason = commits.prepare() if reason is None else reason
        missing = self._prepare_removed(past)
        view, reason = commits.view_with_gap(reason)
        gap = explain_missing(commits, reason, missing)
        if view is not None and view.count:
            search = partial(self._search_commits, is_complete=not reason, explain=explain)
            response = search(query, past, commits, view, find_files)
        else:
            response = EMPTY if past.excludes_files else find_files(query)
        response = _add_gap(response, gap, view)
        return replace(response, took_ms=elapsed_ms(started_s))

    def _prepare_removed(self, past: PastQuestion) -> str:
        """Index removed definitions if a question asks for one.

        Return "", or the reason why some are missing.
        """
        question = past.name_history
        if question is None or not question.asks_for_removal or may_be_path(question.name):
            return ""
        return self.open_names().prepare_removed()

    def _add_named(
        self, query: SearchQuery, named: Sequence[str], commits: CommitSearch, find_files: FindFiles
    ) -> SearchResponse:
        """Return the indexed commits whose hashes are in a question about code, and then files."""
        view = commits.view()
        found = [] if view is None else find_with_prefixes(view, named)
        if view is None or not found or _wants_context(query):
            return find_files(query)
        text = remove_hashes(query.text_query)
        rest = replace(query, text_query=text)
        if query.cursor and text.strip():
            return find_files(rest)
        limit = check_query(query, self.config)
        shown = list_commits(view, filter_commits(query, view, found)[:limit])
        count = limit - len(shown.results)
        if not count or not any(map(str.isalnum, text)):
            return shown
        files = find_files(replace(rest, limit=count))
        return replace(merge_with_files(shown, files, commits_first=True), symbols=files.symbols)

    @staticmethod
    def _search_without_commits(
        query: SearchQuery, past: PastQuestion, find_files: FindFiles, reason: str
    ) -> SearchResponse:
        """Search only files, and add `reason`, which explains why no commits are searched."""
        if past.excludes_files:
            raise QueryError(f"{reason}; leave out in:history")
        response = find_files(query)
        # Add no note, because a word or a path can look like a hash or a range.
        if past.commit or past.revisions is not None:
            return response
        return replace(response, suggestions=(*response.suggestions, reason))

    def _search_commits(
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
        selection = CommitSelection(self.find_date, self.open_names)
        listed = selection.list(query, past, commits, view, limit, is_complete=is_complete)
        if listed is not None:
            return listed
        unknown = selection.describe_unknown(past, commits)
        if past.commit or (past.revisions is not None and not past.is_worded):
            # A word can look like a hash, and two dots can belong to a path or to code.
            found_files = find_files(query)
            return replace(found_files, suggestions=(*unknown, *found_files.suggestions))
        text = resolve_dates(query.text_query, self.find_date, in_words=True)
        query = replace(query, text_query=text)
        search = partial(self._search_words, past, commits, view, find_files, limit)
        response = search(query, explain=explain)
        if not is_complete:
            response = lower_confidence(response, commits, view)
        describe_unread = partial(commits.describe_unread, view, min_share=NOTED_SHARE)
        unread = () if response.confident else describe_unread()
        return replace(response, suggestions=(*unknown, *response.suggestions, *unread))

    def _search_words(
        self,
        past: PastQuestion,
        commits: CommitSearch,
        view: CommitView,
        find_files: FindFiles,
        limit: int,
        query: SearchQuery,
        *,
        explain: bool,
    ) -> SearchResponse:
        """Return one page of the commits, and of the files, that match the words of a question."""
        history_cursor, file_cursor, is_plain = split_cursor(query.cursor)
        history = EMPTY
        if history_cursor is not None:
            has_files = not past.excludes_files and file_cursor is not None
            share = max(1, round(limit * _COMMIT_SHARE)) if has_files else limit
            wanted = replace(query, cursor=history_cursor or None, limit=share)
            history = commits.search_page(wanted, view, explain=explain)
        # If the query expansion has failed for the commits, do not wait for it again for the files.
        is_plain = is_plain or EXPANSION in history.degraded
        if past.excludes_files or file_cursor is None:
            return replace(history, next_cursor=join_cursors(history.next_cursor, None, is_plain))
        rest = limit - len(history.results)
        if not rest:  # no room for files on this page
            cursor = join_cursors(history.next_cursor, file_cursor, is_plain)
            return replace(history, next_cursor=cursor)
        expand = query.expand and not is_plain
        files = find_files(replace(query, cursor=file_cursor or None, limit=rest, expand=expand))
        if is_plain:
            files = replace(files, degraded=(EXPANSION, *files.degraded))
        merged = merge_with_files(history, files, commits_first=past.asks_first)
        cursor = join_cursors(history.next_cursor, files.next_cursor, is_plain)
        return replace(merged, next_cursor=cursor)


def _add_gap(response: SearchResponse, gap: IndexGap, view: CommitView | None) -> SearchResponse:
    """Return a response that begins with a note if not all commits were searched."""
    return replace(
        response,
        degraded=tuple(dict.fromkeys((*response.degraded, *gap.degraded))),
        suggestions=(*gap.describe(view), *response.suggestions),
    )


def _find_files(
    find_files: FindFiles, commits: CommitSearch | None, query: SearchQuery
) -> SearchResponse:
    """Return files. If commits are indexed, add to each file the commit that changed it last."""
    response = find_files(query)
    view = commits.view(has_ignored=True) if commits is not None else None
    if commits is None or view is None:
        return response
    return commits.last_commits.add(response, view)


def _wants_context(query: SearchQuery) -> bool:
    return bool(query.context) or query.budget is not None


def _find_contexts(query: SearchQuery, past: PastQuestion, find_files: FindFiles) -> SearchResponse:
    """Return files with their contexts. Commits are left out, because they have no context."""
    if past.excludes_files:
        raise QueryError(
            "in:history finds commits, which have no context; leave out in:history, or the "
            "context and its budget"
        )
    response = find_files(query)
    # Add no note, because a word or a path can look like a hash or a range.
    if past.commit or past.revisions is not None:
        return response
    note = "commits are not searched, because a context was asked for"
    return replace(response, suggestions=(*response.suggestions, note))
