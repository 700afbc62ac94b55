"""Select the commits that a question names: by a hash, a range, filters, a definition or a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rootle.federation.combined_cursor import join_cursors, read_offset
from rootle.federation.commit_lists import (
    EMPTY,
    describe_unknown,
    filter_commits,
    find_with_prefixes,
    list_named,
    list_range,
)
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import find_name_changes
from rootle.history.names.name_questions import NameHistoryQuestion
from rootle.history.names.place_changes import ChangedPlace, result_of_change
from rootle.history.past_question import PastQuestion
from rootle.types import COMMIT_URI, RevisionRange, SearchQuery, SearchResponse


@dataclass(frozen=True, slots=True)
class CommitSelection:
    """Answers questions for which commits need not be searched by words."""

    date_of: Callable[[str], float | None]  # the Unix time of a commit, tag or branch
    # Returns the definitions or files with a name; None if there are none, or more than three.
    find_place: Callable[[str], ChangedPlace | None]

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
            found = view.with_prefix(past.commit)
            return list_named(query, view, found, limit) if found else None
        if past.name_history is not None:
            listing = partial(self._list_changes, is_complete=is_complete)
            changes = listing(query, past.name_history, commits, view, limit)
            if changes is not None:
                return changes
        if past.asks_first and (found := find_with_prefixes(view, past.named)):
            return list_named(query, view, found, limit)
        hashes = self._list_hashes(past, commits, view)
        if hashes is None:
            return None
        start = read_offset(query.cursor) if query.cursor else past.offset
        return list_range(query, view, hashes, start, limit, is_complete=is_complete)

    def describe_unknown(self, past: PastQuestion, commits: CommitSearch) -> tuple[str, ...]:
        """Return a note about the revisions that a question names but that do not exist."""
        names = commits.list_unknown(past.revisions) if past.revisions is not None else []
        since = past.name_history.since if past.name_history is not None else ""
        if since and self._find_revision(since) is None:
            names = [since]
        return describe_unknown(names)

    def _list_hashes(
        self, past: PastQuestion, commits: CommitSearch, view: CommitView
    ) -> Sequence[str] | None:
        """Return the commits of a range, or all commits, newest first.

        Return None if the question asks for neither, or if the range does not exist.
        """
        if past.lists_all:
            states = view.newest_first(view.states())
            return [state.path.removeprefix(COMMIT_URI) for state in states]
        if past.revisions is None:
            return None
        if not past.is_worded:
            return commits.list_range(past.revisions)
        older, newer = map(self._find_revision, (past.revisions.older, past.revisions.newer))
        return (
            None
            if older is None or newer is None
            else commits.list_range(RevisionRange(older, newer))
        )

    def _find_revision(self, name: str) -> str | None:
        """Return the name of a revision, with or without the "v" of a version; None if unknown."""
        other = name[1:] if name.startswith("v") else f"v{name}"
        return next((one for one in (name, other) if self.date_of(one) is not None), None)

    def _list_changes(
        self,
        query: SearchQuery,
        question: NameHistoryQuestion,
        commits: CommitSearch,
        view: CommitView,
        limit: int,
        *,
        is_complete: bool,
    ) -> SearchResponse | None:
        """Return the commits that changed a definition or a file.

        Return None if the definition or file does not exist, if the question names a revision that
        does not exist, or if no known commit changed the definition or file.
        """
        place = self.find_place(question.name)
        since = self._find_revision(question.since) if question.since else ""
        if place is None or since is None:
            return None
        found = find_name_changes(view, question, place, commits.updates.find_by_count)
        if found is None:
            return None
        states = [change.state for change in found.commits]
        if since:
            newer = set(commits.list_range(RevisionRange(since, "HEAD")) or ())
            states = [state for state in states if state.path.removeprefix(COMMIT_URI) in newer]
        passed = filter_commits(query, view, states)
        changes = {change.state.id: change for change in found.commits}
        start = read_offset(query.cursor) if query.cursor else 0
        results = tuple(
            result_of_change(view, changes[state.id], question.name)
            for state in passed[start : start + limit]
        )
        if passed and not results:
            return None
        notes = found.notes
        if len(passed) < len(found.commits):
            reasons = [f"are not in the history of {since}"] if since else []
            reasons += ["pass the filters"] if len(passed) < len(states) else []
            left = f"{len(passed):,} of these commits {' and '.join(reasons)}"
            notes = (notes[0], left, *notes[1:])
        if question.oldest_first and not is_complete:
            notes = (*notes, "an older commit that is not indexed yet may be the first one")
        more = str(start + limit) if start + limit < len(passed) else None
        return replace(
            EMPTY,
            results=results,
            confident=True,
            generation=view.index.generation,
            suggestions=notes,
            next_cursor=join_cursors(more, None),
        )
