"""Search the commits of one repository."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final, Protocol

from rootle.errors import IndexStorageError, QueryError
from rootle.history.authors.known_authors import KnownAuthors, read_authors
from rootle.history.cochange import ChangeHistory, read_history
from rootle.history.commit_results import LastCommits, add_commits
from rootle.history.commit_view import CommitView, ViewCache
from rootle.history.merge_order import put_commits_first
from rootle.index.reader import IndexReader
from rootle.search.agent import SearchAgent
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.revision_periods import PeriodKind
from rootle.types import CountedCommits, RevisionRange, SearchQuery, SearchResponse

_MAX_OPENINGS: Final = 5
# An answer has a note about unread changed lines only if at least this share of the commits lacks
# some. Even in a complete clone, a few patches are too long to read, which is rarely the reason why
# nothing was found.
NOTED_SHARE: Final = 0.05


class RemovedLines(Protocol):
    """Consecutive lines that a commit removed from a file, as in `types.Removal`."""

    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def start_line(self) -> int: ...
    @property
    def lines(self) -> tuple[str, ...]: ...


class CommitMetadata(Protocol):
    """The metadata of a commit, which git returns without an index."""

    @property
    def sha(self) -> str: ...
    @property
    def author(self) -> str:
        """The name and the address, as "Name <address>"."""

    @property
    def seconds(self) -> int:
        """The Unix time of the commit."""

    @property
    def message(self) -> str: ...


class CommitUpdates(Protocol):
    """Keeps an index of commits current, and asks git about revisions."""

    @property
    def prefix(self) -> str:
        """The path of the folder below its work tree, ending in "/"; "" for the work tree."""

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""

    def open_visible(
        self, *, has_ignored: bool = False
    ) -> tuple[IndexReader, Collection[int] | None]:
        """Return the newest snapshot, and its commits that belong to the history of the folder.

        The snapshot lacks the changes of files that are ignored now, unless `has_ignored`. The
        second value is None if all commits belong to the folder. Raise IndexStorageError if no
        commit is indexed yet.
        """

    def find_order(self) -> Mapping[int, int]:
        """Return the position of each indexed commit in the history of the folder, from 0.

        A commit follows all its descendants, whatever its date. The mapping is empty if git fails.
        """

    def prepare(self, wait_s: float) -> str:
        """Index new commits for a limited time.

        Return "", or the reason why not all commits are indexed.
        """

    def explain_gap(self) -> tuple[str, int]:
        """Return why the newest snapshot lacks commits, and its generation; -1 if there is none.

        The reason is "" if all commits are indexed.
        """

    def explain_hidden(self) -> str:
        """Return why the last result of `open_visible` has no commits; "" if it has some."""

    def describe_rebuild(self) -> str:
        """Return a note if the index is being rebuilt although it can be searched, else ""."""

    def describe_clone(self) -> str:
        """Return a note if the repository lacks its older commits, or has none; else ""."""

    def explain_limit(self) -> str:
        """Return why older commits are not indexed; "" if there are no older ones."""

    def list_range(self, revisions: RevisionRange) -> Sequence[str] | None:
        """Return the hashes of the commits in a range, newest first.

        Return None if one of the revisions does not exist.
        """

    def list_history(self, revision: str) -> Sequence[str] | None:
        """Return the hashes of the commits in the history of a revision, newest first.

        Return None if the revision does not exist.
        """

    def list_merged(self, merge: str) -> Sequence[str]:
        """Return the hashes of a merge and of the commits that it brought into its branch."""

    def list_unknown(self, revisions: RevisionRange) -> Sequence[str]:
        """Return the ends of a range that are not revisions."""

    def find_tag(self, name: str) -> str:
        """Return the hash of the commit that has a tag; "" if there is no such tag."""

    def find_version_tag(self, version: str) -> str:
        """Return the only tag with the numbers of a version; "" if there is none."""

    def list_first_tags(self, sha: str) -> Sequence[tuple[str, int]] | None:
        """Return the oldest tag that contains a commit, and the oldest release if it is another.

        Each has its Unix time. The list is empty if no tag contains the commit. Return None if git
        fails.
        """

    def find_previous_tag(self, tag: str) -> str:
        """Return the tag of the version before the version of a tag; "" if there is none."""

    def find_hash(self, prefix: str) -> str:
        """Return the hash of the commit whose hash begins with a prefix; "" if there is none."""

    def read_headers(self, hashes: Sequence[str]) -> Mapping[str, CommitMetadata]:
        """Return the metadata of commits by hash, whether they are indexed or not.

        The mapping is empty if git fails.
        """

    def select_shown(self, hashes: Collection[str]) -> Collection[str] | None:
        """Return the commits that changed a file that is in the folder and not ignored now.

        In the top folder, these include commits without changes. Return None if git fails.
        """

    def read_removed(self, sha: str) -> Sequence[RemovedLines]:
        """Return the code that a commit removed and did not add elsewhere."""

    def read_patch(self, sha: str) -> Mapping[str, Sequence[str]]:
        """Map the path of each file that a commit changed to the changed lines."""

    def read_before(self, sha: str, path: str) -> str | None:
        """Return the text of a file before a commit changed it; None if git cannot read it.

        `path` is the path before or after the commit.
        """

    def visible_paths(self, paths: Collection[str]) -> set[str]:
        """Return the paths of files that would be indexed if they existed."""

    def find_by_count(self, text: str, max_count: int, timeout_s: float) -> CountedCommits:
        """Return the newest commits that changed how often a text occurs, newest first.

        After the timeout, these are the commits that were found so far.
        """


@dataclass(frozen=True, slots=True)
class VisibleCommits:
    """Narrows a search to the commits that belong to the history of the folder."""

    find: Callable[[], Collection[int] | None]  # None for all commits

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery:  # noqa: ARG002
        """Return the narrower scope."""
        ids = self.find()
        if ids is None:
            return scoped
        files = ids if scoped.files is None else set(ids).intersection(scoped.files)
        return replace(scoped, files=files)


def list_period(updates: CommitUpdates, kind: PeriodKind, revision: str) -> frozenset[str]:
    """Return the hashes of the commits that `since:` or `until:` with a revision selects.

    "since" selects the commits in the history of HEAD that are not in the history of the revision,
    and "until" those in the history of the revision. Raise QueryError if the revision does not
    exist, or git fails.
    """
    if kind == "since":
        found = updates.list_range(RevisionRange(revision, "HEAD"))
    else:
        found = updates.list_history(revision)
    if found is None:
        raise QueryError(
            f"git cannot list the commits {kind} {revision}; use a commit, tag or branch in the "
            f"history of the folder, or a date such as {kind}:2024-03-31"
        )
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class CommitSearch:
    """The pipeline that searches commits, and the index behind it."""

    open_agent: Callable[[], SearchAgent]
    updates: CommitUpdates
    wait_s: float  # how long a request waits for new commits to be indexed
    last_commits: LastCommits = field(default_factory=LastCommits)
    changes: ViewCache[ChangeHistory] = field(default_factory=lambda: ViewCache(read_history))
    partial_commits: ViewCache[set[str]] = field(
        default_factory=lambda: ViewCache(CommitView.list_partial)
    )
    authors: ViewCache[KnownAuthors] = field(default_factory=lambda: ViewCache(read_authors))

    def prepare(self) -> str:
        """Index new commits for a limited time.

        Return "", or the reason why not all commits are indexed.
        """
        return self.updates.prepare(self.wait_s)

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page of commits, without the CommitFacts."""
        return self.open_agent().search(query, explain=explain)

    def search_page(self, query: SearchQuery, view: CommitView, *, explain: bool) -> SearchResponse:
        """Return one page of commits, on which merges follow the commits that they merged.

        `view` contains the commits that were indexed before the search.
        """
        found = self.search(query, explain=explain)
        # The search may have found commits that were indexed after `view` was opened.
        described = add_commits(found, self.view() or view)
        return put_commits_first(described, self.updates.list_merged)

    def view(self, *, has_ignored: bool = False) -> CommitView | None:
        """Return the commits that are indexed now; None if none are.

        Set `has_ignored` if the caller shows no changed lines or paths. This skips the search for
        changes of files that are ignored now, which takes longer than many questions.
        """
        if not self.updates.exists():
            return None
        try:
            index, ids = self.updates.open_visible(has_ignored=has_ignored)
        except IndexStorageError:
            return None
        listing = cache(partial(list_period, self.updates))
        view = CommitView(index, ids, self.updates.prefix, self.updates.find_order, listing)
        return view if view.count else None

    def view_with_gap(self, prepared: str | None = None) -> tuple[CommitView | None, str]:
        """Return the commits that are indexed now, and why some are missing; "" if none is missing.

        `prepared` is the result of `prepare`, if it was called. An update may have stored commits
        since then, so the reason is read again, until it belongs to the same commits.
        """
        if prepared == "":
            return self.view(), self.updates.explain_hidden()
        for _ in range(_MAX_OPENINGS):
            reason, generation = self.updates.explain_gap()
            view = self.view()
            if not reason or view is None or view.index.generation == generation:
                break
        return view, self.updates.explain_hidden() or reason

    def describe_unread(
        self,
        view: CommitView,
        definitions: CommitView | None = None,
        *,
        min_share: float = 0.0,
    ) -> tuple[str, ...]:
        """Return notes about older commits, and changed lines, that are not indexed.

        `definitions` is the view of the index of removed definitions, if it is searched too. If the
        share of the commits that lack changed lines is below `min_share`, there is no note about
        them.
        """
        limit = self.updates.explain_limit()
        found = self.partial_commits.get(view)
        count = len(found if definitions is None else found | definitions.list_partial())
        is_noted = count > 0 and count >= view.count * min_share
        lines = (
            f"not all changed lines of {count:,} of {view.count:,} commits are searched: too long, "
            "or not in this clone"
        )
        return (*((f"of the commits, {limit}",) if limit else ()), *((lines,) if is_noted else ()))

    def list_range(self, revisions: RevisionRange) -> Sequence[str] | None:
        """Return the hashes of the commits in a range, newest first.

        Return None if one of the revisions does not exist.
        """
        return self.updates.list_range(revisions)

    def list_history(self, revision: str) -> Sequence[str] | None:
        """Return the hashes of the commits in the history of a revision, newest first."""
        return self.updates.list_history(revision)

    def list_unknown(self, revisions: RevisionRange) -> Sequence[str]:
        """Return the ends of a range that are not revisions."""
        return self.updates.list_unknown(revisions)
