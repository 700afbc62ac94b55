"""Find places such as `src/retry.py:42` in a query: frames of a stack trace, compiler messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from rootle.index.reader import FileState, IndexReader

_MAX_FRAMES: Final = 12
_MAX_FILES: Final = 3  # files that one frame may mean
# `src/retry.py:42`, `src/retry.py(42)`, `"src/retry.py", line 42` and `retry.cs:line 42`.
_FRAME: Final = re.compile(
    r"(?<![\w/\\.])((?:[A-Za-z]:)?[\w./\\@+-]{1,300}\.[A-Za-z]\w{0,9})"
    r"(?:\"?, line |:line |:|\()(\d{1,7})\b"
)
# In `at org.example.Parser.run(Parser.java:42)`, the package is a part of the path.
_JAVA: Final = re.compile(r"\bat ((?:[a-z]\w{0,60}\.){1,20})[\w$.<>]{1,200}\((\w{1,100}\.\w{1,9}):")


def find_frames(
    text: str, index: IndexReader, allowed: Collection[int] | None
) -> Mapping[int, list[int]]:
    """Return the lines of the places in a text, by file id, in the order of the text.

    Python prints the innermost frame last; its frames are returned in the opposite order.
    """
    lines: dict[int, list[int]] = {}
    for path, line in _innermost_first(text):
        for state in _find_files(path, index):
            is_allowed = allowed is None or state.id in allowed
            if state.skip is None and is_allowed and line <= index.text(state.id).count("\n") + 1:
                lines.setdefault(state.id, []).append(line)
    return lines


def _innermost_first(text: str) -> list[tuple[str, int]]:
    packages = {match[2]: match[1].replace(".", "/") for match in _JAVA.finditer(text)}
    frames = [
        (packages.get(match[1], "") + match[1].replace("\\", "/"), int(match[2]))
        for match in _FRAME.finditer(text)
    ]
    if "Traceback (most recent call last)" in text:
        frames.reverse()
    return frames[:_MAX_FRAMES]


def _find_files(path: str, index: IndexReader) -> list[FileState]:
    """Return the files that have the most folders in common with a path; none if too many do."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    found = list(_with_name(parts[-1], index))
    shared = [_count_shared(state.path.split("/"), parts) for state in found]
    most = max(shared, default=0)
    best = [state for state, count in zip(found, shared, strict=True) if count == most]
    return best if len(best) <= _MAX_FILES else []


def _with_name(name: str, index: IndexReader) -> Iterator[FileState]:
    for state in index.files_with_endings([name]):
        if state.path == name or state.path.endswith(f"/{name}"):
            yield state


def _count_shared(path: list[str], wanted: list[str]) -> int:
    count = 0
    for mine, other in zip(reversed(path), reversed(wanted), strict=False):
        if mine != other:
            break
        count += 1
    return count
