"""Ask `git blame` for the last commits that changed lines of a file."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from rootle.serialization.path_text import group_lines
from rootle.sources.git.command import run_git

# White space is ignored, and lines that were moved or copied from files changed in the same commit
# are followed. The list of commits to ignore is not read, because the configuration can name any
# file as this list.
_OPTIONS: Final = ("--incremental", "--no-ignore-revs-file", "-w", "-M", "-C", "--no-textconv")
_ENTRY: Final = re.compile(rb"^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$")
_FILE: Final = b"filename "


class BlamedLines(NamedTuple):
    """Adjacent lines of a version of a file, and the last commit that changed them."""

    sha: str
    lines: range  # the line numbers in the requested revision
    path: str  # the path of the file in this commit; "" if git prints it in an escaped form


def blame_lines(
    folder: str, revision: str, path: str, lines: Collection[int], timeout_s: float
) -> list[BlamedLines]:
    """Return the commits that last changed `lines` of the file at `path` in a revision.

    `path` is relative to the top of the work tree. git is stopped after the timeout. Lines whose
    commit it has not found by then are left out. If git fails, the result is empty.
    """
    ranges = [f"-L{first},{last}" for first, last in group_lines(lines)]
    output = run_git(
        folder,
        *("blame", *_OPTIONS, *ranges, revision, "--", path),
        timeout_s=max(timeout_s, 0.1),
        config={"core.quotePath": "false"},
    )
    return list(_parse(output.stdout))


def _parse(data: bytes) -> Iterator[BlamedLines]:
    """Yield the entries of the output. The line with the name of the file ends an entry."""
    found: BlamedLines | None = None
    for line in data.split(b"\n")[:-1]:
        if entry := _ENTRY.match(line):
            first = int(entry[2])
            found = BlamedLines(entry[1].decode(), range(first, first + int(entry[3])), "")
        elif line.startswith(_FILE) and found is not None:
            name = os.fsdecode(line.removeprefix(_FILE))
            yield found._replace(path="" if name.startswith('"') else name)
            found = None
