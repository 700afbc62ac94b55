"""List the files that differ between two commits."""

from __future__ import annotations

import os
from typing import Final

from rootle.sources.git.command import run_git
from rootle.sources.git.commits.commit_list import find_commit
from rootle.sources.git.history import find_merge_base

_TIMEOUT_S: Final = 30.0


def list_changed_paths(
    folder: str, older: str, newer: str, *, from_merge_base: bool = False
) -> frozenset[str] | None:
    """Return the paths below a folder whose contents differ between two revisions.

    They are relative to the folder. A renamed file counts under both of its paths. With
    `from_merge_base`, the best common ancestor of both revisions takes the place of the older
    one, as in `git diff a...b`. Return None if one of the revisions or a common ancestor does not
    exist, or git fails.
    """
    first, last = find_commit(folder, older), find_commit(folder, newer)
    if first is None or last is None:
        return None
    start: str | None = first.sha
    if from_merge_base:
        start = find_merge_base(folder, (first.sha, last.sha))
    if start is None:
        return None
    output = run_git(
        folder,
        *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative"),
        *("--ignore-submodules", start, last.sha, "--"),
        timeout_s=_TIMEOUT_S,
    )
    if output.returncode != 0:
        return None
    return frozenset(filter(None, os.fsdecode(output.stdout).split("\0")))
