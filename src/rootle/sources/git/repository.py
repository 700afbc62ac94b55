"""Query git for the files of a folder, its head commit and the last commit of each file."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.sources.git.command import GitOutput, run_git
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.special_files import is_special

_LOG = logging.getLogger(__name__)

# Listing 100,000 files takes a second; this limit is for disks that hang.
_LIST_TIMEOUT_S: Final = 120.0
_DIFF_TIMEOUT_S: Final = 20.0
_QUICK_TIMEOUT_S: Final = 10.0

_SUBMODULE_MODE: Final = "160000 "
_SHA: Final = re.compile(r"[0-9a-f]{7,64}", re.ASCII)
_UNREADABLE_FOLDER: Final = re.compile(
    rb"^warning: could not open directory '(.*)/': ", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class GitListing:
    """The files of a work tree below a folder, relative to it; some may be deleted on disk."""

    tracked: list[str]  # files and links
    untracked: list[str]  # without ignored files
    submodules: list[str]
    repositories: list[str]  # untracked, nested in this one
    unreadable: list[str]  # folders


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The last commit that touched a file."""

    seconds: int  # Unix time
    author: str  # "Name <address>"


@dataclass(frozen=True, slots=True)
class LastCommits:
    """The last commit of each file, for the part of the log that was read."""

    head: str
    by_path: dict[str, LastCommit]  # relative to the root


def list_files(folder: str, only: Collection[str] = ()) -> GitListing | None:
    """Return the tracked files and the untracked ones that are not ignored; None if git fails.

    With `only`, list only these paths and those below them.
    """
    output = run_git(
        folder,
        *("--literal-pathspecs", "ls-files", "-z", "-t", "--stage"),
        *("--cached", "--others", "--exclude-standard", "--", *only),
        timeout_s=_LIST_TIMEOUT_S,
    )
    if not _check_success(output, folder):
        return None
    listing = _parse_listing(output, folder)
    if not listing.tracked and not listing.untracked and _is_ignored(folder):
        return None
    return listing


def _parse_listing(output: GitOutput, folder: str) -> GitListing:
    """Parse `H <mode> <hash> <stage>\\t<path>` for tracked entries and `? <path>` for others."""
    tracked: set[str] = set()  # a path in conflict is printed once per side
    submodules: set[str] = set()
    untracked: list[str] = []
    repositories: list[str] = []
    for entry in os.fsdecode(output.stdout).split("\0"):
        if entry.startswith("? "):
            path = entry[2:]
            (repositories if path.endswith("/") else untracked).append(path)
        else:
            facts, _, path = entry.partition("\t")
            (submodules if facts[2:].startswith(_SUBMODULE_MODE) else tracked).add(path)
    return GitListing(
        tracked=[path for path in tracked if path],
        untracked=untracked,
        submodules=[path for path in submodules if path.strip("./")],
        repositories=[path.rstrip("/") for path in repositories if path.strip("./")],
        unreadable=_unreadable_folders(output.stderr, folder),
    )


def _unreadable_folders(warnings: bytes, folder: str) -> list[str]:
    """Parse git's warnings, which name folders relative to the top of the work tree."""
    paths = [os.fsdecode(path) for path in _UNREADABLE_FOLDER.findall(warnings)]
    prefix = _prefix_of(folder) if paths else ""
    return [path.removeprefix(prefix) for path in paths]


def _is_ignored(folder: str) -> bool:
    """Return whether the work tree that contains this folder ignores it; git then lists nothing."""
    return run_git(folder, "check-ignore", "-q", ".", timeout_s=_QUICK_TIMEOUT_S).returncode == 0


def ignored_paths(folder: str, paths: Collection[str]) -> set[str]:
    """Return the paths that git's ignore files match, including tracked and deleted ones."""
    output = run_git(
        folder,
        *("check-ignore", "--no-index", "-z", "--stdin"),
        timeout_s=_QUICK_TIMEOUT_S,
        stdin=b"\0".join(map(os.fsencode, paths)),
    )
    return {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}


def head_commit(root: Path) -> str | None:
    """Return the hash of the current commit; None outside git or before the first commit."""
    output = run_git(
        os.fspath(root), "rev-parse", "--verify", "-q", "HEAD^{commit}", timeout_s=_QUICK_TIMEOUT_S
    )
    return output.stdout.decode("ascii").strip() or None if output.returncode == 0 else None


