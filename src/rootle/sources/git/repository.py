"""Query git for the files of a folder, its head commit and its uncommitted changes."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from rootle.sources.git.command import GitOutput, run_git
from rootle.sources.git.git_dirs import find_prefix, find_work_tree

_LOG = logging.getLogger(__name__)

# Listing 100,000 files takes a second; this limit is for disks that hang.
_LIST_TIMEOUT_S: Final = 120.0
_DIFF_TIMEOUT_S: Final = 20.0
_QUICK_TIMEOUT_S: Final = 10.0

_SUBMODULE_MODE: Final = "160000 "
_UNREADABLE_FOLDER: Final = re.compile(
    rb"^warning: could not open directory '(.*)/': ", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class GitListing:
    """The files of a work tree below a folder, as paths relative to this folder."""

    tracked: list[str]  # files and links; some may have been deleted on disk
    untracked: list[str]  # without ignored files
    submodules: list[str]
    repositories: list[str]  # untracked repositories nested in this one
    unreadable: list[str]  # folders


def list_files(folder: str, only: Collection[str] = ()) -> GitListing | None:
    """Return the tracked files, and the untracked files that are not ignored.

    With `only`, list only these paths and those below them. Return None if git fails, or if it
    ignores the folder.
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
    prefix = find_prefix(folder) if paths else ""
    return [path.removeprefix(prefix) for path in paths]


def follows_git_rules(folder: str) -> bool:
    """Return whether the ignore files of git decide which entries of a folder are listed.

    They do not if git ignores the folder itself, as all of its entries are then listed.
    """
    if find_work_tree(folder) is None:
        return False
    parent, name = os.path.split(folder)
    # The rule "data/*" does not ignore "data", but in this folder, git says that it ignores ".".
    return any(
        run_git(place, "check-ignore", "-q", path, timeout_s=_QUICK_TIMEOUT_S).returncode == 1
        for place, path in ((folder, "."), (parent, f"./{name}"))
    ) or (list_files(folder) is not None)


def _is_ignored(folder: str) -> bool:
    """Return whether this folder is ignored by its work tree. git then lists nothing."""
    return run_git(folder, "check-ignore", "-q", ".", timeout_s=_QUICK_TIMEOUT_S).returncode == 0


def ignored_paths(folder: str, paths: Collection[str]) -> set[str] | None:
    """Return the paths that git's ignore files match, including tracked and deleted ones.

    Below a symbolic link that has replaced a folder, only the names of files are compared. Return
    None if git fails: any of the paths may then be ignored.
    """
    if not paths:
        return set()
    # git refuses all paths if one of them is below a link, so replace such paths.
    known = {"": ""}
    asked = {path: _escape_pattern(_leave_links(folder, path, known)) for path in paths}
    output = run_git(
        folder,
        *("check-ignore", "--no-index", "-z", "--stdin"),
        timeout_s=_DIFF_TIMEOUT_S,
        stdin=b"\0".join(map(os.fsencode, set(asked.values()))),
    )
    if output.returncode not in (0, 1):  # 1: none of the paths is ignored
        _warn_about_failure(output, f"find the ignored files of {folder}", "none are shown")
        return None
    found = {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}
    return {path for path, spelled in asked.items() if spelled in found}


@dataclass(frozen=True, slots=True)
class IgnoredBy:
    """The rule of an ignore file that ignores a path."""

    file: str  # relative to the folder, or absolute if the file is outside the work tree
    line: int  # from 1
    pattern: str


def matching_rules(folder: str, paths: Collection[str]) -> dict[str, IgnoredBy]:
    """Return the rule that ignores each untracked path.

    Paths that are not ignored, and paths below a symbolic link, are missing. If git fails, return
    no rules.
    """
    if not paths:
        return {}
    known = {"": ""}
    asked = {
        _escape_pattern(path): path for path in paths if _leave_links(folder, path, known) == path
    }
    output = run_git(
        folder,
        *("check-ignore", "--verbose", "-z", "--stdin"),
        timeout_s=_DIFF_TIMEOUT_S,
        stdin=b"\0".join(map(os.fsencode, asked)),
    )
    fields = os.fsdecode(output.stdout).split("\0")
    rules = zip(*(fields[start::4] for start in range(4)), strict=False)
    return {
        asked[path]: IgnoredBy(_relative_to(folder, file), int(line), pattern)
        for file, line, pattern, path in rules
        if path in asked and not pattern.startswith("!")
    }


