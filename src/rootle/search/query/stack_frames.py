"""Find places such as `src/retry.py:42` in the stack traces and compiler messages of a query.

Tests that a query names without such a place are found by `reported_tests.py` in
`search/symbols/covering_tests/`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.rank.frame_functions import read_function

# A text without a digit and without a slash has no frames.
FRAME_MARK: Final = re.compile(r"[\d/]")
_MAX_FRAMES: Final = 12
_MAX_BEFORE: Final = 600  # characters on each side of a place that are searched for its function
_MAX_FILES: Final = 3  # maximum number of files to which one frame may refer
# `src/retry.py:42`, `src/retry.py(42)`, `"src/retry.py", line 42`, `retry.cs:line 42`,
# `retry.php on line 42`, `retry.py#L42`, `Retry.java:[42,7]` and `file=src/retry.py,line=42`.
_FRAME: Final = re.compile(
    r"(?<![\w/\\.])((?:[A-Za-z]:)?[\w./\\@+-]{0,300}(?:\.[A-Za-z]\w{0,9}|(?<![\w.])[A-Z][a-z]{2,10}file))"
    r"(?:[\"']?,? (?:on |at )?line |:line |: line |,line=|#L|:\[?|\()(\d{1,7})\b"
)
# In `at org.example.Parser.run(Parser.java:42)`, the package is a part of the path.
_JAVA: Final = re.compile(r"\bat ((?:[a-z]\w{0,60}\.){1,20})[\w$.<>]{1,200}\((\w{1,100}\.\w{1,9}):")
_PATH: Final = re.compile(r"[\w.@+/-]{1,300}\.[A-Za-z]\w{0,9}")
# A path on a line of its own, and the rows with line numbers that follow it, as eslint, PHPStan
# and `rg --heading` print them.
_HEADING: Final = re.compile(
    r"\s*(?:Line\s+)?((?:[A-Za-z]:)?[\w.@+/\\-]{1,300}\.[A-Za-z]\w{0,9})\s*"
)
_ROW: Final = re.compile(r"\s*:?(\d{1,7})(?::\d{1,7})?(?:[\s:|]|$)")
# A compiler first names the files that include the file with the error.
_INCLUDED: Final = re.compile(r"(?:In file included\s+)?from\b")
# Python and pytest print the innermost frame last.
_INNERMOST_LAST: Final = re.compile(r"Traceback \(most recent call last\)|^E   ", re.MULTILINE)
# Files below these folders belong to a language or to a package that is not a part of the project.
# In `go/src/github.com/…`, a project can be checked out.
_OUTSIDE: Final = re.compile(
    r"^.*(?:^|/)(?:python\d[\d.]*|site-packages|dist-packages|node_modules|rustc|go/src(?!/[\w-]+\.[\w.]+/)|pkg/mod"
    r"|registry/src|gems|vendor/bundle)/"
)


@dataclass(frozen=True, slots=True)
class Frames:
    """The lines to which the frames in a text refer, for each file id, innermost frame first."""

    lines: Mapping[int, list[int]]
    # The lines in files whose name matches a frame, but whose folders do not.
    doubtful: Mapping[int, list[int]]


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a file, and the function that a frame of a stack trace names for it."""

    path: str
    line: int  # from 1
    owner: str = ""  # the class, the type or the module of the function
    function: str = ""  # "" if it is not known


# Returns the line of the function that a frame names, or None if the line of the frame is in this
# function. The frame's line is outside if the file has changed since the program was built.
LocateFrame = Callable[[FileState, Frame], int | None]


def find_frames(
    text: str, index: IndexReader, allowed: Collection[int] | None, locate: LocateFrame
) -> Frames:
    """Return the lines to which the frames in a text refer, the innermost frame first.

    Python prints the innermost frame last, so the order of its frames is reversed. If the text is
    just a path that contains a slash, return the first line of the file. `locate` is called for
    frames that name a function.
    """
    certain: dict[int, list[int]] = {}
    doubtful: dict[int, list[int]] = {}
    places = [(_split_path(frame.path), frame) for frame in _innermost_first(text)]
    named = _files_by_name({parts[-1] for (parts, _), _ in places if parts}, index)
    for (parts, is_outside), frame in places:
        states, is_certain = _match_files(parts, named, is_outside=is_outside)
        for state in states:
            if allowed is not None and state.id not in allowed:
                continue
            line = locate(state, frame) if frame.function else None
            line = frame.line if line is None else line
            found = (certain if is_certain else doubtful).setdefault(state.id, [])
            if line <= _last_line(state, index) and line not in found:
                found.append(line)
    certain = {at: lines for at, lines in certain.items() if lines}
    doubtful = {at: lines for at, lines in doubtful.items() if lines}
    return Frames(certain, {at: lines for at, lines in doubtful.items() if at not in certain})


