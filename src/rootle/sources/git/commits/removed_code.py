"""Find the code that a commit removed: whole definitions, and other lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.sources.git.commits.changed_names import find_removed_names
from rootle.sources.git.commits.commit_document import hidden_reason
from rootle.sources.git.commits.definition_lines import defined_name, defined_names
from rootle.sources.git.commits.patch_parsing import CommitPatch, FileChange, Hunk
from rootle.text.definition_head import indentation

# The maximum number of blocks of removed code per commit, including those of a deleted component.
MAX_BLOCKS: Final = 5_000
# Maximum number of lines of one definition, including the comment above it.
_MAX_LINES: Final = 200
_MAX_COMMENT_LINES: Final = 20
# Lines with fewer letters and digits, such as "}" and "else:", occur everywhere.
_MIN_SIGNIFICANT_CHARS: Final = 6
# If a smaller share of a definition was removed, it counts as renamed or changed.
_MIN_REMOVED_SHARE: Final = 0.5
# If at least this share of removed code was added elsewhere in the commit, it counts as moved.
_MOVED_SHARE: Final = 0.6
_COMMENT: Final = re.compile(r"""\s*(?:#|//|/\*|\*|--|%|;|'|@|\[|"{3}|<!--)""")
# Lines at the indentation of a definition that do not end it.
_CLOSING: Final = re.compile(r"\s*(?:[)\]}>|{]|end\b|else\b|[A-Za-z_]\w*:\s*$|#)")
# A definition that can contain other definitions.
_CONTAINER: Final = re.compile(
    r"(?:[\w@]+\s+){0,6}(?:class|struct|union|trait|interface|module|namespace|defmodule|protocol"
    r"|extension|object|record|impl|enum|actor)\b"
)


@dataclass(frozen=True, slots=True)
class RemovedCode:
    """Lines that a commit removed from one place in a file."""

    path: str  # the path before the commit
    name: str  # the name of the removed definition; "" if only lines of a definition were removed
    scope: str  # the definition that enclosed the lines; "" if unknown
    start_line: int  # the number of the first line in the old file, from 1
    lines: tuple[str, ...]


class _OldLine(NamedTuple):
    number: int  # the line number in the old file
    text: str
    is_removed: bool
    name: str  # the name that the line defines; "" for most lines


def find_removed_code(commit: CommitPatch) -> tuple[RemovedCode, ...]:
    """Return the code that a commit removed and did not add elsewhere, hunk by hunk.

    In each hunk, whole definitions precede other lines. Code is left out if the content of its file
    is not indexed, unless the commit moved the file to a folder with copies of other projects.
    """
    changes = (*commit.changes, *commit.moved_out)
    visible = [change for change in changes if not hidden_reason(change)]
    added = {
        _normalize(line)
        for change in visible
        for hunk in change.hunks
        for line in hunk.lines
        if line.startswith("+")
    }
    found: list[RemovedCode] = []
    for change in visible:
        found += (block for block in _find_in(change) if not _is_moved(block, added))
        if len(found) >= MAX_BLOCKS:
            break
    return tuple(found[:MAX_BLOCKS])


def significant_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that are likely to occur only once, with all white space removed."""
    normalized = map(_normalize, lines)
    return [line for line in normalized if _count_letters(line) >= _MIN_SIGNIFICANT_CHARS]


def _normalize(line: str) -> str:
    return "".join(line.lstrip("+").split())


def _count_letters(line: str) -> int:
    return sum(map(str.isalnum, line))


def _is_moved(block: RemovedCode, added: set[str]) -> bool:
    lines = significant_lines(block.lines)
    if not lines:
        return not block.name
    return sum(line in added for line in lines) >= _MOVED_SHARE * len(lines)


def _find_in(change: FileChange) -> Iterator[RemovedCode]:
    path = change.old_path
    names = set(find_removed_names(change.hunks, path))
    for hunk in change.hunks:
        lines = _old_lines(hunk, path)
        covered: set[int] = set()
        for at, line in enumerate(lines):
            if not line.is_removed or line.name not in names:
                continue
            start, end = _comment_start(lines, at), _definition_end(lines, at)
            removed = [one for one in lines[start:end] if one.is_removed]
            is_renamed = at + 1 < end and not lines[at + 1].is_removed
            if is_renamed or len(removed) < _MIN_REMOVED_SHARE * (end - start):
                continue  # the line becomes part of a run of removed lines
            covered.update(range(start, end))
            scope = _scope(lines, at, defined_name(_container(hunk.heading), path))
            yield _make(change, line.name, scope, removed)
        yield from _find_runs(change, hunk, lines, covered)


def _find_runs(
    change: FileChange, hunk: Hunk, lines: Sequence[_OldLine], covered: set[int]
) -> Iterator[RemovedCode]:
    """Yield the runs of removed lines outside of removed definitions."""
    run: list[_OldLine] = []
    start = 0
    heading = defined_name(hunk.heading, change.old_path)
    for at, line in enumerate((*lines, _OldLine(0, "", False, ""))):
        if line.is_removed and at not in covered:
            if not run:
                start = at
            run.append(line)
        elif run:
            yield _make(change, "", _scope(lines, start, heading), run)
            run = []


def _make(change: FileChange, name: str, scope: str, lines: Sequence[_OldLine]) -> RemovedCode:
    texts = tuple(line.text for line in lines[:_MAX_LINES])
    return RemovedCode(change.old_path, name, scope, lines[0].number, texts)


def _old_lines(hunk: Hunk, path: str) -> list[_OldLine]:
    lines = [line for line in hunk.lines if not line.startswith("+")]
    names = defined_names([line[1:] for line in lines], path)
    return [
        _OldLine(number, line[1:], line.startswith("-"), name)
        for number, (line, name) in enumerate(zip(lines, names, strict=True), hunk.old_start_line)
    ]


def _scope(lines: Sequence[_OldLine], at: int, heading: str) -> str:
    """Return the definition that encloses a line; "" if the hunk does not show it.

    `heading` is the name of the definition in the heading of the hunk.
    """
    indent = indentation(lines[at].text)
    for line in reversed(lines[max(0, at - _MAX_LINES) : at]):
        if not indent:
            return ""
        if line.text.strip() and indentation(line.text) < indent:
            if line.name:
                return line.name
            indent = indentation(line.text)
    return heading if indent else ""


def _container(heading: str) -> str:
    """Return the heading of a hunk if it is a definition that can contain others, else "".

    The heading is the last definition that begins before the hunk. If it is a function, definitions
    in the hunk usually follow the function and are rarely nested in it.
    """
    return heading if _CONTAINER.match(heading) else ""


def _comment_start(lines: Sequence[_OldLine], at: int) -> int:
    """Return the index of the first line of the comments and decorators above a definition."""
    start = at
    while start > max(0, at - _MAX_COMMENT_LINES):
        line = lines[start - 1]
        if not line.is_removed or not _COMMENT.match(line.text):
            break
        start -= 1
    return start


def _definition_end(lines: Sequence[_OldLine], at: int) -> int:
    """Return the index after the last line of a definition, judged by the indentation."""
    indent = indentation(lines[at].text)
    end = at + 1
    for number in range(at + 1, min(len(lines), at + _MAX_LINES)):
        text = lines[number].text
        if not text.strip():
            continue
        if indentation(text) <= indent and not _CLOSING.match(text):
            break
        if indentation(text) <= indent and lines[number].is_removed and lines[number].name:
            break
        end = number + 1
    return end
