"""Answer questions about a definition or a file: who changed, added, removed or mostly wrote it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from rootle.federation.combined_cursor import join_cursors, read_offset
from rootle.federation.commit_lists import filter_commits, has_filters, list_commits
from rootle.history.changes.change_words import Action
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.names.main_author import select_main_author
from rootle.history.names.name_changes import (
    find_file_removals,
    find_first_use,
    find_last_uses,
    may_be_path,
)
from rootle.history.names.name_history import (
    NameChanges,
    count_commits,
    find_name_changes,
)
from rootle.history.names.name_questions import NameHistoryQuestion
from rootle.history.names.option_changes import find_option_changes, find_option_removals
from rootle.history.names.place_changes import (
    ChangedPlace,
    PlaceChange,
    changes_by_lines,
    choose_section,
    last_word,
    result_of_change,
)
from rootle.history.names.renames import find_renames, select_renames_to
from rootle.history.names.stated_changes import find_stated_changes, put_stated_first
from rootle.history.names.unindexed_commits import (
    describe_unindexed,
    describe_unlisted,
)
from rootle.history.removals.removed_definitions import RemovedDefinition
from rootle.index.reader import FileState
from rootle.search.stages.low_confidence import LOW_CONFIDENCE
from rootle.search.symbols.place_kinds import PlaceKind, kind_of_place
from rootle.text.whole_names import name_pattern
from rootle.types import (
    COMMIT_MESSAGE,
    COMMIT_URI,
    RevisionRange,
    SearchQuery,
    SearchResponse,
)


@dataclass(frozen=True, slots=True)
class NameLookup:
    """Looks up names in the current code and in the code that commits removed."""

    # Returns the definitions or files with a name; None if there are none, or more than three.
    find_place: Callable[[str], ChangedPlace | None]
    # Returns the folder and the files that a plain word means, such as CHANGELOG.md for
    # "changelog"; None if there are none, or too many.
    find_files: Callable[[str], ChangedPlace | None]
    # Indexes removed definitions for a limited time. Returns "", or why some are not indexed.
    prepare_removed: Callable[[], str]
    # Returns removed definitions with a name, and whether there may be more.
    find_removed: Callable[[str], tuple[Sequence[RemovedDefinition], bool]]
    describe_present: Callable[[str], str]  # returns where a name is defined now; "" if it is not
    # Returns the hashes of the commits of a range that changed files or folders.
    list_period: Callable[[Sequence[str], RevisionRange], Collection[str]]

    def has_place(self, name: str) -> bool:
        """Return whether definitions or files have a name; "docs/" may also be a plain word."""
        is_word = name.endswith("/") and self.find_files(name[:-1]) is not None
        return is_word or self.find_place(name) is not None


@dataclass(frozen=True, slots=True)
class _Period:
    """The commits since a revision, or between two."""

    text: str  # for a note
    hashes: frozenset[str]
    # The hashes of the commits that changed the files but are not indexed, newest first. They are
    # not in the history of HEAD if the newer revision is on a release branch.
    outside: Sequence[str] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameAnswers:
    """Lists the commits that a question about a definition or a file asks for."""

    names: NameLookup
    find_revision: Callable[[str], str | None]  # returns its name in git; None if it is unknown

    def find_page(
        self,
        query: SearchQuery,
        question: NameHistoryQuestion,
        commits: CommitSearch,
        view: CommitView,
        limit: int,
        *,
        is_complete: bool,
    ) -> SearchResponse | None:
        """Return a page of commits.

        Return None if the definition or file was never known, if the question names a revision that
        does not exist, or if no known commit is an answer.
        """
        since, until = map(self._find_bound, (question.since, question.until))
        found = None if since is None or until is None else self._find(question, commits, view)
        if since is None or until is None or found is None:
            return None
        revisions = RevisionRange(since, until or "HEAD")
        period = self._find_period(question, commits, view, revisions) if since else None
        is_unsure = bool(found.commits) and question.oldest_first and not is_complete
        if is_unsure:
            note = f"{LOW_CONFIDENCE}an older commit that is not indexed yet may be the first one"
            found = replace(found, notes=(*found.notes, note))
        page = _CommitList(query, question, commits, view, found, period).make_page(limit)
        return replace(page, confident=False) if page is not None and is_unsure else page

    def _find_period(
        self,
        question: NameHistoryQuestion,
        commits: CommitSearch,
        view: CommitView,
        revisions: RevisionRange,
    ) -> _Period:
        older, newer = revisions.older, revisions.newer
        text = (
            f"between {older} and {newer}" if question.until else f"not in the history of {older}"
        )
        hashes = commits.list_range(revisions) or ()
        missing = [sha for sha in hashes if view.commit_at(f"{COMMIT_URI}{sha}") is None]
        if not missing:
            return _Period(text, frozenset(hashes))
        place = self._find_place(question)
        if place is None:
            notes = describe_unlisted(question, None, missing)
            return _Period(text, frozenset(hashes), notes=notes)
        changed = self.names.list_period(place.paths, revisions)
        outside = [sha for sha in missing if sha in changed]
        notes = describe_unlisted(question, place, outside)
        return _Period(text, frozenset(hashes), outside if place.is_file else (), notes)

    def _find_bound(self, name: str) -> str | None:
        """Return the name of a revision in git; "" if the question names none, None if unknown."""
        return self.find_revision(name) if name else ""

    def _find(
        self, question: NameHistoryQuestion, commits: CommitSearch, view: CommitView
    ) -> NameChanges | None:
        if question.asks_for_removal:
            return self._find_removal(question, commits, view)
        return self._find_changes(question, commits, view)

    def _find_changes(
        self, question: NameHistoryQuestion, commits: CommitSearch, view: CommitView
    ) -> NameChanges | None:
        place = self._find_place(question)
        if question.may_be_phrase and place is None:
            return None
        count = commits.updates.find_by_count
        if question.is_option and (found := find_option_changes(view, question)) is not None:
            if question.asked != "deprecation":
                return found
            stated = find_stated_changes(view, Action.DEPRECATION, question.name)
            return put_stated_first(stated[::-1], found, f"the deprecation of {question.name}")
        if question.asked == "addition" and (place is None or place.is_used_elsewhere):
            first = find_first_use(view, question.name, count)
            if first is not None:
                return first
        if place is None:
            return None
        found = find_name_changes(view, question, place, count, commits.updates.read_removed)
        if found is not None and question.asked == "authors":
            return select_main_author(found, question.name, commits)
        return found

    def _find_place(self, question: NameHistoryQuestion) -> ChangedPlace | None:
        """Return the place that a question names; None if there is none."""
        if question.is_option:
            return None
        if question.is_word:
            return self.names.find_files(question.name.rstrip("/"))
        place = self.names.find_place(question.name)
        is_known = place is not None and place.exists
        if not is_known and question.asked == "changes":
            return self.names.find_files(question.name) or place
        return place

    def _find_removal(
        self, question: NameHistoryQuestion, commits: CommitSearch, view: CommitView
    ) -> NameChanges | None:
        """Return the commits that removed or renamed a file or definition, newest first."""
        name, is_rename = question.name, question.asked == "rename"
        if may_be_path(name):
            changes, is_limited = find_file_removals(view, name, only_renames=is_rename)
            if question.new_name and not (changes := select_renames_to(changes, question.new_name)):
                return None
            changes = changes or self._find_unlisted_removal(name, view)
            verb = "renamed" if is_rename else "deleted or renamed"
            found = _note_count(changes, f"{verb} {name}, newest first", is_limited=is_limited)
            present = "" if is_rename else self._describe_file(name)
            if present and found is None:
                found = self._find_changes(replace(question, asked="changes"), commits, view)
            return replace(found, notes=(present, *found.notes)) if found and present else found
        present = self.names.describe_present(name)
        removed, is_limited = self.names.find_removed(name)
        # A removed heading of a document does not show that the thing was removed.
        removed = [one for one in removed if not _is_in_document(one.path)]
        removals = _read_removals(view, name, removed)
        if question.new_name:
            # A removed definition with the old name need not be the one that was renamed.
            uses = removals or find_last_uses(view, name)
            read_patch = commits.updates.read_patch
            return find_renames(view, name, question.new_name, uses, read_patch)
        action = Action.RENAME if is_rename else Action.REMOVAL
        stated = find_stated_changes(view, action, name) if is_rename or present else []
        if removals:
            what = f"removed a definition with the name {name}, newest first"
            if len(removals) > 1 and not present:
                what += "; the first one removed the last of these definitions"
            found = _note_count(removals, what, is_limited=is_limited)
        elif present:
            # The changes show what happened to the definition instead.
            asked = replace(question, asked="addition" if is_rename else "changes")
            found = self._find_changes(asked, commits, view)
        elif question.may_be_phrase and not stated:
            return None
        else:
            uses = (find_option_removals if question.is_option else find_last_uses)(view, name)
            in_code = [one for one in uses if not _is_in_document(one.section.label)]
            found = _note_uses(in_code, name)
        found = put_stated_first(stated, found, f"the {action.value} of {name}")
        if found is None or not present:
            return found
        return replace(found, notes=(present, *found.notes))

    def _describe_file(self, name: str) -> str:
        """Return a note if files or folders with this path exist, else ""."""
        place = self.names.find_place(name)
        is_present = place is not None and place.is_file and place.exists
        return f"{name} still exists: {place.where}" if place and is_present else ""

    def _find_unlisted_removal(self, name: str, view: CommitView) -> list[PlaceChange]:
        """Return the last commit that changed a removed folder.

        For a file, return its last commit only if this commit changed more files than the index
        lists, because then the index may lack the removal.
        """
        place = self.names.find_place(name)
        changes = [] if place is None else changes_by_lines(view, place)[:1]
        if name.endswith("/"):
            return changes if place is not None and not place.exists else []
        return [
            change
            for change in changes
            if change.section.label == COMMIT_MESSAGE and view.may_lack_files(change.state)
        ]


def _read_removals(
    view: CommitView, name: str, removals: Sequence[RemovedDefinition]
) -> list[PlaceChange]:
    """Return the commits of removals, newest first."""
    pattern, found = name_pattern(last_word(name)), {}
    for removal in removals:
        state = view.commit_at(removal.uri)
        if state is not None and state not in found:
            lines = [f"-{line}" for line in removal.lines if pattern.search(line)][:1]
            found[state] = PlaceChange(state, choose_section(view, state, {removal.path}), lines)
    return [found[state] for state in view.newest_first(found)]


def _note_uses(changes: list[PlaceChange], name: str) -> NameChanges | None:
    if len(changes) < 2:
        return _note_count(changes, f"removed lines with {name}")
    note = (
        f"the first commit removed the last indexed lines with {name}; the others removed only a "
        "part of them, newest first"
    )
    return NameChanges(changes, (note,))


def _note_count(
    changes: list[PlaceChange], what: str, *, is_limited: bool = False
) -> NameChanges | None:
    if not changes:
        return None
    count = count_commits(len(changes), is_limited=is_limited)
    return NameChanges(changes, (f"{count} that {what}",))


def _is_in_document(path: str) -> bool:
    return kind_of_place(path) == PlaceKind.DOCUMENT


@dataclass(frozen=True, slots=True)
class _CommitList:
    """The commits that answer a question about a name, of which one page is shown."""

    query: SearchQuery
    question: NameHistoryQuestion
    commits: CommitSearch
    view: CommitView
    found: NameChanges
    period: _Period | None  # of the question

    def make_page(self, limit: int) -> SearchResponse | None:
        """Return one page of the commits; None after the last page.

        The result is also None if no commit is indexed and the query has filters, because filters
        are not applied to commits that are not indexed.
        """
        is_filtered = has_filters(self.query)
        if not self.found.commits:
            return None if is_filtered else self._list_unindexed(limit)
        found, period = self.found, self.period
        states = [change.state for change in found.commits]
        if period is not None:
            states = [one for one in states if one.path.removeprefix(COMMIT_URI) in period.hashes]
        passed = filter_commits(self.query, self.view, states)
        notes = found.notes
        if len(passed) < len(found.commits):
            left = self._describe_rest(len(passed), has_failed=len(passed) < len(states))
            notes = (notes[0], left, *notes[1:])
        listed: list[FileState | str] = [*passed]
        if period is not None:
            notes = (*notes, *period.notes)
            if self.question.asked != "authors" and not is_filtered:
                listed += period.outside
        return self._select(listed, limit, notes)

    def _list_unindexed(self, limit: int) -> SearchResponse | None:
        """Return one page of the commits if none of them is indexed."""
        if self.period is None:
            hashes = self.found.unindexed
            notes = (*self.found.notes, describe_unindexed(self.question, len(hashes)))
        else:
            hashes, notes = self.period.outside, self.period.notes
        listed = hashes[::-1] if self.question.oldest_first else hashes
        return self._select(listed, limit, notes)

    def _describe_rest(self, count: int, *, has_failed: bool) -> str:
        """Return a note about how many commits are in the period and pass the filters."""
        is_one = count < 2
        reasons = []
        if self.period is not None:
            reasons.append(f"{'is' if is_one else 'are'} {self.period.text}")
        if has_failed:
            reasons.append("passes the filters" if is_one else "pass the filters")
        return f"{f'{count:,}' if count else 'none'} of them {' and '.join(reasons)}"

    def _select(
        self, listed: Sequence[FileState | str], limit: int, notes: tuple[str, ...]
    ) -> SearchResponse | None:
        """Return one page of indexed commits, and of hashes of others; None after the last page."""
        start = read_offset(self.query.cursor) if self.query.cursor else 0
        page = listed[start : start + limit]
        if listed and not page:
            return None
        changes = {change.state.id: change for change in self.found.commits}
        shown = list_commits(
            self.view,
            page,
            self.commits,
            lambda view, state: result_of_change(view, changes[state.id], self.question.name),
        )
        more = str(start + limit) if start + limit < len(listed) else None
        return replace(shown, suggestions=notes, next_cursor=join_cursors(more, None))
