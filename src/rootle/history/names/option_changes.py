"""Find the commits that added or removed a command-line option, from the indexed texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import NameChanges, count_commits, states_with
from rootle.history.names.place_changes import PlaceChange
from rootle.search.symbols.place_kinds import PlaceKind, kind_of_place
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.text.whole_names import name_pattern
from rootle.types import COMMIT_MESSAGE

_MAX_TEXTS: Final = 600  # commits whose texts are read
_MAX_EARLIER: Final = 10
# Many libraries declare the option --dry-run as "dry-run". A name without a hyphen is often the key
# of something else, so this line or the one before must have a word for options.
_DECLARES: Final = re.compile(
    r"option|flag|\barg(?:ument)?s?\b|\blong\b|switch|param"
    r"|\b(?:bool|string|int|float|duration|counter?)(?:slice|array)?(?:var)?p?\(",
    re.IGNORECASE,
)
_SCRIPTS: Final = ("bash", "powershell")  # they rather use options of other programs


class _Level(IntEnum):
    """The kinds of files in which an option occurs; those that can define it come first."""

    PROGRAM = 0
    CONFIGURATION = 1
    DOCUMENT = 2
    OTHER = 3  # tests, example projects, copies of other projects and generated files


_LEFT_OUT: Final = {
    _Level.PROGRAM: "scripts, configuration, documents, tests, example projects or copies",
    _Level.CONFIGURATION: "documents, tests, example projects or copies",
    _Level.DOCUMENT: "tests, example projects or copies",
}


@dataclass(frozen=True, slots=True)
class _OptionChange:
    """The changes of a commit to the lines with an option in files of one level."""

    place: PlaceChange
    level: _Level
    added: int
    removed: int


def find_option_additions(view: CommitView, name: str) -> NameChanges | None:
    """Return the commits that added lines with an option, oldest first; None if none are known.

    Only the commits that added it to the program itself are returned, or else those that added it
    to configuration, documents or other files.
    """
    changes, is_limited = _read_changes(view, name)
    added = [one for one in reversed(changes) if one.added > one.removed]
    if not added:
        return None
    level = min(one.level for one in added)
    found = [one.place for one in added if one.level == level]
    count = count_commits(len(found), is_limited=is_limited)
    note = (
        f"{count} that added lines with {name}, oldest first, found in the indexed texts of commits"
    )
    others = len({one.place.state.id for one in added} - {one.state.id for one in found})
    if others:
        count = count_commits(others, is_limited=is_limited)
        note += f"; {count} that added it only to {_LEFT_OUT[level]} are left out"
    return NameChanges(found, (note,))


def find_option_removals(view: CommitView, name: str) -> list[PlaceChange]:
    """Return the commits that removed lines with an option from the program, newest first.

    If some of the lines contain only the option, in quotes, the others do not count: they may be
    messages that name it. The list is empty if the program still has such lines, or if this is not
    known.
    """
    changes, is_limited = _read_changes(view, name, only_quoted=True)
    if not any(one.level == _Level.PROGRAM for one in changes):
        changes, is_limited = _read_changes(view, name)
    own = [one for one in changes if one.level == _Level.PROGRAM]
    has_more = sum(one.added - one.removed for one in own) > 0
    if is_limited or has_more or not own or own[0].added >= own[0].removed:
        return []
    return [one.place for one in own if one.removed > one.added][: _MAX_EARLIER + 1]


def _read_changes(
    view: CommitView, name: str, *, only_quoted: bool = False
) -> tuple[list[_OptionChange], bool]:
    """Return the changes of lines with an option, newest first, and whether not all were read.

    With `only_quoted`, only lines count in which the option is a whole quoted text.
    """
    states = view.newest_first(states_with(view, name))
    plain = re.escape(name.removeprefix("--"))
    quoted = re.compile(rf"([\"'`])(?:--)?{plain}\1")
    dashed = None if only_quoted else name_pattern(name)
    found: list[_OptionChange] = []
    for state in states[:_MAX_TEXTS]:
        text = view.index.text(state.id).split("\n")
        by_level: dict[_Level, _OptionChange] = {}
        for section in view.read_sections(state):
            lines = text[section.start_line : section.end_line]
            changed = list(_select_changed(lines, dashed, quoted))
            if section.label == COMMIT_MESSAGE or not changed:
                continue
            added = sum(line.startswith("+") for line in changed)
            level = _find_level(section.label)
            before = by_level.get(level)
            place = PlaceChange(state, section, sorted(changed, key=lambda line: line[:1])[:1])
            by_level[level] = _OptionChange(
                before.place if before is not None else place,
                level,
                added + (before.added if before is not None else 0),
                len(changed) - added + (before.removed if before is not None else 0),
            )
        found += by_level.values()
    return found, len(states) > _MAX_TEXTS


def _select_changed(
    lines: Sequence[str], dashed: re.Pattern[str] | None, quoted: re.Pattern[str]
) -> Iterator[str]:
    """Yield the changed lines with an option. A line with "--" before its name always counts."""
    before = ""
    for line in lines:
        if line[:1] in ("+", "-"):
            found = quoted.search(line)
            is_distinct = found is not None and "-" in found[0]
            if (dashed is not None and dashed.search(line)) or (
                found and (is_distinct or _DECLARES.search(f"{before} {line}"))
            ):
                yield line
        before = line


def _find_level(path: str) -> _Level:
    kind, language = kind_of_place(path), file_language(path)
    if kind == PlaceKind.CODE:
        is_program = language in CODE_EXTENSIONS and language not in _SCRIPTS
        return _Level.PROGRAM if is_program else _Level.CONFIGURATION
    return _Level.DOCUMENT if kind == PlaceKind.DOCUMENT else _Level.OTHER
