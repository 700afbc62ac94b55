"""Find the file that was renamed or copied to a path, in a commit or in the git index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

from rootle.sources.git.command import run_git
from rootle.sources.git.lines.commit_changes import (
    MAX_COMPARED,
    PATCH,
    pair_patches,
    read_commit,
)
from rootle.sources.git.lines.patch_hunks import LineChange, parse_changes
from rootle.sources.git.raw_diff import RawChange, split_raw_diff


@dataclass(frozen=True, slots=True)
class ChangedText:
    """The lines that a commit changed in one file."""

    status: str  # A, C, D, M, R or T, as git names them
    old_path: str
    path: str
    changes: tuple[LineChange, ...]


def find_source(folder: str, sha: str, path: str, timeout_s: float) -> ChangedText | None:
    """Return how a commit created a file: renamed (R), copied (C) or new (A, without changes).

    The changes are relative to the original file in the first parent. Return None if git failed or
    was too slow, so that the source is not known.
    """
    deadline_s = monotonic() + timeout_s
    renames = ("-M", "-C", f"-l{MAX_COMPARED}")
    files = _list_changed(folder, sha, renames, deadline_s)
    if files is None:
        return None
    found = next((one for one in files if one.path == path), None)
    if (found is None or found.status == "A") and len(files) > MAX_COMPARED:
        # git has not compared all files, so ask it for the source of this file only.
        places = ("-M", "--follow")
        followed = _list_changed(folder, sha, places, deadline_s, path)
        if followed is None:
            return None
        changed = {one.old_path for one in files}
        found = next((one for one in followed if one.path == path), None)
        if found is not None and found.old_path not in changed:
            found = None  # a copy of a file that the commit did not change
    if found is None or found.status not in ("R", "C"):
        return ChangedText("A", path, path, ())
    # Given both names, git compares only these two files, and may report another status.
    data = read_commit(folder, sha, (*PATCH, "-M", "-C"), deadline_s, found.old_path, path)
    if data is None:
        return None
    for file, patch in pair_patches(data):
        if (file.old_path, file.path) == (found.old_path, path):
            return ChangedText(file.status, file.old_path, path, tuple(parse_changes(patch)))
    return None


def _list_changed(
    folder: str, sha: str, options: Sequence[str], deadline_s: float, *paths: str
) -> list[RawChange] | None:
    data = read_commit(folder, sha, options, deadline_s, *paths)
    return None if data is None else split_raw_diff(data)[0]


def find_renamed_path(folder: str, path: str, timeout_s: float) -> str:
    """Return the path that a file has in the last commit, before a rename in the git index."""
    output = run_git(
        folder,
        *("diff-index", "--cached", "-M", "--raw", "-z", "--ignore-submodules", "HEAD", "--"),
        timeout_s=timeout_s,
    )
    files, _ = split_raw_diff(output.stdout)
    return next((old for _, old, new in files if new == path), path)
