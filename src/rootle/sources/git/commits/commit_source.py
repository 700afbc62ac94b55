"""The source of the commits of a repository."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final

from rootle.errors import IngestError
from rootle.sources.files.skip_rules import VANISHED
from rootle.sources.git.commits.commit_document import make_document
from rootle.sources.git.commits.commit_list import (
    ListedCommit,
    is_ancestor,
    list_commits,
    list_heads,
)
from rootle.sources.git.commits.patch_process import PatchProcess
from rootle.sources.git.history import find_shallow_commits
from rootle.sources.source import Document, DocumentEntry, Scan, Trust
from rootle.types import COMMIT_URI

COMMITS: Final = "commits"  # the name of the source
# Estimates, which are used to report the progress. The oldest commits of a shallow clone are read
# without their changes; if the clone is deepened, the other size causes them to be read again.
_COMMIT_BYTES: Final = 2_000
_MESSAGE_BYTES: Final = 500


class CommitSource:
    """The newest commits in the history of all work trees of a repository."""

    name = COMMITS
    trust: Trust = "project"

    def __init__(self, folder: str, max_commits: int) -> None:
        """Take the real path of a folder in any work tree of the repository."""
        self._folder = folder
        self._max_commits = max_commits

    def scan(self, token: str = "") -> Scan:
        """List the commits, or only the new ones if history was only extended.

        Commits beyond the limit are removed by the next full scan. Raise IngestError if git fails.
        """
        heads = list_heads(self._folder)
        if heads is None:
            raise IngestError(f"git cannot list the work trees of {self._folder}")
        current = self._make_token(heads)
        if token and current == token:
            return Scan((), is_complete=False, token=token)
        setting, *known = token.split() or [""]
        if known and setting == self._setting() and self._extends(heads, known):
            found = self._list(heads, known)
            return Scan(self._entries(found), is_complete=False, token=current)
        return Scan(self._entries(self._list(heads, ()) if heads else []), token=current)

    def current_token(self) -> str | None:
        """Return the token of a scan that would start now; None if git fails."""
        heads = list_heads(self._folder)
        return None if heads is None else self._make_token(heads)

    def _make_token(self, heads: Sequence[str]) -> str:
        return " ".join((self._setting(), *heads))

    def _setting(self) -> str:
        """Return what determines the list of commits, apart from the heads."""
        shallow = " ".join(sorted(find_shallow_commits(self._folder)))
        digest = blake2b(shallow.encode("ascii"), digest_size=8).hexdigest() if shallow else "full"
        return f"{self._max_commits}:{digest}"

    def look_up(self, uris: Collection[str]) -> Scan | None:  # noqa: ARG002
        """Return None: commits are only listed as a whole."""
        return None

    def is_readable(self, uri: str) -> bool:  # noqa: ARG002
        """Return True: a missing commit is not listed."""
        return True

    def reader(self) -> CommitReader:
        """Return a reader with its own git process."""
        return CommitReader(self._folder)

    def _extends(self, heads: Sequence[str], known: Sequence[str]) -> bool:
        """Return whether each known head is in the history of a current one."""
        return all(any(is_ancestor(self._folder, old, new) for new in heads) for old in known)

    def _list(self, heads: Sequence[str], without: Sequence[str]) -> list[ListedCommit]:
        found = list_commits(self._folder, heads, without=without, max_count=self._max_commits)
        if found is None:
            raise IngestError(f"git cannot list the commits of {self._folder}")
        return found

    def _entries(self, commits: Sequence[ListedCommit]) -> tuple[DocumentEntry, ...]:
        shallow = find_shallow_commits(self._folder)
        return tuple(
            DocumentEntry(
                f"{COMMIT_URI}{sha}",
                _MESSAGE_BYTES if sha in shallow else _COMMIT_BYTES,
                seconds * 1_000_000_000,
            )
            for sha, seconds in commits
        )


class CommitReader:
    """Reads commits. A copy in another process starts its own git."""

    def __init__(self, folder: str) -> None:
        self._patches = PatchProcess(folder)

    def read(self, uri: str) -> Document | str:
        """Return a commit as a document, or the reason why it cannot be read."""
        commit = self._patches.read(uri.removeprefix(COMMIT_URI))
        return VANISHED if commit is None else make_document(commit)
