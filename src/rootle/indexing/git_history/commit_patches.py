"""Read the patches of single commits from git."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rootle.index.local.snapshot import Snapshot
from rootle.indexing.git_history.ignored_changes import IgnoredChanges
from rootle.sources.git.commits.patch_parsing import FileChange
from rootle.sources.git.commits.patch_process import PatchProcess
from rootle.sources.git.commits.removed_code import RemovedCode, find_removed_code
from rootle.sources.git.lines.commit_facts import read_committed
from rootle.text.secret_masking import mask_patch


class CommitPatches:
    """Reads the changes of single commits, using one git process. Thread-safe."""

    def __init__(
        self, root: str, prefix: str, ignored: IgnoredChanges, secret_exceptions: tuple[str, ...]
    ) -> None:
        """`prefix` is the path of the folder `root` in its work tree, ending in "/", or ""."""
        self._root = root
        self._prefix = prefix
        self._ignored = ignored
        self._secret_exceptions = secret_exceptions
        self._process = PatchProcess(root)
        self._lock = threading.Lock()

    def read_removed(self, sha: str) -> Sequence[RemovedCode]:
        """Return the removed code, as in `CommitIndex.read_removed`."""
        with self._lock:
            commit = self._process.read(sha)
        found = () if commit is None else find_removed_code(commit)
        return [self._localize(code) for code in found if code.path.startswith(self._prefix)]

    def read_lines(self, sha: str, snapshot: Snapshot) -> Mapping[str, Sequence[str]]:
        """Return the lines of the patch, as in `CommitIndex.read_patch`."""
        return {
            change.path: [line for hunk in change.hunks for line in hunk.lines]
            for change in self._ignored.drop_hidden(snapshot, self._read_changes(sha))
        }

    def read_before(self, sha: str, path: str, snapshot: Snapshot) -> str | None:
        """Return an earlier text, as in `CommitIndex.read_before`."""
        found = [one for one in self._read_changes(sha) if path in (one.path, one.old_path)]
        for change in self._ignored.drop_hidden(snapshot, found):
            content = read_committed(self._root, f"{sha}^", change.old_path)
            return None if content is None else content.decode("utf-8", "replace")
        return None

    def close(self) -> None:
        """End the git process."""
        with self._lock:
            self._process.close()

    def _read_changes(self, sha: str) -> Sequence[FileChange]:
        with self._lock:
            commit = self._process.read(sha)
        return commit.changes if commit is not None else ()

    def _localize(self, code: RemovedCode) -> RemovedCode:
        masked = mask_patch("\n".join(code.lines), self._secret_exceptions).text
        path = code.path.removeprefix(self._prefix)
        return replace(code, path=path, lines=tuple(masked.split("\n")))
