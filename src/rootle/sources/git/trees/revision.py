"""Find the commit that a tag, branch, hash or date names."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import QueryError
from rootle.serialization.dates import parse_date
from rootle.sources.git.command import run_git
from rootle.sources.git.commit_text import explain_hidden_commits
from rootle.sources.git.commits.commit_list import ListedCommit, find_commit
from rootle.sources.git.git_dirs import find_git_folders, find_work_tree
from rootle.sources.git.history import find_shallow_commits

_TIMEOUT_S: Final = 60.0
_MAX_CHARS: Final = 250
_NAME: Final = re.compile(r"[^\s:\\?*\[\x00-\x1f-][^\s:\\?*\[\x00-\x1f]*")


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, and the folder in it that is searched."""

    name: str  # as the user wrote it
    sha: str
    seconds: int  # Unix time of the commit
    prefix: str  # the folder's path in the repository: "", or ending in "/"


def find_revision(root: Path, name: str) -> Revision:
    """Return the commit that a hash, tag, branch or date names.

    A date names the last commit of the current branch up to the end of that day, month or year, in
    UTC. Raise QueryError if there is none.
    """
    folder = os.path.realpath(root)
    if find_git_folders(folder) is None:
        raise QueryError(
            explain_hidden_commits(root)
            or f"{folder} is not in a git repository, so it has no earlier versions to search; "
            "leave out the revision"
        )
    if hidden := explain_hidden_commits(root):
        raise QueryError(hidden)
    found = None
    if len(name) <= _MAX_CHARS and _NAME.fullmatch(name) and ".." not in name:
        found = _resolve(folder, name)
    if found is None:
        raise QueryError(_explain_unknown(folder, name))
    return Revision(name, found.sha, found.seconds, _prefix_of(folder))


def _resolve(folder: str, name: str) -> ListedCommit | None:
    date_s = parse_date(name, time.time(), is_end=True)
    if date_s is None:
        return find_commit(folder, name)
    for kind in ("tags", "heads", "remotes"):  # a tag may have the name of a year
        found = find_commit(folder, f"refs/{kind}/{name}")
        if found is not None:
            return found
    output = run_git(
        folder,
        *("rev-list", "-1", "--first-parent", f"--min-age={max(0, int(date_s) - 1)}", "HEAD", "--"),
        timeout_s=_TIMEOUT_S,
    )
    sha = output.stdout.decode("ascii", "replace").strip()
    return find_commit(folder, sha) if sha else None


def _explain_unknown(folder: str, name: str) -> str:
    shown = name[:_MAX_CHARS].encode("unicode_escape").decode("ascii")
    hint = "give a hash, a tag, a branch or a date such as 2024-03-31"
    if find_shallow_commits(folder):
        hint = "the clone is shallow and may lack it; run git fetch --unshallow --tags"
    return f'there is no commit "{shown}" in this repository; {hint}'


def _prefix_of(folder: str) -> str:
    below = os.path.relpath(folder, find_work_tree(folder) or folder).replace(os.sep, "/")
    return "" if below == os.curdir else f"{below}/"
