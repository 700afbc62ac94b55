"""What git knows about a folder: its files, its last commit, when each file last changed."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.sources.git.command import GitOutput, find_work_tree, run_git

_log = logging.getLogger(__name__)

# Listing 100,000 files takes a second; this is for disks that hang, not for slow ones.
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
    """The files of a work tree below one folder, relative to it; some may be gone from disk."""

    tracked: list[str]  # files and links
    untracked: list[str]  # and not ignored
    submodules: list[str]
    repositories: list[str]  # untracked ones inside this one
    unreadable: list[str]  # folders


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The last commit that touched a file."""

    seconds: int  # Unix time
    author: str  # "Name <address>"


@dataclass(frozen=True, slots=True)
class LastCommits:
    """By which commit each file was last changed, as far as the log was read."""

    head: str
    of: dict[str, LastCommit]  # by the path relative to the root


def list_files(folder: str, only: Collection[str] = ()) -> GitListing | None:
    """What git tracks and what it neither tracks nor ignores; None where git cannot tell.

    With `only`, no more than these paths and what lies below them.
    """
    output = run_git(
        folder,
        *("--literal-pathspecs", "ls-files", "-z", "-t", "--stage"),
        *("--cached", "--others", "--exclude-standard", "--", *only),
        timeout_s=_LIST_TIMEOUT_S,
    )
    if not _succeeded(output, folder):
        return None
    listing = _parse_listing(output, folder)
    if not listing.tracked and not listing.untracked and _is_ignored(folder):
        return None
    return listing


def _parse_listing(output: GitOutput, folder: str) -> GitListing:
    """`H <mode> <hash> <stage>\\t<path>` for what is tracked, `? <path>` for the rest."""
    tracked: set[str] = set()  # a path in conflict is printed once a side
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
    """From git's warnings, which name a folder from the top of the work tree."""
    paths = [os.fsdecode(path) for path in _UNREADABLE_FOLDER.findall(warnings)]
    top = find_work_tree(folder) if paths else None
    if top is None or top == folder:
        return paths
    prefix = os.path.relpath(folder, top).replace(os.sep, "/") + "/"
    return [path.removeprefix(prefix) for path in paths]


def _is_ignored(folder: str) -> bool:
    """Whether the work tree around this folder ignores it, so that git says nothing about it."""
    return run_git(folder, "check-ignore", "-q", ".", timeout_s=_QUICK_TIMEOUT_S).returncode == 0


def ignored_paths(folder: str, paths: Collection[str]) -> set[str]:
    """Those that git's ignore files name, whether they are tracked or gone or not."""
    output = run_git(
        folder,
        *("check-ignore", "--no-index", "-z", "--stdin"),
        timeout_s=_QUICK_TIMEOUT_S,
        given=b"\0".join(map(os.fsencode, paths)),
    )
    return {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}


def head_commit(root: Path) -> str | None:
    """The hash of the commit that is checked out; None outside git or before the first commit."""
    output = run_git(
        os.fspath(root), "rev-parse", "--verify", "-q", "HEAD^{commit}", timeout_s=_QUICK_TIMEOUT_S
    )
    return output.stdout.decode("ascii").strip() or None if output.returncode == 0 else None


def is_ancestor(root: Path, older: str, newer: str) -> bool:
    """Whether the history of one commit holds another; not, where either is unknown."""
    if not (_SHA.fullmatch(older) and _SHA.fullmatch(newer)):
        return False
    output = run_git(
        os.fspath(root), "merge-base", "--is-ancestor", older, newer, timeout_s=_QUICK_TIMEOUT_S
    )
    return output.returncode == 0


def last_commits(
    root: Path, since: str | None, max_commits: int = 2000, timeout_s: float = 2.0
) -> LastCommits | None:
    """When and by whom each file under `root` was last committed, until a limit of the log is hit.

    With `since`, only the commits after that one are read. None outside git, before the first
    commit, or when `since` is no commit of this repository (any more): then ask without it.
    """
    head = head_commit(root)
    if head is None or (since is not None and not _SHA.fullmatch(since)):
        return None
    output = run_git(
        os.fspath(root),
        *("log", "-z", "--name-only", "--relative", f"--max-count={max_commits}"),
        *("--format=%x00%ct %aN <%aE>", "--diff-merges=off", "--no-renames", "--no-ext-diff"),
        *("--no-textconv", "--no-notes", "--no-decorate", "--no-color", "--ignore-submodules"),
        f"{since}..{head}" if since else head,
        "--",
        timeout_s=timeout_s,
    )
    # A log that ends early (out of time, or at a tree that a partial clone lacks) is of use.
    if output.returncode != 0 and not output.timed_out and not output.stdout:
        return None
    return LastCommits(head, _parse_log(output.stdout))


def _parse_log(raw: bytes) -> dict[str, LastCommit]:
    """For each commit an empty entry, its facts, a line feed before the first path, the paths."""
    found: dict[str, LastCommit] = {}
    commit = LastCommit(0, "")
    place = 0  # in the commit: 1 for its facts, 2 for its first path
    # What stands after the last NUL was cut off in the middle when the time ran out.
    for entry in raw.split(b"\0")[:-1]:
        place = place + 1 if entry else 0  # no path is empty
        if place == 1:
            seconds, _, author = entry.decode("utf-8", "replace").partition(" ")
            commit = LastCommit(int(seconds), author)
        elif place > 1:
            found.setdefault(os.fsdecode(entry[1:] if place == 2 else entry), commit)
    return found


def changed_from_head(root: Path, only: Collection[str] = ()) -> set[str]:
    """Tracked files whose content differs from the last commit; empty where git cannot tell.

    With `only`, no more than these paths are looked at.
    """
    folder = os.fspath(root)
    output = run_git(
        folder,
        *("--literal-pathspecs", "diff", "--name-only", "-z", "--relative", "--no-renames"),
        *("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules", "HEAD", "--"),
        *only,
        timeout_s=_DIFF_TIMEOUT_S,
        config=_without_filters(folder),
    )
    if output.returncode != 0:
        return set()
    return {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}


def _without_filters(folder: str) -> dict[str, str]:
    """Settings that switch off clean filters: programs that git would run to compare a file."""
    output = run_git(
        folder,
        *("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$"),
        timeout_s=_QUICK_TIMEOUT_S,
    )
    names = os.fsdecode(output.stdout).split("\0")
    return {name: "false" if name.endswith(".required") else "" for name in names if name}


def _succeeded(output: GitOutput, folder: str) -> bool:
    if output.returncode == 0:
        return True
    reason = "timed out" if output.timed_out else os.fsdecode(output.stderr).strip()
    _log.warning("git cannot list %s, so rootle walks it by itself: %s", folder, reason)
    return False
