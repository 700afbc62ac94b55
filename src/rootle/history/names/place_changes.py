"""The commits that changed the lines of a definition or a file, and the text that shows this."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.history.commit_results import single_result
from rootle.history.commit_view import CommitView
from rootle.index.reader import FileState
from rootle.text.hunk_range import extend_range
from rootle.text.whole_names import name_pattern
from rootle.types import COMMIT_MESSAGE, COMMIT_URI, RENAMED_TO, DocumentSection, SearchResult

# For a changed method, the index of commits contains the name of the method, not of the class.
_CONTAINERS: Final = frozenset("class interface trait module namespace object protocol".split())
_SHOWN_LINES: Final = 8
_WORDS: Final = re.compile(r"[\w$]+")


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """The definitions or files that a question names, and the commits that changed them."""

    paths: tuple[str, ...]  # relative to the root; the path of a folder ends in "/"
    where: str  # names the lines or files in a note
    kinds: frozenset[str]  # the kinds of the definitions, as in `Symbol.kind`; empty for files
    # The hashes of the commits that changed the lines or files, newest first, each with the first
    # changed lines. None if git cannot list them.
    commits: Mapping[str, Sequence[str]] | None
    merges: frozenset[str] = frozenset()  # the hashes of the merges among them
    note: str = ""  # why older commits may be missing
    # Whether all definitions are in tests or example projects, but other files use the name. An
    # example is a setting that the code reads by its name.
    is_used_elsewhere: bool = False
    exists: bool = True  # False if no indexed file has the path; the file may have been removed
    # The names of the definitions that directly enclose the definitions; "" at the top level.
    scopes: frozenset[str] = frozenset()

    @property
    def is_file(self) -> bool:
        """Whether the question names files instead of definitions."""
        return not self.kinds

    def describe(self, name: str) -> str:
        """Return a name from a question, and the lines or files that it means."""
        if self.is_file and name.endswith("/") and self.paths != (name,):
            return self.where  # the name is a plain word that means these files
        is_whole = self.where.rstrip("/") == name.removeprefix("./").rstrip("/")
        return name if is_whole else f"{name} ({self.where})"

    @property
    def has_members(self) -> bool:
        """Whether a definition contains others, as a class does."""
        return not _CONTAINERS.isdisjoint(self.kinds)


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """A commit that changed a place, with the part of its text that shows the change."""

    state: FileState  # the commit in the index
    section: DocumentSection
    lines: Sequence[str] = ()  # the first changed lines, each with "+" or "-", if they are known


def changes_by_lines(view: CommitView, place: ChangedPlace) -> list[PlaceChange]:
    """Return the indexed commits that changed the lines of a place, newest first.

    git also lists a merge that differs from each of its parents. Usually, each parent only lacks
    the changes of the others. Such a merge is left out unless it changed lines itself.
    """
    found = {}
    for sha, lines in (place.commits or {}).items():
        state = view.commit_at(f"{COMMIT_URI}{sha}")
        if state is not None:
            found[state] = lines
    paths = set(add_old_paths(list_renames(view), place.paths))
    changes = (
        PlaceChange(state, choose_section(view, state, paths), found[state])
        for state in view.newest_first(found)
    )
    return [
        change
        for change in changes
        if change.state.path.removeprefix(COMMIT_URI) not in place.merges
        or _has_own_lines(view, change)
    ]


def _has_own_lines(view: CommitView, change: PlaceChange) -> bool:
    """Return whether the section of a change is about a file in which lines changed."""
    section = change.section
    lines = view.index.text(change.state.id).split("\n")[section.start_line - 1 : section.end_line]
    return section.label != COMMIT_MESSAGE and any(line[:1] in ("+", "-") for line in lines[1:])


def choose_section(view: CommitView, state: FileState, paths: Collection[str]) -> DocumentSection:
    """Return the section of a commit about one of the paths, or that of its message."""
    sections = view.read_sections(state)
    folders = tuple(path for path in paths if path.endswith("/"))
    own = (one for one in sections[1:] if one.label in paths or one.label.startswith(folders))
    return next(own, sections[0])


def list_renames(view: CommitView) -> Mapping[str, set[str]]:
    """Map the new path of each renamed file to its old paths."""
    found: dict[str, set[str]] = defaultdict(set)
    for _, section in view.index.sections_titled(RENAMED_TO):
        old = view.relative_label(section.label)
        new = view.relative_label(section.title.removeprefix(RENAMED_TO))
        if old is not None and new is not None:
            found[new].add(old)
    return found


def add_old_paths(renames: Mapping[str, set[str]], paths: Iterable[str]) -> Iterator[str]:
    """Yield paths, and the earlier paths of the same files."""
    todo, seen = list(paths), set(paths)
    while todo:
        path = todo.pop()
        yield path
        todo += renames.get(path, set()) - seen
        seen.update(todo)


def result_of_change(view: CommitView, change: PlaceChange, name: str) -> SearchResult:
    """Return the result for a commit, with the lines that changed a definition."""
    state, section = change.state, change.section
    lines = view.index.text(state.id).split("\n")[section.start_line - 1 : section.end_line]
    at = _find_line(lines, change.lines, name)
    first, last = extend_range(lines, at, min(at + _SHOWN_LINES, len(lines)) - 1)
    snippet = "\n".join(lines[first : last + 1])
    if view.folder:
        snippet = snippet.replace(f"{view.folder}{section.label}", section.label, 1)
    return replace(
        single_result(view, state),
        start_line=section.start_line + first,
        end_line=section.start_line + last,
        snippet=snippet,
        place=section.label,
    )


def _find_line(lines: Sequence[str], changed: Sequence[str], name: str) -> int:
    """Return the index of the first changed line of a section, or of a line with a name, or 0."""
    # A short line such as "+    end" may occur in another definition too.
    for line in sorted(changed, key=lambda line: -min(len(line), _SHOWN_LINES)):
        if line[1:].strip() and line in lines:
            return lines.index(line)
    word = name_pattern(last_word(name))
    return next((at for at, line in enumerate(lines) if at and word.search(line)), 0)


def last_word(text: str) -> str:
    """Return the last word of a qualified name."""
    return "".join(_WORDS.findall(text)[-1:])
