"""The source of the commits of a repository."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from rootle.errors import IngestError
from rootle.sources.files.skip_rules import VANISHED
from rootle.sources.git.commits.commit_document import make_document
from rootle.sources.git.commits.commit_list import ListedCommit, list_commits, list_heads
from rootle.sources.git.commits.patch_parsing import CommitPatch
from rootle.sources.git.commits.patch_process import (
    ALL_LEVELS,
    Levels,
    PatchProcess,
    find_readable_levels,
)
from rootle.sources.git.history import (
    digest_clone_limits,
    find_shallow_commits,
    is_partial_clone,
)
from rootle.sources.source import Document, DocumentEntry, Scan, Trust
from rootle.types import COMMIT_URI

COMMITS: Final = "commits"  # the name of the source
# The version of the code that converts commits to documents. A new version causes the indexes of
# commits and of removed definitions to be rebuilt.
COMMIT_FORMAT: Final = 5
# Estimated sizes of commits, which are used to report progress. The oldest commits of a shallow
# clone are read without their changes (_MESSAGE_BYTES). All commits of a partial clone are read
# without the changed lines (_PATHS_BYTES). If the clone is completed later, the sizes differ, and
# these commits are read again.
_COMMIT_BYTES: Final = 2_000
_PATHS_BYTES: Final = 1_000
_MESSAGE_BYTES: Final = 500
# The number of commits that are read to check whether a partial clone has been completed. A partial
# clone lacks most contents, so a few commits are enough.
_PROBES: Final = 20

ConvertCommit = Callable[[CommitPatch], Document]  # a module-level function, which can be pickled


class CommitSource:
    """The newest commits in the history of all work trees of a repository."""

    name = COMMITS
    trust: Trust = "project"

    def __init__(
        self,
        folder: str,
        max_commits: int,
        count_indexed: Callable[[], int],
        convert: ConvertCommit = make_document,
    ) -> None:
        """`folder` is the real path of a folder in any work tree of the repository.

        `count_indexed` returns the number of commits in the index, and `convert` returns the
        document for a commit.
        """
        self._folder = folder
        self._max_commits = max_commits
        self._count_indexed = count_indexed
        self._convert = convert

    def scan(self, token: str = "") -> Scan:
        """List the commits, or only the new ones if the history has only grown.

        If the index would exceed its limit with the new commits, all commits are listed, so that
        the oldest ones are removed. Raise IngestError if git fails.
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
            if self._count_indexed() + len(found) <= self._max_commits:
                return Scan(self._entries(found), is_complete=False, token=current)
        return Scan(self._entries(self._list(heads, ()) if heads else []), token=current)

    def current_token(self) -> str | None:
        """Return the token that a scan would return now; None if git fails."""
        heads = list_heads(self._folder)
        return None if heads is None else self._make_token(heads)

    def _make_token(self, heads: Sequence[str]) -> str:
        return " ".join((self._setting(), *heads))

    def _setting(self) -> str:
        """Return the settings, apart from the heads, that determine the commits and their texts."""
        return f"{self._max_commits}:{digest_clone_limits(self._folder)}"

    def look_up(self, uris: Collection[str]) -> Scan | None:  # noqa: ARG002
        """Return None, because single commits cannot be looked up."""
        return None

    def is_readable(self, uri: str) -> bool:  # noqa: ARG002
        """Return True, because a listed commit always exists."""
        return True

    def reader(self) -> CommitReader:
        """Return a reader with its own git process."""
        heads = list_heads(self._folder) if is_partial_clone(self._folder) else None
        levels = self._find_levels(self._list(heads, ())) if heads else ALL_LEVELS
        return CommitReader(self._folder, self._convert, levels)

    def _extends(self, heads: Sequence[str], known: Sequence[str]) -> bool:
        """Return whether each known head is in the history of a current head."""
        return list_commits(self._folder, known, without=heads, max_count=1) == []

    def _list(self, heads: Sequence[str], without: Sequence[str]) -> list[ListedCommit]:
        found = list_commits(self._folder, heads, without=without, max_count=self._max_commits)
        if found is None:
            raise IngestError(f"git cannot list the commits of {self._folder}")
        return found

    def _entries(self, commits: Sequence[ListedCommit]) -> tuple[DocumentEntry, ...]:
        shallow = find_shallow_commits(self._folder)
        is_complete = self._find_levels(commits) == ALL_LEVELS
        size = _COMMIT_BYTES if is_complete else _PATHS_BYTES
        return tuple(
            # A commit never changes, so its entry needs no modification time.
            DocumentEntry(f"{COMMIT_URI}{sha}", _MESSAGE_BYTES if sha in shallow else size, 0)
            for sha, _ in commits
        )

    def _find_levels(self, commits: Sequence[ListedCommit]) -> Levels:
        """Return the options with which git can read these commits, even in a partial clone."""
        if not is_partial_clone(self._folder):
            return ALL_LEVELS
        probes = commits[:: -(-len(commits) // _PROBES) or 1]
        return find_readable_levels(self._folder, [commit.sha for commit in probes])


class CommitReader:
    """Reads commits. A copy in another process starts its own git."""

    def __init__(self, folder: str, convert: ConvertCommit, levels: Levels) -> None:
        self._patches = PatchProcess(folder, levels)
        self._convert = convert

    def read(self, uri: str) -> Document | str:
        """Return a commit as a document, or the reason why it cannot be read."""
        commit = self._patches.read(uri.removeprefix(COMMIT_URI))
        return VANISHED if commit is None else self._convert(commit)
