"""Parse the output of `git diff-tree --raw -p -z` for one commit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Final

from rootle.sources.git.commit_time import parse_commit_time
from rootle.sources.git.raw_diff import RawChange, split_raw_diff
from rootle.sources.text_codecs import find_charset

# The format of the header of a commit: hash, parents, author, time of commit, message. Each field
# is followed by NUL.
FORMAT: Final = "%H%x00%P%x00%an <%ae>%x00%ct%x00%B%x00"
_HEADER_FIELDS: Final = 5
_BLOCK_START: Final = re.compile(rb"^diff --(?:git|cc|combined) ", re.MULTILINE)
_HUNK_START: Final = re.compile(
    rb"^@(@+) -(\d+)(?:,\d+)? .*?\+(\d+)(?:,\d+)? @@+ ?(.*)$", re.MULTILINE
)
# The author or committer in a commit object: name and address, time, time zone.
_PERSON: Final = re.compile(rb"(.*>) (-?\d+) ?[-+\d]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive changed lines of one file, with the unchanged lines that git shows near them.

    For a merge, only lines that differ from all parents count as changed, and the old line numbers
    are those in the first parent.
    """

    heading: str  # the line that git shows as the enclosing definition; "" if there is none
    lines: tuple[str, ...]  # each begins with "+", "-" or a space
    start_line: int  # the first line in the new file, from 1
    old_start_line: int = 1  # the first line in the old file, from 1
    heading_indent: int = 0  # 0 if git shows headings without indentation for the language


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change that a commit made to one file."""

    status: str  # A, C, D, M, R or T, as git names them
    path: str  # the new path; for a deleted file, the old one
    old_path: str  # differs from `path` only for a renamed or copied file
    hunks: tuple[Hunk, ...] = ()
    is_read: bool = True  # False if the patch does not contain the file, so its lines are unknown


@dataclass(frozen=True, slots=True)
class CommitPatch:
    """A commit with its changes."""

    sha: str
    parents: tuple[str, ...]
    author: str  # "Name <address>"
    seconds: int  # Unix time of the commit
    message: str
    changes: tuple[FileChange, ...]
    is_cut: bool  # whether the patch was too long and ends early, or git could not read it
    # The files that the commit moved to folders with copies of other projects. They are represented
    # as deleted files.
    moved_out: tuple[FileChange, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all changed lines are known."""
        return not self.is_cut and all(change.is_read for change in self.changes)


def parse_patch(data: bytes, *, is_cut: bool = False) -> CommitPatch | None:
    """Return the commit in the output of git; None if it contains none."""
    *fields, rest = data.split(b"\0", _HEADER_FIELDS)
    if len(fields) != _HEADER_FIELDS:
        return None
    sha, parents, author, seconds, message = fields
    entries, patch = split_raw_diff(rest.lstrip(b"\0\n"))
    return CommitPatch(
        sha.decode("ascii", "replace"),
        tuple(parents.decode("ascii", "replace").split()),
        _decode(author),
        parse_commit_time(_decode(seconds)),
        _clean(_decode(message)),
        tuple(_add_hunks(entries, patch)),
        is_cut,
    )


def parse_message(data: bytes) -> CommitPatch | None:
    """Return the commit in the output of `git cat-file --batch`, without its changes.

    Return None if the output is not a commit.
    """
    first, _, rest = data.partition(b"\n")
    header, _, message = rest.partition(b"\n\n")
    fields = [line.partition(b" ") for line in header.split(b"\n")]
    values = {name: value for name, _, value in reversed(fields)}  # the first value of each field
    committer = _PERSON.fullmatch(values.get(b"committer", b""))
    author = _PERSON.fullmatch(values.get(b"author", b""))
    if b" commit " not in first or committer is None or author is None:
        return None
    return CommitPatch(
        first.split(b" ")[0].decode("ascii", "replace"),
        tuple(_decode(value) for name, _, value in fields if name == b"parent"),
        _decode(author[1]),
        parse_commit_time(_decode(committer[2])),
        _clean(_decode(message, values.get(b"encoding", b"utf-8"))),
        (),
        is_cut=False,
    )


def _clean(message: str) -> str:
    return message.replace("\r\n", "\n").strip()


def _add_hunks(changes: list[RawChange], patch: bytes) -> Iterator[FileChange]:
    """Yield the changed files with their hunks.

    The patch has one block for each file, in order. If a file became a symbolic link, or a link
    became a file, it has two blocks: the first deletes the file, and the second adds it again.
    """
    starts = [found.start() for found in _BLOCK_START.finditer(patch)]
    blocks = (patch[start:end] for start, end in pairwise([*starts, len(patch)]))
    for change in changes:
        own = list(islice(blocks, 2 if change.status == "T" else 1))
        hunks = tuple(chain.from_iterable(map(_parse_hunks, own)))
        yield FileChange(change.status, change.path, change.old_path, hunks, bool(own))


def _parse_hunks(block: bytes) -> Iterator[Hunk]:
    found = list(_HUNK_START.finditer(block))
    for at, match in enumerate(found, start=1):
        end = found[at].start() if at < len(found) else len(block)
        text = _decode(block[match.end() : end]).strip("\n")
        rows = (row.rstrip("\r") for row in text.split("\n"))
        # Leave out the note that a file does not end with a newline.
        lines = [row or " " for row in rows if not row.startswith("\\")]
        parents = len(match[1])
        if parents > 1:
            lines = _merge_signs(lines, parents)
        if any(line[0] != " " for line in lines):
            heading = _decode(match[4]).rstrip()
            text = heading.lstrip()
            numbers = int(match[3]), int(match[2])
            yield Hunk(text, tuple(lines), *numbers, len(heading) - len(text))


def _merge_signs(rows: Sequence[str], parents: int) -> list[str]:
    """Return the lines of a combined diff with one sign each, as in a diff with the first parent.

    Only lines that differ from all parents count as changed by the merge itself. If a line is
    missing in the merge, git may show it once for each parent.
    """
    split = [(row[:parents].ljust(parents), row[parents:]) for row in rows]
    removed = [Counter(text for signs, text in split if signs[at] == "-") for at in range(parents)]
    lines = []
    for signs, text in split:
        if signs == "+" * parents:
            lines.append(f"+{text}")
        elif signs[0] == "-":
            is_gone = all(counts[text] > 0 for counts in removed)
            lines.append(f"{'-' if is_gone else ' '}{text}")
            for counts in removed:
                counts[text] -= 1
        elif signs[0] == " " and "-" not in signs:
            lines.append(f" {text}")
    return lines


def _decode(text: bytes, encoding: bytes = b"utf-8") -> str:
    try:
        decoded = text.decode(find_charset(encoding.decode("ascii", "replace")), "replace")
    except (LookupError, ValueError):  # an unknown encoding
        decoded = text.decode("utf-8", "replace")
    return decoded.replace("\0", "")
