"""List the commits that changed a definition or a file, newest or oldest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.history.commit_search import RemovedLines
from rootle.history.commit_view import CommitView
from rootle.history.names.name_questions import NameHistoryQuestion
from rootle.history.names.place_changes import (
    ChangedPlace,
    PlaceChange,
    add_old_paths,
    changes_by_lines,
    choose_section,
    last_word,
    list_renames,
)
from rootle.index.reader import FileState
from rootle.serialization.path_text import short_hash
from rootle.text.similarity.similar_names import similar_names
from rootle.text.terms import WORD, word_terms
from rootle.text.whole_names import name_pattern
from rootle.types import (
    CHANGED_NAMES_SEPARATOR,
    COMMIT_URI,
    UNNAMED_CHANGES,
    CountedCommits,
    DocumentSection,
)

# If a name has more definitions than this, it is unclear which of them a question is about.
MAX_DEFINITIONS: Final = 3
_MAX_COMMITS: Final = 3_000  # commits that are read because their texts contain the name
_MAX_TEXTS: Final = 300  # changes whose lines are searched for the name
_MAX_HASHES: Final = 3
# If a commit replaced a line by one with the new name, and the two lines are at least this similar
# (a ratio of matching characters), it renamed the definition; otherwise, it added the definition.
_SIMILAR_LINE: Final = 0.6
# Limits for git, which reads the contents of all commits to find changes in how often a name
# occurs.
_MAX_COUNTED: Final = 1_000
_COUNTING_S: Final = 4.0

_NOT_ALL_COUNTED: Final = "git did not search the older commits in time"
# The signatures of `CommitUpdates.find_by_count` and `CommitUpdates.read_removed`.
FindByCount = Callable[[str, int, float], CountedCommits]
ReadRemoved = Callable[[str], Sequence[RemovedLines]]


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The commits that changed a definition or a file."""

    commits: Sequence[PlaceChange]  # newest first, or oldest first if the question asks for that
    notes: tuple[str, ...]
    # The hashes of further commits, newest first, which git lists but which are not indexed.
    unindexed: Sequence[str] = ()


def find_name_changes(
    view: CommitView,
    question: NameHistoryQuestion,
    place: ChangedPlace,
    find_by_count: FindByCount,
    read_removed: ReadRemoved,
) -> NameChanges | None:
    """Return the commits that changed a place; None if none are known.

    git lists the commits that changed the lines. Older commits, from before the definition was
    moved to its present file, or was removed and added again, are found by the indexed names of
    changed definitions. If git fails, all commits are found in this way. If the question asks for
    the first commit, and the oldest commit that was found did not add the name, git is asked for an
    older one.
    """
    changes = changes_by_lines(view, place)
    if place.commits is not None and not changes:
        missing = _find_unindexed(view, place.commits)
        return NameChanges((), (), missing) if missing else None
    missing = []
    if changes:
        shas = list(place.commits or ())
        older: list[PlaceChange] = []
        restored: list[str] = []
        if not place.is_file:
            kept = _drop_before_addition(view, changes, last_word(question.name))
            if len(kept) < len(changes):
                shas = shas[: shas.index(kept[-1].state.path.removeprefix(COMMIT_URI))]
            changes = kept
            earlier = _EarlierChanges(view, question.name, place, read_removed)
            older, restored = earlier.follow(changes[-1])
        missing = _find_unindexed(view, shas)
        counted = _describe_lines(question, place, len(changes), len(older), len(missing))
        notes = (*counted, *restored)
        changes += older
    elif place.is_file or (place.has_members and not question.oldest_first):
        return None
    else:
        changes, notes = _changes_by_name(view, question)
    if not question.oldest_first:
        return NameChanges(changes, notes, missing)
    changes.reverse()
    return _add_first(view, question, place, NameChanges(changes, notes, missing), find_by_count)


def _find_unindexed(view: CommitView, hashes: Iterable[str]) -> list[str]:
    return [sha for sha in hashes if view.commit_at(f"{COMMIT_URI}{sha}") is None]


def states_with(view: CommitView, word: str) -> list[FileState]:
    """Return the commits whose texts contain the words of a name."""
    sparse = view.index.sparse
    terms = [term for part in WORD.findall(word) for term in word_terms(part)]
    ids = sparse.files_with(sparse.stems(" ".join(terms)), [], _MAX_COMMITS, view.ids)
    return [state for state in view.index.files(ids).values() if state.skip is None]


def _drop_before_addition(
    view: CommitView, changes: Sequence[PlaceChange], name: str
) -> list[PlaceChange]:
    """Return the changes from the commit that added the definition on, newest first.

    git follows lines into the past even if a commit added all of them: it then continues with the
    lines that were in their place. If a commit renamed the definition, the changes before it are
    those of the old name.
    """
    end = len(changes)
    for at, change in enumerate(changes):
        word = name_pattern(name)
        new = [line[1:] for line in change.lines if line[:1] == "+" and word.search(line)]
        old = [line[1:] for line in change.lines if line[:1] == "-"]
        if not new or any(map(word.search, old)):
            continue
        replaced = similar_names(new[0].strip(), [line.strip() for line in old], _SIMILAR_LINE)
        if replaced:
            name, end = _old_name(new[0], replaced[0][1], name), len(changes)
        elif _adds_name(view, change.state, change.section, name):
            end = at + 1
    return list(changes[:end])


