"""Find the commits that added, removed or deprecated a command-line option, from their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Final

from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import NameChanges, count_commits, states_with
from rootle.history.names.name_questions import NameHistoryQuestion
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
_DEPRECATED: Final = "deprec"
# The text before an option that replaces the deprecated one, as in "deprecated, use --new".
_REPLACING: Final = re.compile(r"\b(?:use|for|of|by|with|to)\s[`'\"]?$", re.IGNORECASE)
_MAX_REPLACING: Final = 8  # characters
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


_SelectLines = Callable[[Sequence[str]], Iterable[str]]  # selects changed lines of one file


def find_option_changes(view: CommitView, question: NameHistoryQuestion) -> NameChanges | None:
    """Return the commits that added or deprecated an option, oldest first; None if none are known.

    These are the commits that added lines with the option, or lines that say that it is deprecated.
    Only the commits that added such lines to the program itself are returned, or else those that
    added them to configuration, documents or other files.
    """
    name = question.name
    if question.asked == "deprecation":
        select = partial(_select_deprecated, name)
        changes, is_limited = _read_changes(view, f"{name} {_DEPRECATED}", select)
        what = f"{name} that say that it is deprecated"
    else:
        changes, is_limited = _read_changes(view, name, partial(_select_changed, name))
        what = name
    added = [one for one in reversed(changes) if one.added > one.removed]
    if not added:
        return None
    level = min(one.level for one in added)
    found = [one.place for one in added if one.level == level]
    count = count_commits(len(found), is_limited=is_limited)
    note = (
        f"{count} that added lines with {what}, oldest first, found in the indexed texts of commits"
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
    select = partial(_select_changed, name)
    changes, is_limited = _read_changes(view, name, partial(select, only_quoted=True))
    if not any(one.level == _Level.PROGRAM for one in changes):
        changes, is_limited = _read_changes(view, name, select)
    own = [one for one in changes if one.level == _Level.PROGRAM]
    has_more = sum(one.added - one.removed for one in own) > 0
    if is_limited or has_more or not own or own[0].added >= own[0].removed:
        return []
    return [one.place for one in own if one.removed > one.added][: _MAX_EARLIER + 1]


def _read_changes(
    view: CommitView, words: str, select: _SelectLines
) -> tuple[list[_OptionChange], bool]:
    """Return the changes of the selected lines, newest first, and whether not all were read.

    Only commits whose texts contain the words are read.
    """
    states = view.newest_first(states_with(view, words))
    found: list[_OptionChange] = []
    for state in states[:_MAX_TEXTS]:
        text = view.index.text(state.id).split("\n")
        by_level: dict[_Level, _OptionChange] = {}
        for section in view.read_sections(state):
            lines = text[section.start_line : section.end_line]
            changed = list(select(lines))
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


def _select_changed(name: str, lines: Sequence[str], *, only_quoted: bool = False) -> Iterator[str]:
    """Yield the changed lines with an option. A line with "--" before its name always counts.

    With `only_quoted`, only lines count in which the option is a whole quoted text.
    """
    quoted = _quoted_pattern(name)
    dashed = None if only_quoted else name_pattern(name)
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


def _select_deprecated(name: str, lines: Sequence[str]) -> Iterator[str]:
    """Yield the changed lines that contain an option and say that it is deprecated."""
    quoted, dashed = _quoted_pattern(name), name_pattern(name)
    for line in lines:
        if line[:1] in ("+", "-") and _DEPRECATED in line.lower():
            named = dashed.finditer(line)
            if quoted.search(line) or any(not _is_replacing(line, one.start()) for one in named):
                yield line


def _is_replacing(line: str, start: int) -> bool:
    """Return whether the option that begins at `start` is recommended in place of another one."""
    return _REPLACING.search(line, max(0, start - _MAX_REPLACING), start) is not None


def _quoted_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for an option in quotation marks, with or without its dashes."""
    return re.compile(rf"([\"'`])(?:--)?{re.escape(name.removeprefix('--'))}\1")


def _find_level(path: str) -> _Level:
    kind, language = kind_of_place(path), file_language(path)
    if kind == PlaceKind.CODE:
        is_program = language in CODE_EXTENSIONS and language not in _SCRIPTS
        return _Level.PROGRAM if is_program else _Level.CONFIGURATION
    return _Level.DOCUMENT if kind == PlaceKind.DOCUMENT else _Level.OTHER
