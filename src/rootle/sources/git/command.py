"""Run git so that it only reads: no prompt, network or lock, no program that a repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# Settings of the person that hold for every repository. All other GIT_ variables may belong to a
# git that called us (in a hook they name its index and its work tree), so they are dropped.
_KEPT: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"),
)
_SAFE: Final[dict[str, str]] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # A git before 2.45 does not know GIT_NO_LAZY_FETCH, but finds no protocol to fetch with.
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
_SAFE_CONFIG: Final[dict[str, str]] = {
    "core.fsmonitor": "false",  # else it may name a program to run
    "log.showSignature": "false",  # else gpg.program is run
}


@dataclass(frozen=True, slots=True)
class GitOutput:
    """What a git command printed; whatever it had printed, if its time ran out."""

    stdout: bytes
    stderr: bytes
    returncode: int
    timed_out: bool = False


def run_git(
    folder: str,
    *arguments: str,
    timeout_s: float,
    config: Mapping[str, str] | None = None,
    given: bytes = b"",
) -> GitOutput:
    """Run git in `folder`; return code 127 and a message where there is no git to run.

    `given` is what it reads from its standard input.
    """
    # An absolute path: a relative one would be looked up in `folder`, which may not be trusted.
    program = shutil.which("git")
    if program is None:
        return GitOutput(b"", b"git is not installed", 127)
    try:
        process = subprocess.Popen(
            [os.path.abspath(program), "--no-pager", *arguments],
            cwd=folder,
            env=_environment({**_SAFE_CONFIG, **(config or {})}),
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        return GitOutput(b"", os.fsencode(f"git does not start: {error}"), 127)
    with process:
        return _collect(process, timeout_s, given or None)


def _collect(process: subprocess.Popen[bytes], timeout_s: float, given: bytes | None) -> GitOutput:
    timed_out = False
    try:
        stdout, stderr = process.communicate(given, timeout=timeout_s)
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
    # Through the environment, not "-c": there a name with "=" in it cannot be written. What the
    # person set that way (safe.directory, in containers) comes first, so that ours wins.
    given = environment.get("GIT_CONFIG_COUNT", "")
    first = int(given) if given.isdecimal() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(config))
    for number, (name, value) in enumerate(config.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def find_work_tree(folder: str) -> str | None:
    """The nearest folder at or above this one that holds a `.git`, found without running git."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder
