"""Commits and their files, read from a clone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.git import GitError, run_git

MAX_COMMITS = 3_000

BOT = re.compile(
    r"bot\b|dependabot|renovate|github-actions|pre-commit-ci|weblate|greenkeeper|crowdin|ci@", re.I
)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit."""

    sha: str
    parents: tuple[str, ...]
    people: str  # names and email addresses of author and committer, one per line
    time_s: int
    subject: str
    body: str

    @property
    def is_automatic(self) -> bool:
        """Return whether a bot is the author or the committer."""
        return any(map(BOT.search, self.people.splitlines()))


def read_commits(clone: Path, revision: str) -> list[Commit]:
    """Return the last commits up to a revision, without merges, newest first."""
    fields = "%H%x1f%P%x1f%an%n%ae%n%cn%n%ce%x1f%ct%x1f%s%x1f%b"
    limits = ("--no-merges", f"--max-count={MAX_COMMITS}", "--date-order")
    arguments = ("log", "-z", *limits, "--encoding=UTF-8", f"--format={fields}", revision)
    commits = []
    for entry in filter(None, run_git(clone, *arguments).split("\0")):
        sha, parents, people, time_s, subject, body = entry.split("\x1f", 5)
        commits.append(Commit(sha, tuple(parents.split()), people, int(time_s), subject, body))
    return commits


def regular_files(clone: Path, revision: str) -> set[str]:
    """Return the paths of a revision's regular files, without links and submodules."""
    entries = run_git(clone, "ls-tree", "-r", "-z", revision).split("\0")
    return {entry.partition("\t")[2] for entry in entries if entry.startswith("100")}


def changed_files(clone: Path, parent: str, commit: str) -> Iterator[tuple[str, int]]:
    """Yield each changed text file's path in the parent commit, and its number of changed lines.

    Yield nothing if the clone lacks a blob that is needed for the comparison.
    """
    try:
        output = run_git(clone, "diff-tree", "-r", "-M", "--numstat", "-z", parent, commit)
    except GitError:
        return
    entries = iter(output.split("\0"))
    for entry in entries:
        added, _, rest = entry.partition("\t")
        removed, _, path = rest.partition("\t")
        if not path and entry:  # a rename: the old and the new name follow as entries
            path, _ = next(entries), next(entries)
        if added.isdigit() and removed.isdigit():  # binary files have hyphens instead of numbers
            yield path, int(added) + int(removed)


def added_files(clone: Path, parent: str, commit: str) -> set[str]:
    """Return the files that a commit adds."""
    arguments = ("diff-tree", "-r", "-M", "--diff-filter=A", "--name-only", "-z", parent, commit)
    added = set(filter(None, run_git(clone, *arguments).split("\0")))
    return added - regular_files(clone, parent)
