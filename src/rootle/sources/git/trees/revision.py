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
from rootle.serialization.path_text import did_you_mean
from rootle.sources.git.command import run_git
from rootle.sources.git.commit_text import explain_hidden_commits
from rootle.sources.git.commits.commit_list import ListedCommit, find_commit, list_tags
from rootle.sources.git.commits.tag_versions import find_same_version
from rootle.sources.git.git_dirs import find_git_folders, find_prefix
from rootle.sources.git.history import find_shallow_commits
from rootle.storage.change_time import read_modification_time_ns

_TIMEOUT_S: Final = 60.0
_MAX_CHARS: Final = 250
_MAX_AGE_S: Final = 60.0
# A result is cached only if no branch or tag has changed within the last _SETTLED_S seconds.
# Otherwise, a second change within one tick of the file system's clock could leave the modification
# time unchanged, and would be missed.
_SETTLED_S: Final = 2.0
# Names whose results are cached. Other names, such as main@{1}, may depend on more than branches
# and tags.
_PLAIN_NAME: Final = re.compile(r"[\w./-]+")
# Names such as FETCH_HEAD and worktrees/NAME/HEAD, which git stores outside the folders of branches
# and tags. Their results are not cached.
_OTHER_FILE: Final = re.compile(r"(?!HEAD\Z)(?:.*/)?[A-Z_-]+", re.DOTALL)
_NAME: Final = re.compile(r"[^\s:\\?*\[\x00-\x1f-][^\s:\\?*\[\x00-\x1f]*")

Refs = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit, and the folder in it that is searched."""

    name: str  # as the user wrote it
    sha: str
    seconds: int  # Unix time of the commit; 0 if it is not known
    prefix: str  # the folder's path in the repository: "", or ending in "/"


class RevisionNames:
    """Looks up the names of revisions in one repository, and caches the results. Thread-safe.

    git is asked again when a branch or tag may have changed, and after a minute, because some names
    depend on the time.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, tuple[Refs, float, Revision]] = {}

    def find(self, name: str) -> Revision:
        """Return the result of `find_revision`."""
        refs, now_s = read_refs(os.path.realpath(self._root)), time.time()
        known = self._known.get(name)
        if known is not None and known[0] == refs and 0 <= now_s - known[1] < _MAX_AGE_S:
            return known[2]
        found = find_revision(self._root, name)
        is_cached = _PLAIN_NAME.fullmatch(name) and not _OTHER_FILE.fullmatch(name)
        if is_cached and refs and _newest_s(refs) + _SETTLED_S < now_s:
            self._known = {**self._known, name: (refs, now_s, found)}
        return found


def read_refs(folder: str) -> Refs:
    """Return the paths at which git stores branches and tags, each with its modification time.

    Git writes a branch or tag to a new file, which changes the time of its folder.
    """
    git = find_git_folders(folder)
    if git is None:
        return ()
    paths = [os.path.join(git.own, "HEAD"), os.path.join(git.common, "packed-refs")]
    paths.append(os.path.join(git.common, "shallow"))
    # A linked work tree has some references of its own, such as refs/bisect.
    for folder_of_refs in dict.fromkeys((git.common, git.own)):
        paths.append(os.path.join(folder_of_refs, "reftable"))
        paths += [parent for parent, _, _ in os.walk(os.path.join(folder_of_refs, "refs"))]
    return tuple((path, read_modification_time_ns(path)) for path in paths)


def _newest_s(refs: Refs) -> float:
    return max(mtime_ns for _, mtime_ns in refs) / 1e9


def find_revision(root: Path, name: str) -> Revision:
    """Return the commit that a hash, tag, branch or date names.

    A date names the last commit of the current branch up to the end of that day, month or year, in
    UTC. Raise QueryError if there is no such commit.
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
    return Revision(name, found.sha, found.seconds, find_prefix(folder))


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
    hint = (
        did_you_mean(find_same_version(name[:_MAX_CHARS], list_tags(folder)))
        or "give a hash, a tag, a branch or a date such as 2024-03-31"
    )
    if find_shallow_commits(folder):
        hint = "the clone is shallow and may lack it; run git fetch --unshallow --tags"
    return f'there is no commit "{shown}" in this repository; {hint}'
