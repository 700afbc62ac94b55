"""Parse the output of `git diff-tree --raw -p -z` for one commit."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# The fields of the header, each followed by NUL: hash, parents, author, time of commit, message.
FORMAT: Final = "%H%x00%P%x00%an <%ae>%x00%ct%x00%B%x00"
_HEADER_FIELDS: Final = 5
_BLOCK_START: Final = re.compile(rb"^diff --(?:git|cc|combined) ", re.MULTILINE)
_HUNK_START: Final = re.compile(
    rb"^@@+ -(\d+)(?:,\d+)? .*?\+(\d+)(?:,\d+)? @@+ ?(.*)$", re.MULTILINE
)
# A commit from the year 10000 or later has a damaged date.
_LAST_YEAR_S: Final = 253_402_300_799


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive changed lines of one file."""

    heading: str  # the line that git shows as the enclosing definition; "" if there is none
    lines: tuple[str, ...]  # each begins with "+", "-" or a space
    start_line: int  # of the new file, from 1
    old_start_line: int = 1  # of the old file, from 1


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file by a commit."""

    status: str  # A, C, D, M, R or T, as git names them
    path: str  # the new path; for a deleted file, the old one
    old_path: str  # differs from `path` only for a renamed or copied file
    hunks: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitPatch:
    """A commit with its changes."""

    sha: str
    parents: tuple[str, ...]
    author: str  # "Name <address>"
    seconds: int  # Unix time of the commit
    message: str
    changes: tuple[FileChange, ...]
    is_cut: bool  # whether the patch was too long and ends early


def parse_patch(data: bytes, *, is_cut: bool = False) -> CommitPatch | None:
    """Return the commit in the output of git; None if the output is not one."""
    *fields, rest = data.split(b"\0", _HEADER_FIELDS)
    if len(fields) != _HEADER_FIELDS:
        return None
    sha, parents, author, seconds, message = fields
    entries, patch = _split_raw(rest.lstrip(b"\0\n"))
    date = min(int(seconds), _LAST_YEAR_S) if seconds.isdigit() else 0
    return CommitPatch(
        sha.decode("ascii", "replace"),
        tuple(parents.decode("ascii", "replace").split()),
        _decode(author),
        date,
        _decode(message).replace("\r\n", "\n").strip(),
        tuple(_add_hunks(entries, patch)),
        is_cut,
    )


def _split_raw(data: bytes) -> tuple[list[FileChange], bytes]:
    """Return the changed files, and the patch that follows them."""
    changes = []
    while data.startswith(b":"):
        facts, _, data = data.partition(b"\0")
        status = facts.rpartition(b" ")[2][:1].decode("ascii", "replace")
        old, _, data = data.partition(b"\0")
        new = old
        if status in ("R", "C"):
            new, _, data = data.partition(b"\0")
        changes.append(FileChange(status, os.fsdecode(new), os.fsdecode(old)))
    return changes, data.lstrip(b"\0\n")


def _add_hunks(changes: list[FileChange], patch: bytes) -> Iterator[FileChange]:
    """Yield the changed files with their hunks; the patch has one block for each file, in order."""
    starts = [found.start() for found in _BLOCK_START.finditer(patch)]
    if len(starts) > len(changes):  # a line of the patch looks like the start of a block
        starts = []
    ends = [*starts[1:], len(patch)]
    for at, change in enumerate(changes):
        block = patch[starts[at] : ends[at]] if at < len(starts) else b""
        hunks = tuple(_parse_hunks(block))
        yield FileChange(change.status, change.path, change.old_path, hunks)


def _parse_hunks(block: bytes) -> Iterator[Hunk]:
    found = list(_HUNK_START.finditer(block))
    for at, match in enumerate(found, start=1):
        end = found[at].start() if at < len(found) else len(block)
        text = _decode(block[match.end() : end]).strip("\n")
        rows = (row.rstrip("\r") for row in text.split("\n"))
        # Without the note that a file does not end with a newline.
        lines = tuple(row or " " for row in rows if not row.startswith("\\"))
        yield Hunk(_decode(match[3]).strip(), lines, int(match[2]), int(match[1]))


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\0", "")
