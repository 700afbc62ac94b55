"""A repository with thousands of commits, written by `git fast-import`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from sample import OLD_S, git

STEP_S = 60
FILES = 40


def make_long_history(root: Path, commits: int) -> Path:
    """Create a repository in which commit n changes `busy/file_<n % 40>.py`.

    The first commit also adds `old.py` and `sub/old.py`, and commit n has the time OLD_S + n
    minutes. The files on disk have the current time, as in a new clone.
    """
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    stream = "".join(_commits(commits)).encode()
    subprocess.run(["git", "-C", root, "fast-import", "--quiet"], input=stream, check=True)
    git(root, "reset", "-q", "--hard", "main")
    return root


def last_change_s(path: str, commits: int) -> int:
    """Return the time of the last commit that changed a file of a repository from this module."""
    if not path.startswith("busy/"):
        return OLD_S
    number = int(path.removeprefix("busy/file_").removesuffix(".py"))
    last = commits - 1 - (commits - 1 - number) % FILES
    return OLD_S + last * STEP_S


def _commits(count: int) -> Iterator[str]:
    for number in range(count):
        yield "commit refs/heads/main\n"
        yield f"committer t <t@example.com> {OLD_S + number * STEP_S} +0000\n"
        yield _data(f"commit {number}")
        if number == 0:
            for path in ("old.py", "sub/old.py"):
                yield f"M 100644 inline {path}\n" + _data("zebra = 'old'\n")
        yield f"M 100644 inline busy/file_{number % FILES}.py\n" + _data(f"zebra = {number}\n")


def _data(text: str) -> str:
    return f"data {len(text)}\n{text}\n"
