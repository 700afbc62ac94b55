"""Run git read-only: without prompts, network, locks, or programs that a repository configures."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from rootle.sources.git.git_dirs import check_git_folders, find_work_tree
from rootle.sources.git.special_files import find_special_file

# User settings that apply to every repository. All other GIT_ variables are dropped: they may come
# from a git process that called rootle (a hook receives the index and the work tree in them).
_KEPT: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"),
)
_SAFE: Final[dict[str, str]] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # git before 2.45 ignores GIT_NO_LAZY_FETCH, but it cannot fetch without a protocol.
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Options of the commands disable external diffs and text conversions.
_SAFE_CONFIG: Final[dict[str, str]] = {
    "core.fsmonitor": "false",  # otherwise it may name a program to run
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "credential.helper": "",  # an empty value clears the list
    "diff.autoRefreshIndex": "false",
    "diff.orderFile": os.devnull,
    "gc.auto": "0",
    "log.mailmap": "false",
    "log.showSignature": "false",  # otherwise gpg.program is run
    "maintenance.auto": "false",
    # A folder that only looks like a git folder must not be used.
    "safe.bareRepository": "explicit",
}
# After this time, look for a file that git may be waiting for.
_STALL_S: Final = 0.5
_KILL_S: Final = 1.0
_FAILED: Final = 128  # the return code of git outside a repository


@dataclass(frozen=True, slots=True)
class GitOutput:
    """The output of a git command, incomplete if it timed out."""

    stdout: bytes
    stderr: bytes
    returncode: int
    timed_out: bool = False


def run_git(
    folder: str,
    *arguments: str,
    timeout_s: float,
    config: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> GitOutput:
    """Run git in `folder`, with `stdin` as its standard input.

    If git cannot be started, the return code is 127 and `stderr` is a message. It is 128 if there
    is no repository, or if its git folders may belong to another work tree.
    """
    top = find_work_tree(os.path.realpath(folder))
    if top is None:
        return GitOutput(b"", b"not a git repository", _FAILED)
    git = check_git_folders(top)
    if isinstance(git, str):
        return GitOutput(b"", os.fsencode(git), _FAILED)
    # Use an absolute path: a relative one would be looked up in `folder`, which may be untrusted.
    program = shutil.which("git")
    if program is None:
        return GitOutput(b"", b"git is not installed", 127)
    try:
        process = subprocess.Popen(
            [os.path.abspath(program), "--no-pager", *arguments],
            cwd=folder,
            env=_environment(top, {**_SAFE_CONFIG, **(config or {})}),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        return GitOutput(b"", os.fsencode(f"git cannot be started: {error}"), 127)
    with process:
        return _collect(process, timeout_s, stdin or None, partial(find_special_file, top, git))


def _collect(
    process: subprocess.Popen[bytes],
    timeout_s: float,
    stdin: bytes | None,
    find_special: Callable[[], str | None],
) -> GitOutput:
    try:
        stdout, stderr = process.communicate(stdin, timeout=min(timeout_s, _STALL_S))
    except subprocess.TimeoutExpired:
        return _collect_slowly(process, timeout_s - _STALL_S, find_special)
    return GitOutput(stdout, stderr, process.returncode)


def _collect_slowly(
    process: subprocess.Popen[bytes], timeout_s: float, find_special: Callable[[], str | None]
) -> GitOutput:
    """Wait for git unless it waits for a file that never ends; stop it then and after a timeout."""
    special = find_special() if timeout_s > 0 else None
    timed_out = False
    try:
        stdout, stderr = process.communicate(timeout=0 if special else max(timeout_s, 0))
    except subprocess.TimeoutExpired:
        timed_out = special is None
        stdout, stderr = _kill(process)
        if special is not None:
            stderr = os.fsencode(f"git waits for {special}, which is not a regular file")
    return GitOutput(stdout, stderr, process.returncode, timed_out)


def _kill(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Stop git and return its output so far."""
    process.kill()
    try:
        return process.communicate(timeout=_KILL_S)
    except subprocess.TimeoutExpired as error:  # a program that git started holds its streams
        return error.stdout or b"", error.stderr or b""


def _environment(top: str, config: Mapping[str, str]) -> dict[str, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    environment.update(_SAFE)
    # Only the folders that were checked are used: not a repository above them, and no other files.
    ceilings = (environment.get("GIT_CEILING_DIRECTORIES"), os.path.dirname(top))
    environment["GIT_CEILING_DIRECTORIES"] = os.pathsep.join(filter(None, ceilings))
    environment["GIT_WORK_TREE"] = top
    # Pass settings in the environment, because "-c" does not allow "=" in names. Settings that the
    # user passes this way (safe.directory in containers) come first, so rootle's take precedence.
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(config))
    for number, (name, value) in enumerate(config.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment
