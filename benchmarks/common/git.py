"""Git commands for the benchmarks. Needs only the standard library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

SNIFFED_BYTES = 8_000  # a file with a zero byte in its first bytes is binary, as in git


class GitError(Exception):
    """Raised when git fails, with git's message."""


def run_git(folder: Path, *arguments: str, stdin: str = "") -> str:
    """Run git in a folder, without password prompts, and return its output."""
    command = ["git", "-C", str(folder), "-c", "log.showSignature=false", *arguments]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, input=stdin, env=environment, encoding="utf-8", errors="replace",
            capture_output=True,
        )  # fmt: skip
    except OSError as error:
        raise GitError(f"git cannot be run: {error}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
        raise GitError(f"git {arguments[0]}: {(fatal or lines)[0]}")
    return done.stdout


def commit_changes(root: Path, message: str) -> None:
    """Commit all files of a work tree."""
    run_git(root, "add", "-A")
    identity = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@example.com")
    run_git(root, *identity, "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", message)


def tracked_texts(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each tracked text file in the work tree, sorted by path."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--stage"]
    listing = subprocess.run(command, capture_output=True, check=True).stdout
    for entry in listing.decode(errors="surrogateescape").split("\0"):
        path = entry.partition("\t")[2]
        if not entry.startswith("100"):  # a symbolic link or a submodule
            continue
        try:
            content = (root / path).read_bytes()
        except OSError:
            continue
        if b"\0" not in content[:SNIFFED_BYTES]:
            yield path, content