def _relative_to(folder: str, file: str) -> str:
    """Return a path, as git prints it, relative to a folder; unchanged outside the work tree."""
    top = find_work_tree(folder) or folder
    full = os.path.join(top, file)
    return os.path.relpath(full, folder) if full.startswith(top + os.sep) else file


def _escape_pattern(path: str) -> str:
    """Rewrite a path such as ":!name", which git would read as a pattern."""
    return f"./{path}" if path.startswith(":") else path


def _leave_links(folder: str, path: str, known: dict[str, str]) -> str:
    """Replace the folder of a path with its deepest parent that is neither a link nor below one.

    `known` contains this parent for each folder that was looked up earlier.
    """
    parent, _, name = path.rpartition("/")
    above = ""
    for at in [*accumulate(parent.split("/"), "{}/{}".format)] if parent not in known else ():
        if at not in known:
            is_real = known[above] == above and not os.path.islink(os.path.join(folder, at))
            known[at] = at if is_real else known[above]
        above = at
    return f"{known[parent]}/{name}".lstrip("/")


def tracked_paths(folder: str) -> set[str] | None:
    """Return the tracked paths below a folder, also those of deleted files; None if git fails."""
    output = run_git(folder, "ls-files", "-z", "--cached", timeout_s=_LIST_TIMEOUT_S)
    if output.returncode != 0:
        _warn_about_failure(
            output, f"list the tracked files of {folder}", "ignored ones are hidden"
        )
        return None
    return {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}


def find_tracked(folder: str, paths: Collection[str]) -> set[str]:
    """Return the paths that are tracked, or contain a tracked file; none if git fails."""
    if not paths:
        return set()
    output = run_git(
        folder,
        *("--literal-pathspecs", "ls-files", "-z", "--cached", "--", *paths),
        timeout_s=_LIST_TIMEOUT_S,
    )
    found = {os.fsdecode(path) for path in output.stdout.split(b"\0") if path}
    above = {entry for path in found for entry in accumulate(path.split("/"), "{}/{}".format)}
    return above.intersection(paths)


def head_commit(root: Path) -> str | None:
    """Return the hash of the current commit; None outside git or before the first commit."""
    output = _look_up_head(os.fspath(root))
    return output.stdout.decode("ascii").strip() or None if output.returncode == 0 else None


def has_unreadable_head(folder: str) -> bool:
    """Return whether the folder is in a repository, but git fails to read its head commit."""
    if find_work_tree(os.path.realpath(folder)) is None:
        return False
    return _look_up_head(folder).returncode not in (0, 1)  # 1: before the first commit


def _look_up_head(folder: str) -> GitOutput:
    return run_git(
        folder, "rev-parse", "--verify", "-q", "HEAD^{commit}", timeout_s=_QUICK_TIMEOUT_S
    )


def list_changed_files(root: Path, only: Collection[str] = ()) -> set[str]:
    """Return tracked files whose content differs from the last commit; empty if git fails.

    With `only`, compare only these paths.
    """
    folder = os.path.realpath(root)
    # `git diff` is not used. It would either write the index, or list unchanged files whose
    # modification time has changed.
    output = run_git(
        folder,
        *("--literal-pathspecs", "status", "--porcelain", "-z", "--untracked-files=no"),
        *("--no-renames", "--ignore-submodules=all", "--", *(only or ".")),
        timeout_s=_DIFF_TIMEOUT_S,
        config=_disable_filters(folder),
    )
    if output.returncode != 0:
        return set()
    prefix = find_prefix(folder)
    entries = os.fsdecode(output.stdout).split("\0")
    return {entry[len("XY ") :].removeprefix(prefix) for entry in entries if entry}


def _disable_filters(folder: str) -> dict[str, str]:
    """Return settings that disable clean filters, which git would run to compare files."""
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
    _warn_about_failure(output, f"list {folder}", "rootle walks the folder itself")
    return False


def _warn_about_failure(output: GitOutput, task: str, effect: str) -> None:
    reason = "timed out" if output.timed_out else os.fsdecode(output.stderr).strip()
    _LOG.warning("git cannot %s, so %s: %s", task, effect, reason)
