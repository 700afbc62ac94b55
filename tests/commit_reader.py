"""Read the last commit of each file directly from git, as the index does."""

from __future__ import annotations

import os
from pathlib import Path

from rootle.sources.git.history import LastCommit, open_log
from rootle.sources.git.repository import head_commit


def read_last_commits(folder: Path, *, skip: int = 0) -> dict[str, LastCommit]:
    """Map each path to the last commit of the file; the newest `skip` commits are ignored."""
    head = head_commit(folder)
    if head is None:
        return {}
    found: dict[str, LastCommit] = {}
    with open_log(os.fspath(folder), head, skip=skip) as log:
        for commit in log:
            for path in commit.paths:
                found.setdefault(path, commit.facts)
    return found
