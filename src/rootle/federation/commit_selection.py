"""Select the commits that a question names: by a hash, a range, filters, a definition or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rootle.federation.combined_cursor import read_offset
from rootle.federation.commit_lists import (
    describe_unknown,
    find_with_prefixes,
    has_filters,
    list_commits,
    list_named,
    list_range,
)
from rootle.federation.name_answers import NameAnswers, NameLookup
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.names.name_questions import (
    NameHistoryQuestion,
    looks_like_revision,
    version_spellings,
)
from rootle.history.names.unindexed_commits import NOT_SEARCHED, describe_header
from rootle.history.past_question import PastQuestion
from rootle.types import COMMIT_URI, RevisionRange, SearchQuery, SearchResponse


@dataclass(frozen=True, slots=True)
class CommitSelection:
    """Answers questions for which commits need not be searched by words."""

    find_date: Callable[[str], float | None]  # the Unix time of a commit, tag or branch
    open_names: Callable[[], NameLookup]

    def list(
        self,
        query: SearchQuery,
        past: PastQuestion,
        commits: CommitSearch,
        view: CommitView,
        limit: int,
        *,
        is_complete: bool,
    ) -> SearchResponse | None:
        """Return the commits that a question selects without words; None if it selects none."""
        if past.commit:
            return _list_by_hash(query, commits, view, [past.commit], limit)
        if past.release:
            return self._list_release(query, commits, view, past.release, limit)
        if past.new_in:
            return self._list_new(query, past, commits, view, limit, is_complete=is_complete)
        named = past.name_history
        if named is not None and named.new_in:
            named = self._compare_with_previous(named, commits)
        if named is not None:
            names = NameAnswers(self.open_names(), self._find_revision)
            changes = names.find_page(query, named, commits, view, limit, is_complete=is_complete)
            if changes is not None:
                return changes
        if past.asks_first:
            listed = _list_by_hash(query, commits, view, past.named, limit)
            if listed is not None:
                return listed
        hashes = self._list_hashes(past, commits, view)
        if hashes is None:
            return None
        start = read_offset(query.cursor) if query.cursor else past.offset
        page = list_range(query, commits, view, hashes, start, limit, is_complete=is_complete)
        copies = self._describe_copies(past, commits, len(hashes))
        return replace(page, suggestions=(*page.suggestions, *copies))

    def _describe_copies(
        self, past: PastQuestion, commits: CommitSearch, count: int
    ) -> tuple[str, ...]:
        """Return a note about the commits of a range that were left out as copies.

        `count` is the number of the others.
        """
        revisions = past.revisions
        if revisions is None or not revisions.is_without_copies:
            return ()
        whole = replace(past, revisions=replace(revisions, is_without_copies=False))
        copies = len(self._list_range(whole, commits) or ()) - count
        what = "1 commit" if copies == 1 else f"{copies:,} commits"
        note = f"left out: {what} whose changes {revisions.older} has in other commits"
        return (note,) if copies > 0 else ()

    def describe_unknown(self, past: PastQuestion, commits: CommitSearch) -> tuple[str, ...]:
        """Return notes about revisions of a question that do not exist, or are not indexed."""
        if self.find_date("HEAD") is None:  # git fails, so it is not known which revisions exist
            return ()
        if past.release:
            return self._explain_release(past.release, commits)
        if past.new_in:
            return self._explain_release(past.new_in, commits)
        if past.name_history is not None and past.name_history.new_in:
            return self._explain_release(past.name_history.new_in, commits)
        names = commits.list_unknown(past.revisions) if past.revisions is not None else []
        since = past.name_history.since if past.name_history is not None else ""
        if since and self._find_revision(since) is None:
            names = [since]
        return describe_unknown(names)

    def _find_tagged(self, version: str, commits: CommitSearch) -> tuple[str, str]:
        """Return the tag of a version, and the hash of its commit; "" and "" if there is none."""
        tags = ((name, commits.updates.find_tag(name)) for name in version_spellings(version))
        found = next(((name, sha) for name, sha in tags if sha), None)
        if found is not None:
            return found
        other = commits.updates.find_version_tag(version)
        return other, commits.updates.find_tag(other) if other else ""

    def _list_release(
        self, query: SearchQuery, commits: CommitSearch, view: CommitView, version: str, limit: int
    ) -> SearchResponse | None:
        """Return the commit that has the tag of a version; None if it is not known."""
        tag, sha = self._find_tagged(version, commits)
        state = view.commit_at(f"{COMMIT_URI}{sha}") if sha else None
        if state is None:
            page = _list_outside(query, commits, view, sha)
        else:
            page = None if query.cursor else list_named(query, view, [state], limit)
        if page is None:
            return None
        return replace(page, suggestions=(f"the tag {tag} is on this commit", *page.suggestions))

    def _list_new(
        self,
        query: SearchQuery,
        past: PastQuestion,
        commits: CommitSearch,
        view: CommitView,
        limit: int,
        *,
        is_complete: bool,
    ) -> SearchResponse | None:
        """Return the commits that are new in a version; None if it has no tag."""
        tag, sha = self._find_tagged(past.new_in, commits)
        if not sha:
            return None
        previous = commits.updates.find_previous_tag(tag)
        hashes = (
            commits.list_range(RevisionRange(f"refs/tags/{previous}", sha))
            if previous
            else commits.list_history(sha)
        )
        start = read_offset(query.cursor) if query.cursor else past.offset
        page = list_range(query, commits, view, hashes or (), start, limit, is_complete=is_complete)
        span = (
            f"not in {previous}, the version before it" if previous else "up to the first version"
        )
        return replace(page, suggestions=(f"commits in {tag}, {span}", *page.suggestions))

    def _compare_with_previous(
        self, question: NameHistoryQuestion, commits: CommitSearch
    ) -> NameHistoryQuestion | None:
        """Return a question about the changes since the version before the one that is named.

        Return None if the version has no tag, or if it is the first one.
        """
        tag, sha = self._find_tagged(question.new_in, commits)
        previous = commits.updates.find_previous_tag(tag) if sha else ""
        return replace(question, since=previous, until=tag, new_in="") if previous else None

    def _explain_release(self, version: str, commits: CommitSearch) -> tuple[str, ...]:
        """Return notes about a version whose commit is not listed."""
        tag, sha = self._find_tagged(version, commits)
        if not sha:
            is_version = looks_like_revision(version)
            note = f'no tag is named "{version}"; the question was searched as words'
            return (note,) if is_version else ()
        header = commits.updates.read_headers([sha]).get(sha)
        what = sha if header is None else describe_header(header)
        return (f"the tag {tag} is on a commit that is not indexed: {what}",)

    def _list_hashes(
        self, past: PastQuestion, commits: CommitSearch, view: CommitView
    ) -> Sequence[str] | None:
        """Return the commits of a range, or all commits, in the requested order.

        Return None if the question asks for neither, or if the range does not exist.
        """
        if past.lists_all:
            states = view.newest_first(view.states())
            hashes = [state.path.removeprefix(COMMIT_URI) for state in states]
            return hashes[::-1] if past.oldest_first else hashes
        return self._list_range(past, commits)

    def _list_range(self, past: PastQuestion, commits: CommitSearch) -> Sequence[str] | None:
        """Return the commits of a range, newest first; None if it does not exist."""
        if past.revisions is None:
            return None
        if not past.is_worded:
            return commits.list_range(past.revisions)
        older, newer = map(self._find_revision, (past.revisions.older, past.revisions.newer))
        return (
            None
            if older is None or newer is None
            else commits.list_range(replace(past.revisions, older=older, newer=newer))
        )

    def _find_revision(self, name: str) -> str | None:
        """Return the name of a revision, with or without the "v" of a version; None if unknown."""
        return next(
            (one for one in version_spellings(name) if self.find_date(one) is not None), None
        )


def _list_by_hash(
    query: SearchQuery,
    commits: CommitSearch,
    view: CommitView,
    prefixes: Sequence[str],
    limit: int,
) -> SearchResponse | None:
    """Return a page with the commits whose hashes begin with a prefix; None if there are none."""
    found = find_with_prefixes(view, prefixes)
    if found:
        return list_named(query, view, found, limit)
    outside = filter(None, map(commits.updates.find_hash, prefixes))
    return _list_outside(query, commits, view, next(outside, ""))


def _list_outside(
    query: SearchQuery, commits: CommitSearch, view: CommitView, sha: str
) -> SearchResponse | None:
    """Return a page with the message of an unsearched commit; None if it must not be shown."""
    if not sha or query.cursor or has_filters(query) or not commits.updates.select_shown([sha]):
        return None
    note = f"this commit is {NOT_SEARCHED}, so only its message is listed"
    return replace(list_commits(view, [sha], commits), suggestions=(note,))