def is_ancestor(root: Path, older: str, newer: str) -> bool:
    """Return whether `older` is in the history of `newer`; False if either is unknown."""
    if not (_SHA.fullmatch(older) and _SHA.fullmatch(newer)):
        return False
    output = run_git(
        os.fspath(root), "merge-base", "--is-ancestor", older, newer, timeout_s=_QUICK_TIMEOUT_S
    )
    return output.returncode == 0


def last_commits(
    root: Path, since: str | None, max_commits: int = 2000, timeout_s: float = 2.0
) -> LastCommits | None:
    """Return the last commit of each file under `root`, reading the log up to a limit.

    With `since`, read only later commits. Return None outside git, before the first commit, or
    if `since` is not (or no longer) a commit of this repository; then call again without `since`.
    """
    head = head_commit(root)
    if head is None or (since is not None and not _SHA.fullmatch(since)):
        return None
    output = run_git(
        os.fspath(root),
        *("log", "-z", "--name-only", "--relative", f"--max-count={max_commits}"),
        *(_log_format(root), "--diff-merges=off", "--no-renames", "--no-ext-diff"),
        *("--no-textconv", "--no-notes", "--no-decorate", "--no-color", "--ignore-submodules"),
        f"{since}..{head}" if since else head,
        "--",
        timeout_s=timeout_s,
    )
    # A log that ends early (timeout, or a tree that a partial clone lacks) is still useful.
    if output.returncode != 0 and not output.timed_out and not output.stdout:
        return None
    return LastCommits(head, _parse_log(output.stdout))


def _log_format(root: Path) -> str:
    """Return the format of a log entry; git reads `.mailmap` for the names %aN and %aE."""
    top = find_work_tree(os.path.realpath(root)) or ""
    has_mailmap = not is_special(os.path.join(top, ".mailmap"))
    return "--format=%x00%ct %aN <%aE>" if has_mailmap else "--format=%x00%ct %an <%ae>"


def _parse_log(raw: bytes) -> dict[str, LastCommit]:
    """Parse the log: for each commit an empty entry, time and author, a line feed, and paths."""
    found: dict[str, LastCommit] = {}
    commit = LastCommit(0, "")
    position = 0  # of the entry in its commit: 1 for time and author, 2 for the first path
    # The text after the last NUL is incomplete if git timed out.
    for entry in raw.split(b"\0")[:-1]:
        position = position + 1 if entry else 0  # no path is empty
        if position == 1:
            seconds, _, author = entry.decode("utf-8", "replace").partition(" ")
            commit = LastCommit(int(seconds), author)
        elif position > 1:
            found.setdefault(os.fsdecode(entry[1:] if position == 2 else entry), commit)
    return found


def list_changed_files(root: Path, only: Collection[str] = ()) -> set[str]:
    """Return tracked files whose content differs from the last commit; empty if git fails.

    With `only`, compare only these paths.
    """
    folder = os.path.realpath(root)
    # `git diff` would write the index, and list files whose time alone has changed otherwise.
    output = run_git(
        folder,
        *("--literal-pathspecs", "status", "--porcelain", "-z", "--untracked-files=no"),
        *("--no-renames", "--ignore-submodules=all", "--", *(only or ".")),
        timeout_s=_DIFF_TIMEOUT_S,
        config=_disable_filters(folder),
    )
    if output.returncode != 0:
        return set()
    prefix = _prefix_of(folder)
    entries = os.fsdecode(output.stdout).split("\0")
    return {entry[len("XY ") :].removeprefix(prefix) for entry in entries if entry}


def _prefix_of(folder: str) -> str:
    """Return the path of a folder from the top of its work tree: empty, or ending in "/"."""
    below = os.path.relpath(folder, find_work_tree(folder) or folder).replace(os.sep, "/")
    return "" if below == os.curdir else f"{below}/"


def _disable_filters(folder: str) -> dict[str, str]:
    """Return settings that disable clean filters, programs that git would run to compare files."""
    output = run_git(
        folder,
        *("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$"),
        timeout_s=_QUICK_TIMEOUT_S,
    )
    names = os.fsdecode(output.stdout).split("\0")
    return {name: "false" if name.endswith(".required") else "" for name in names if name}


def _check_success(output: GitOutput, folder: str) -> bool:
    if output.returncode == 0:
        return True
    reason = "timed out" if output.timed_out else os.fsdecode(output.stderr).strip()
    _LOG.warning("git cannot list %s, so rootle walks the folder itself: %s", folder, reason)
    return False
