"""Run git read-only: without prompts, network, locks, or programs that a repository configures."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
_SAFE_CONFIG: Final[dict[str, str]] = {
    "core.fsmonitor": "false",  # otherwise it may name a program to run
    "log.showSignature": "false",  # otherwise gpg.program is run
}


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

    If git cannot be started, the return code is 127 and `stderr` is a message.
    """
    # Use an absolute path: a relative one would be looked up in `folder`, which may be untrusted.
    program = shutil.which("git")
    if program is None:
        return GitOutput(b"", b"git is not installed", 127)
    try:
        process = subprocess.Popen(
            [os.path.abspath(program), "--no-pager", *arguments],
            cwd=folder,
            env=_environment({**_SAFE_CONFIG, **(config or {})}),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        return GitOutput(b"", os.fsencode(f"git cannot be started: {error}"), 127)
    with process:
        return _collect(process, timeout_s, stdin or None)


def _collect(process: subprocess.Popen[bytes], timeout_s: float, stdin: bytes | None) -> GitOutput:
    timed_out = False
    try:
        stdout, stderr = process.communicate(stdin, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        process.kill()
        stdout, stderr = process.communicate()
    return GitOutput(stdout, stderr, process.returncode, timed_out)


def _environment(config: Mapping[str, str]) -> dict[str, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    environment.update(_SAFE)
    # Pass settings in the environment, because "-c" does not allow "=" in names. Settings that the
    # user passes this way (safe.directory in containers) come first, so rootle's take precedence.
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(config))
    for number, (name, value) in enumerate(config.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def find_work_tree(folder: str) -> str | None:
    """Return the nearest folder at or above this one that has a `.git`, without running git."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
