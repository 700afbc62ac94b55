"""Find the commits that renamed a definition or a file, if a question gives both names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rootle.history.changes.change_words import Action, find_actions
from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import NameChanges, count_commits, states_with
from rootle.history.names.place_changes import PlaceChange, last_word
from rootle.index.reader import FileState
from rootle.search.symbols.place_kinds import PlaceKind, kind_of_place
from rootle.text.declared_names import find_declared_names, find_declared_types
from rootle.text.whole_names import name_pattern
from rootle.types import COMMIT_MESSAGE, COMMIT_URI, RENAMED_TO, DocumentSection

_MAX_TEXTS: Final = 600  # commits whose texts are read
_MAX_PATCHES: Final = 8  # commits whose whole patches are read with git
ReadPatch = Callable[[str], Mapping[str, Sequence[str]]]  # as `CommitUpdates.read_patch`
# Declarations other than those of functions and classes.
_DECLARATION: Final = re.compile(r"\b(?:type|const|let|var|val|static|struct|enum)\s+([\w$]+)")


def select_renames_to(changes: Sequence[PlaceChange], name: str) -> list[PlaceChange]:
    """Return those commits that renamed a file to a path that ends in `name` or is below it."""
    wanted = name.removeprefix("./").rstrip("/")
    titles = ((change, change.section.title.removeprefix(RENAMED_TO)) for change in changes)
    return [
        change
        for change, title in titles
        if f"/{title}".endswith(f"/{wanted}") or f"/{wanted}/" in f"/{title}"
    ]


def find_renames(
    view: CommitView, old: str, new: str, removals: Sequence[PlaceChange], read_patch: ReadPatch
) -> NameChanges | None:
    """Return the commits that renamed a definition, those with the most lines first.

    Commits whose messages say that they renamed something precede all others.

    A commit counts if it replaced a declaration of the old name in a file by one of the new name.
    It also counts if it replaced the name in code, and a line of its message contains both names.
    If the indexed texts show this for no commit, the commits in `removals`, which removed the old
    name, are read with git. Return None if no commit counts.
    """
    search = _RenameSearch(view, last_word(old), last_word(new))
    with_new = {state.id for state in states_with(view, search.new)}
    both = [state for state in states_with(view, search.old) if state.id in with_new]
    states = view.newest_first(both)[:_MAX_TEXTS]
    found = [one for one in map(search.find_in, states) if one is not None]
    if not found:
        patches = ((one, read_patch(_hash(one.state))) for one in removals[:_MAX_PATCHES])
        found = [one for one, patch in patches if search.is_in(patch)]
    if not found:
        return None
    found.sort(key=lambda change: (not _says_rename(change.state.title), -len(change.lines)))
    order = ", those with the most replaced lines first" if len(found) > 1 else ""
    note = f"{count_commits(len(found))} that renamed {old} to {new}{order}"
    return NameChanges(found, (note,))


def _hash(state: FileState) -> str:
    return state.path.removeprefix(COMMIT_URI)


class _RenameSearch:
    """Finds replaced names in the texts of commits."""

    def __init__(self, view: CommitView, old: str, new: str) -> None:
        self.old, self.new = old, new
        self._view = view
        self._old, self._new = name_pattern(old), name_pattern(new)

    def find_in(self, state: FileState) -> PlaceChange | None:
        """Return a commit with the lines in which it replaced the name; None if it did not."""
        text = self._view.index.text(state.id).split("\n")
        renamed: list[tuple[DocumentSection, list[str]]] = []
        replaced: list[tuple[DocumentSection, list[str]]] = []
        is_stated = False
        for section in self._view.read_sections(state):
            lines = text[section.start_line - 1 : section.end_line]
            if section.label == COMMIT_MESSAGE:
                is_stated = any(self._old.search(one) and self._new.search(one) for one in lines)
            elif kind_of_place(section.label) is PlaceKind.CODE:
                declared, others = self._find_declarations(lines[1:]), self._find_lines(lines[1:])
                if declared:
                    renamed.append((section, declared))
                if others:
                    replaced.append((section, others))
        found = [*renamed, *replaced] if renamed or is_stated else []
        lines = [line for _, lines in found for line in lines]
        return PlaceChange(state, found[0][0], lines) if found else None

    def is_in(self, patch: Mapping[str, Sequence[str]]) -> bool:
        """Return whether the whole patch of a commit replaced the declaration in a file of code."""
        code = (path for path in patch if kind_of_place(path) is PlaceKind.CODE)
        return any(self._find_declarations(patch[path]) for path in code)

    def _find_lines(self, lines: Sequence[str]) -> list[str]:
        """Return the added lines that differ from a removed one only by the new name."""
        removed = (line[1:].strip() for line in lines if line[:1] == "-")
        wanted = {
            self._old.sub(lambda _: self.new, one) for one in removed if self._old.search(one)
        }
        added = (line for line in lines if line[:1] == "+" and self._new.search(line))
        return [line for line in added if line[1:].strip() in wanted]

    def _find_declarations(self, lines: Sequence[str]) -> list[str]:
        """Return the added declaration of the new name if that of the old one was removed."""
        old = [line for line in lines if self._old.search(line) and _declares(line, self.old)]
        new = [line for line in lines if self._new.search(line) and _declares(line, self.new)]
        if {line[:1] for line in new} != {"+"}:
            return []
        if {line[:1] for line in old} == {"-"}:
            return new[:1]
        # The old name is also declared again, for example as an alias.
        replaced = self._find_lines(lines)
        return [line for line in new if line in replaced][:1]


def _says_rename(subject: str) -> bool:
    """Return whether the first word for a change in a message says that something was renamed."""
    return [action for action, _, _ in find_actions(subject)[:1]] == [Action.RENAME]


def _declares(line: str, name: str) -> bool:
    text = line[1:].strip()
    declared = find_declared_names(text) | find_declared_types(text)
    return name in declared or name in _DECLARATION.findall(text)