def _old_name(line: str, replaced: str, name: str) -> str:
    """Return the name that a replaced line has instead of `name`; if it is unclear, `name`."""
    words = set(WORD.findall(replaced)).difference(WORD.findall(line))
    return words.pop() if len(words) == 1 else name


@dataclass(frozen=True, slots=True)
class _EarlierChanges:
    """Finds the commits that changed a definition before it was moved or added again."""

    view: CommitView
    name: str
    place: ChangedPlace
    read_removed: ReadRemoved

    @property
    def word(self) -> str:
        """The name of the definition without its class or module."""
        return last_word(self.name)

    def follow(self, first: PlaceChange) -> tuple[list[PlaceChange], list[str]]:
        """Return the commits, and notes on removals of the definition; both newest first.

        `first` is the oldest commit that changed the lines of the definition in its present file.
        If it added the name, and removed a definition with this name from another file, it moved
        the definition from there. If the previous commit that changed the name in the same file
        removed the definition, `first` added it again. If git did not read all commits, also return
        the commits before `first` that changed the name in the present file.
        """
        paths, removed_from = set[str](), set[str]()
        if self.place.note:
            paths.update(add_old_paths(list_renames(self.view), self.place.paths))
        found, restored, last = list[PlaceChange](), list[str](), first
        self._find_sources(first, paths, removed_from)
        if not paths and not removed_from:
            return found, restored
        states = self.view.newest_first({first.state, *states_with(self.view, self.word)})
        for state in states[states.index(first.state) + 1 :]:
            change = self._change_in(state, paths | removed_from)
            if change is None:
                continue
            if change.section.label in removed_from:
                if not self._removes(change):
                    removed_from.clear()  # the name was that of another definition
                    continue
                removed, added = _short_hash(change.state), _short_hash(last.state)
                restored.append(f"{self.name} was removed in {removed} and added again in {added}")
                paths.update(removed_from)
                removed_from.clear()
            self._find_sources(change, paths, removed_from)
            found.append(change)
            last = change
        return found, restored

    def _find_sources(self, change: PlaceChange, paths: set[str], removed_from: set[str]) -> None:
        """If a change added the definition, update the paths where it may have been before."""
        if not _adds_name(self.view, change.state, change.section, self.word):
            return
        renames = list_renames(self.view)
        own = set(add_old_paths(renames, [change.section.label]))
        paths.difference_update(own)
        paths.update(add_old_paths(renames, _other_places(self.view, change, self.word)))
        removed_from.clear()
        removed_from.update(own - paths)

    def _change_in(self, state: FileState, paths: Collection[str]) -> PlaceChange | None:
        sections = self.view.read_sections(state)
        named = (one for one in sections if self.word in _changed_names(one))
        section = next((one for one in named if one.label in paths), None)
        return None if section is None else PlaceChange(state, section)

    def _removes(self, change: PlaceChange) -> bool:
        """Return whether a change removed this definition, not its namesake in another class."""
        return any(
            (one.path, one.name) == (change.section.label, self.word)
            and last_word(one.scope) in self.place.scopes
            for one in self.read_removed(change.state.path.removeprefix(COMMIT_URI))
        )


def _short_hash(state: FileState) -> str:
    return short_hash(state.path.removeprefix(COMMIT_URI))


def _other_places(view: CommitView, change: PlaceChange, word: str) -> Iterator[str]:
    """Yield the other files from which a commit removed a definition with a name."""
    text, name = view.index.text(change.state.id).split("\n"), name_pattern(word)
    for section in view.read_sections(change.state):
        if section.label != change.section.label and word in _changed_names(section):
            lines = text[section.start_line - 1 : section.end_line]
            if lines[0].startswith("deleted ") or any(
                line.startswith(("-", "removed: ")) and name.search(line) for line in lines
            ):
                yield section.label


def _changes_by_name(
    view: CommitView, question: NameHistoryQuestion
) -> tuple[list[PlaceChange], tuple[str, ...]]:
    """Return the commits whose changed definitions contain the name, newest first, and notes.

    The index lists only some of the definitions that a large commit changed.
    """
    name = last_word(question.name)
    states = view.newest_first(states_with(view, name))
    found, possible = list[PlaceChange](), list[PlaceChange]()
    for state in states:
        sections = view.read_sections(state)
        named = next((one for one in sections if name in _changed_names(one)), None)
        if named is not None:
            found.append(PlaceChange(state, named))
        else:
            possible += [PlaceChange(state, one) for one in sections if _is_unnamed(one)]
    paths = {change.section.label for change in found}
    unnamed = [one for one in possible if one.section.label in paths]
    others = list(_filter_by_name(view, unnamed[:_MAX_TEXTS], name))
    has_more = len(unnamed) > _MAX_TEXTS
    return found, tuple(_describe_names(question, found, others, len(states), has_more=has_more))


