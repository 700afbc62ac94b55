"""List the files that differ between two commits."""

from __future__ import annotations

import os
from typing import Final

from rootle.sources.git.command import run_git
from rootle.sources.git.commits.commit_list import find_commit

_TIMEOUT_S: Final = 30.0


def list_changed_paths(folder: str, older: str, newer: str) -> frozenset[str] | None:
    """Return the paths below a folder whose contents differ between two revisions.

    They are relative to the folder. A renamed file counts under both of its paths. Return None if
    one of the revisions does not exist, or git fails.
    """
    first, last = find_commit(folder, older), find_commit(folder, newer)
    if first is None or last is None:
        return None
    output = run_git(
        folder,
        *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative"),
        *("--ignore-submodules", first.sha, last.sha, "--"),
        timeout_s=_TIMEOUT_S,
    )
    if output.returncode != 0:
        return None
    return frozenset(filter(None, os.fsdecode(output.stdout).split("\0")))
