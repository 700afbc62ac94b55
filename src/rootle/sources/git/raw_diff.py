"""Parse the list of changed files that git prints with `--raw -z`."""

from __future__ import annotations

import os
from typing import NamedTuple


class RawChange(NamedTuple):
    """A changed file."""

    status: str  # A, C, D, M, R or T, as git names them; for a merge A, D or M
    old_path: str
    path: str  # differs from `old_path` only if the file was renamed or copied


def split_raw_diff(data: bytes) -> tuple[list[RawChange], bytes]:
    """Return the changed files, and the patch that follows them.

    If the output of git was cut off, an incomplete last entry is left out.
    """
    changes = []
    while data.startswith(b":"):
        facts, _, data = data.partition(b"\0")
        statuses = facts.rpartition(b" ")[2].decode("ascii", "replace")
        if facts.startswith(b"::"):  # a merge, with a status for each parent and one path
            status = statuses[0] if statuses.strip(statuses[0]) == "" else "M"
            status = status if status in "AD" else "M"
        else:
            status = statuses[:1]
        old, end, data = data.partition(b"\0")
        new = old
        if status in ("R", "C"):
            new, end, data = data.partition(b"\0")
        if end:
            changes.append(RawChange(status, os.fsdecode(old), os.fsdecode(new)))
    return changes, data.lstrip(b"\0\n")
