"""List the files that differ between two commits."""

from __future__ import annotations

import os
from typing import Final

from rootle.sources.git.command import run_git
from rootle.sources.git.commits.commit_list import find_commit

_TIMEOUT_S: Final = 30.0


def list_changed_paths(
    folder: str, older: str, newer: str, *, from_merge_base: bool = False
) -> frozenset[str] | None:
    """Return the paths below a folder whose contents differ between two revisions.

    They are relative to the folder. A renamed file counts under both of its paths. With
    `from_merge_base`, the newest common ancestor of both revisions takes the place of the older
    one, as in `git diff a...b`. Return None if one of the revisions or a common ancestor does not
    exist, or git fails.
    """
    found = find_commit(folder, older), find_commit(folder, newer)
    if found[0] is None or found[1] is None:
        return None
    first, last = found[0].sha, found[1].sha
    if from_merge_base:
        output = run_git(folder, "merge-base", first, last, timeout_s=_TIMEOUT_S)
        first = output.stdout.decode("ascii").strip()
        if output.returncode != 0 or not first:
            return None
    output = run_git(
        folder,
        *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative"),
        *("--ignore-submodules", first, last, "--"),
        timeout_s=_TIMEOUT_S,
    )
    if output.returncode != 0:
        return None
    return frozenset(filter(None, os.fsdecode(output.stdout).split("\0")))