def _add_first(
    view: CommitView,
    question: NameHistoryQuestion,
    place: ChangedPlace,
    found: NameChanges,
    find_by_count: FindByCount,
) -> NameChanges:
    """Return the changes. If the first one did not add the name, put an older commit before it."""
    if not found.commits or place.is_file:
        return found
    name, first = last_word(question.name), found.commits[0]
    is_moved = any(_other_places(view, first, name))
    if _adds_name(view, first.state, first.section, name) and not is_moved:
        return found
    counted = find_by_count(name, _MAX_COUNTED, _COUNTING_S)
    older = _find_older(view, first.state, counted.hashes) if counted.is_complete else None
    if older is None:
        reason = "no older commit was found" if counted.is_complete else _NOT_ALL_COUNTED
        note = f"{question.name} may be older than the first of them; {reason}"
        return replace(found, notes=(*found.notes, note))
    paths = {one.section.label for one in found.commits}
    change = PlaceChange(older, choose_section(view, older, paths))
    note = "the first commit is the oldest one that added or removed this name in any text"
    return replace(found, commits=[change, *found.commits], notes=(*found.notes, note))


def _read_lines(view: CommitView, state: FileState, section: DocumentSection) -> list[str]:
    """Return the header of a section of a commit, then its lines."""
    return view.index.text(state.id).split("\n")[section.start_line - 1 : section.end_line]


def _adds_name(view: CommitView, state: FileState, section: DocumentSection, name: str) -> bool:
    """Return whether the indexed lines of a change add a name that the old lines do not contain."""
    word = name_pattern(name)
    header, *lines = _read_lines(view, state, section)
    if header.startswith("added "):
        return True
    found = [line[:1] for line in lines if word.search(line)]
    return "+" in found and not {" ", "-", "@"}.intersection(found)


def _find_older(view: CommitView, first: FileState, hashes: Sequence[str]) -> FileState | None:
    """Return the oldest of the commits if it is indexed and older than `first`."""
    found = view.commit_at(f"{COMMIT_URI}{hashes[-1]}") if hashes else None
    if found is None or found.id == first.id:
        return None
    return found if view.newest_first((found, first))[1] is found else None


def _changed_names(section: DocumentSection) -> Iterator[str]:
    return map(last_word, section.title.split(CHANGED_NAMES_SEPARATOR))


def _is_unnamed(section: DocumentSection) -> bool:
    return section.title.endswith(UNNAMED_CHANGES)


def _filter_by_name(
    view: CommitView, changes: Iterable[PlaceChange], name: str
) -> Iterator[FileState]:
    """Yield the commits that changed lines with the name in a file."""
    word = name_pattern(name)
    for change in changes:
        lines = view.index.text(change.state.id).split("\n")
        section = change.section
        if any(word.search(line) for line in lines[section.start_line : section.end_line]):
            yield change.state


def _describe_lines(
    question: NameHistoryQuestion, place: ChangedPlace, count: int, older: int, missing: int
) -> Iterator[str]:
    """Yield the number of the commits that changed a place, and why some may be missing."""
    text = _count(count + older, question, place.describe(question.name))
    if older:
        members = ", in its own lines, not only in those of members"
        text += (
            f"; the {older} oldest changed this name where it was defined before"
            f"{members if place.has_members else ''}"
        )
    yield text
    if missing:
        yield f"not listed, because they are not indexed: {missing:,} more of these commits"
    if place.note:
        yield place.note


def _describe_names(
    question: NameHistoryQuestion,
    found: Sequence[PlaceChange],
    others: Sequence[FileState],
    candidates: int,
    *,
    has_more: bool,
) -> Iterator[str]:
    """Yield the number of the commits that were found by name, and why some may be missing.

    If `has_more` is set, `others` contains only commits of the newest changes.
    """
    is_limited = candidates >= _MAX_COMMITS
    yield (
        f"{_count(len(found), question, question.name, is_limited=is_limited)}; commits that "
        "changed more than 30 files, or more than 12 definitions of a file, may be missing"
    )
    if others:
        hashes = ", ".join(_short_hash(state) for state in others[:_MAX_HASHES])
        more = f" and {len(others) - _MAX_HASHES} more" if len(others) > _MAX_HASHES else ""
        more += " among the newest" if has_more else ""
        yield f"these changed lines with this name, perhaps in {question.name}: {hashes}{more}"
    if is_limited:
        yield f"only {_MAX_COMMITS:,} of the commits with this name were read"


def count_commits(number: int, *, is_limited: bool = False) -> str:
    """Return a number of commits in words, such as "at least 3 commits" if `is_limited`."""
    text = "1 commit" if number == 1 else f"{number:,} commits"
    return f"at least {text}" if is_limited else text


def _count(
    number: int, question: NameHistoryQuestion, place: str, *, is_limited: bool = False
) -> str:
    order = "oldest first" if question.oldest_first else "newest first"
    commits = count_commits(number, is_limited=is_limited)
    return f"{commits} with changes in {place}, {order}"