def find_files(path: str, index: IndexReader) -> tuple[list[FileState], bool]:
    """Return at most three files for a path from another machine, and whether the match is certain.

    The match is not certain if the path has folders, but none of them matches.
    """
    parts, is_outside = _split_path(path.replace("\\", "/"))
    named = _files_by_name(parts[-1:], index)
    return _match_files(parts, named, is_outside=is_outside)


def _innermost_first(text: str) -> list[Frame]:
    if _PATH.fullmatch(text.strip()):
        return [Frame(text.strip(), 1)] if "/" in text else []
    packages = {match[2]: match[1].replace(".", "/") for match in _JAVA.finditer(text)}
    frames: list[Frame] = []
    including: list[Frame] = []
    for match in _FRAME.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        before = text[start : match.start()]
        is_including = _INCLUDED.match(before.strip()) is not None
        path = packages.get(match[1], "") + match[1].replace("\\", "/")
        owner, function = read_function(
            before[-_MAX_BEFORE:],
            text[match.end() : match.end() + _MAX_BEFORE].partition("\n")[0],
            text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)],
        )
        frame = Frame(path, int(match[2]), owner, function)
        (including if is_including else frames).append(frame)
    if _INNERMOST_LAST.search(text):
        frames.reverse()
    places = [*frames, *_read_rows(text), *including]
    return [frame for frame in dict.fromkeys(places) if frame.line][:_MAX_FRAMES]


def _read_rows(text: str) -> Iterator[Frame]:
    """Yield the places in the rows that follow a path on a line of its own."""
    path = ""
    for line in text.split("\n"):
        if heading := _HEADING.fullmatch(line):
            path = heading[1].replace("\\", "/")
        elif not line.strip():
            path = ""
        elif path and (row := _ROW.match(line)):
            yield Frame(path, int(row[1]))


def _split_path(path: str) -> tuple[list[str], bool]:
    """Return the parts of a path, and whether it is below a folder of a language or of packages.

    If it is, return only the parts below this folder.
    """
    outside = _OUTSIDE.match(path)
    rest = path[outside.end() :] if outside else path
    parts = [part for part in rest.split("/") if part not in ("", ".", "..")]
    return parts, outside is not None


def _files_by_name(names: Collection[str], index: IndexReader) -> Mapping[str, list[FileState]]:
    found: defaultdict[str, list[FileState]] = defaultdict(list)
    for state in index.files_with_endings(sorted(names)) if names else ():
        if state.skip is None:
            found[state.path.rpartition("/")[2]].append(state)
    return found


def _match_files(
    parts: Sequence[str], named: Mapping[str, list[FileState]], *, is_outside: bool
) -> tuple[list[FileState], bool]:
    """Return the files that share the most folders with a path, and whether the match is certain.

    Return no files if too many of them match equally well. The match is certain if the path is just
    a file name, or if a folder matches too. Paths below a folder of packages must match fully.
    """
    found = named.get(parts[-1], []) if parts else []
    shared = [_count_shared(state.path.split("/"), parts) for state in found]
    most = max(shared, default=0)
    if is_outside and (most < len(parts) or most == 1):
        return [], False
    best = [state for state, count in zip(found, shared, strict=True) if count == most]
    return best if len(best) <= _MAX_FILES else [], most > 1 or len(parts) == 1


def _last_line(state: FileState, index: IndexReader) -> int:
    rows = index.list_chunks(state.id)
    return rows[-1].end_line if rows else 0


def _count_shared(path: Sequence[str], wanted: Sequence[str]) -> int:
    count = 0
    for mine, other in zip(reversed(path), reversed(wanted), strict=False):
        if mine != other:
            break
        count += 1
    return count
