"""Find the commits that removed, renamed or introduced a file or a name, from the indexed texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import (
    FindByCount,
    NameChanges,
    count_commits,
    states_with,
)
from rootle.history.names.place_changes import PlaceChange, choose_section
from rootle.index.reader import FileState
from rootle.search.symbols.place_kinds import PlaceKind, kind_of_place
from rootle.text.languages import UNKNOWN, file_language
from rootle.text.whole_names import name_pattern
from rootle.types import COMMIT_MESSAGE, COMMIT_URI, RENAMED_TO, DocumentSection

_MAX_TEXTS: Final = 600  # commits whose texts are read
_MAX_CHANGES: Final = 100
_MAX_EARLIER_TEXTS: Final = 60
_MAX_EARLIER: Final = 10
# Limits for git, which reads the contents of all commits to find changes in how often a name
# occurs.
_MAX_COUNTED: Final = 1_000
_COUNTING_S: Final = 4.0
# Maps each kind of file to the files that do not count if the name was added to a file of this
# kind.
_LEFT_OUT: Final = {
    PlaceKind.CODE: "documents, tests, example projects or copies",
    PlaceKind.DOCUMENT: "tests, example projects or copies",
}


def may_be_path(name: str) -> bool:
    """Return whether a name can be the path of a file."""
    return "/" in name or ("." in name and file_language(name) != UNKNOWN)


def find_file_removals(
    view: CommitView, path: str, *, only_renames: bool
) -> tuple[list[PlaceChange], bool]:
    """Return the commits that deleted or renamed a file, newest first, and whether more may exist.

    `path` is the path of the file before the commit, or the end of this path. If only the renames
    are wanted, it may also be the path after the commit.
    """
    found: dict[FileState, DocumentSection] = {}
    sections, is_limited = _sections_of_file(view, path.removeprefix("./"))
    for commit, section in sections:
        if section.title.startswith(RENAMED_TO):
            found[commit] = section
            continue
        heading = view.index.text(commit.id).split("\n", section.start_line)[section.start_line - 1]
        if heading.startswith("renamed " if only_renames else "deleted "):
            found[commit] = section
    if only_renames and not found:
        found = dict(_renames_to(view, path.removeprefix("./")))
    return [PlaceChange(state, found[state]) for state in view.newest_first(found)], is_limited


def _renames_to(view: CommitView, path: str) -> Iterator[tuple[FileState, DocumentSection]]:
    """Yield the commits that renamed a file to a path, even if they changed many other files."""
    title = f"{RENAMED_TO}{view.folder}{path}"
    sections = {at: one for at, one in view.index.sections_titled(title) if one.title == title}
    for state in view.select(view.index.files(sections).values()):
        yield state, sections[state.id]


def _sections_of_file(
    view: CommitView, path: str
) -> tuple[list[tuple[FileState, DocumentSection]], bool]:
    """Return the changes of the file at a path, or else of the files whose paths end in it.

    Also return whether only the newest changes are listed.
    """
    exact = view.index.sections_with(f"{view.folder}{path}", _MAX_CHANGES + 1)
    is_limited = len(exact) > _MAX_CHANGES
    ids = {at for at, _ in exact[:_MAX_CHANGES]}
    labels = {path}
    if not exact:
        ending = f"/{path}"
        named = (
            (at, label)
            for at, all_labels in view.index.section_labels().items()
            for label in all_labels
            if label.endswith(ending)
        )
        for at, label in named:
            ids.add(at)
            labels.add(view.relative_label(label) or label)
    found = [
        (state, section)
        for state in view.select(view.index.files(ids).values())
        for section in view.read_sections(state)
        if section.label in labels
    ]
    return found, is_limited


def find_first_use(view: CommitView, name: str, find_by_count: FindByCount) -> NameChanges | None:
    """Return the commits that added lines with a name, oldest first; None if none are known.

    The name may also be that of an option, for example. If some commits added it to code, only
    these are returned; else those that added it to documents; else those that added it to other
    files, such as tests, example projects and copies of other projects.
    """
    states = view.newest_first(states_with(view, name))[::-1]
    changes = list(_text_changes(view, name, states[:_MAX_TEXTS], oldest_first=True))
    is_limited = bool(changes) and len(states) > _MAX_TEXTS
    added = [change for change in changes if change.lines[0].startswith("+")]
    kind = min((_find_kind(change) for change in added), default=PlaceKind.OTHER)
    found = [change for change in added if _find_kind(change) == kind]
    if not found:
        counted = find_by_count(name, _MAX_COUNTED, _COUNTING_S)
        hashes = counted.hashes if counted.is_complete else ()
        state = view.commit_at(f"{COMMIT_URI}{hashes[-1]}") if hashes else None
        found = [] if state is None else [PlaceChange(state, choose_section(view, state, ()))]
    if not found:
        return None
    count = count_commits(len(found), is_limited=is_limited)
    note = (
        f"{count} that added lines with {name}, oldest first, found in the indexed texts of commits"
    )
    others = len(added) - len(found)
    if added and others:
        count = count_commits(others, is_limited=is_limited)
        note += f"; {count} that added it only to {_LEFT_OUT[kind]} are left out"
    return NameChanges(found, (note,))


def _find_kind(change: PlaceChange) -> PlaceKind:
    return kind_of_place(change.section.label)


def find_last_uses(view: CommitView, name: str) -> list[PlaceChange]:
    """Return the commits that removed lines with a name, newest first.

    Only the first file in which a commit changed such lines is considered. The commit counts if it
    added none there. The list is empty if the newest commit that changed such lines does not count.
    """
    states = view.newest_first(states_with(view, name))[:_MAX_TEXTS]
    changes = _text_changes(view, name, states, oldest_first=False)
    last = next(changes, None)
    if last is None or not _removes(last):
        return []
    # Earlier commits only complement the answer, so fewer of them are read.
    earlier = _text_changes(view, name, states[1:_MAX_EARLIER_TEXTS], oldest_first=False)
    others = (one for one in earlier if _removes(one) and one.state is not last.state)
    return [last, *islice(others, _MAX_EARLIER)]


def _removes(change: PlaceChange) -> bool:
    return change.lines[0].startswith("-")


def _text_changes(
    view: CommitView, name: str, states: Sequence[FileState], *, oldest_first: bool
) -> Iterator[PlaceChange]:
    """Yield the commits that changed lines with a name, in the given order.

    Each change contains one file, and one changed line with the name: the first added line, or the
    first removed line if none was added. The file is the first one with such a line. With
    `oldest_first`, it is the first such file of the most relevant kind.
    """
    pattern = name_pattern(name)
    for state in states:
        text = view.index.text(state.id).split("\n")
        changed = (
            PlaceChange(state, section, lines)
            for section in view.read_sections(state)
            if section.label != COMMIT_MESSAGE
            and (lines := _changed_lines(text[section.start_line : section.end_line], pattern))
        )
        first = min(changed, key=_find_kind, default=None) if oldest_first else next(changed, None)
        if first is not None:
            yield first


def _changed_lines(lines: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """Return the first added line with a name, or else the first removed one."""
    found = [line for line in lines if line[:1] in ("+", "-") and pattern.search(line)]
    return sorted(found, key=lambda line: line[:1])[:1]
