"""Look up the authors and files of commits, the merges that contain them, and a file's text."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Final, NamedTuple

from rootle.sources.git.command import run_git
from rootle.sources.git.commit_time import parse_commit_time

_TIMEOUT_S: Final = 5.0
_MERGE_TIMEOUT_S: Final = 1.5
_FIELDS: Final = 4


class CommitHeader(NamedTuple):
    """The metadata of a commit."""

    sha: str
    author: str  # "Name <address>"
    seconds: int  # Unix time of the commit
    message: str


def read_headers(folder: str, hashes: Sequence[str]) -> dict[str, CommitHeader]:
    """Map each hash to the metadata of its commit. The result is empty if a hash is unknown."""
    if not hashes:
        return {}
    output = run_git(
        folder,
        *("show", "-s", "--no-notes", "--no-show-signature", "--encoding=UTF-8"),
        *("--format=%H%x00%an <%ae>%x00%ct%x00%B%x00", *hashes, "--"),
        timeout_s=_TIMEOUT_S,
    )
    fields = output.stdout.decode("utf-8", "replace").split("\0")
    found = {}
    for at in range(0, len(fields) - _FIELDS, _FIELDS):
        sha, author, seconds, message = fields[at : at + _FIELDS]
        found[sha.strip()] = CommitHeader(
            sha.strip(), author, parse_commit_time(seconds), message.strip()
        )
    return found


def list_changed_paths(folder: str, hashes: Collection[str]) -> Mapping[str, list[str]] | None:
    """Map each hash to the files below a folder that the commit changed; None if git fails.

    The paths are relative to the folder. Commits that changed nothing there have no paths or are
    left out, and merges have only the files that differ from all their parents.
    """
    output = run_git(
        folder,
        *("diff-tree", "--stdin", "-r", "-c", "-z", "--root", "--name-only", "--relative"),
        *("--no-renames", "--ignore-submodules", "--no-ext-diff"),
        stdin="".join(f"{sha}\n" for sha in hashes).encode("ascii"),
        timeout_s=_TIMEOUT_S,
    )
    if output.returncode != 0 or output.timed_out:
        return None
    wanted, paths = set(hashes), list[str]()
    found: dict[str, list[str]] = {}
    for entry in filter(None, os.fsdecode(output.stdout).split("\0")):
        if entry in wanted:
            paths = found.setdefault(entry, [])
        else:
            paths.append(entry)
    return found


def find_merges(folder: str, hashes: Sequence[str], head: str, deadline_s: float) -> dict[str, str]:
    """Map each commit to the merge that brought it into the main line of `head`.

    A commit that was made on the main line is left out. A commit is also left out if git does not
    find its merge before `deadline_s` on the monotonic clock.
    """
    main = _list(folder, deadline_s, "--first-parent", "--parents", head)
    parents = {sha: others for sha, *others in map(str.split, main)}
    found = {}
    for sha in hashes:
        if not parents or sha in parents:
            continue
        descendants = _list(folder, deadline_s, "--ancestry-path", f"{sha}..{head}")
        merge = next((commit for commit in reversed(descendants) if commit in parents), "")
        if len(parents.get(merge, ())) > 1:
            found[sha] = merge
    return found


def _list(folder: str, deadline_s: float, *arguments: str) -> list[str]:
    timeout_s = min(_MERGE_TIMEOUT_S, deadline_s - monotonic())
    if timeout_s <= 0:
        return []
    output = run_git(folder, "rev-list", "--topo-order", *arguments, "--", timeout_s=timeout_s)
    if output.returncode != 0 or output.timed_out:
        return []
    return output.stdout.decode("ascii", "replace").split("\n")[:-1]


def read_committed(folder: str, revision: str, path: str) -> bytes | None:
    """Return the content of a file in a commit; None if the commit does not contain it."""
    output = run_git(folder, "cat-file", "blob", f"{revision}:{path}", timeout_s=_TIMEOUT_S)
    return output.stdout if output.returncode == 0 else None


def list_file_commits(folder: str, path: str, count: int) -> list[str]:
    """Return the newest commits that changed a file, without reading contents."""
    output = run_git(
        folder,
        *("rev-list", f"--max-count={count}", "HEAD", "--", f":(top,literal){path}"),
        timeout_s=_TIMEOUT_S,
    )
    return output.stdout.decode("ascii", "replace").split("\n")[:-1]
