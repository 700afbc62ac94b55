"""The index of the commits of a repository, shared by all of its work trees."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, Config
from rootle.errors import IndexStorageError, IngestError, RootleError, UnavailableError
from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import IndexReader
from rootle.indexing.content_writer import IndexSetup
from rootle.indexing.fingerprint import walk_rules
from rootle.indexing.git_history.commit_gap import (
    NOTHING_READ,
    describe_progress,
    describe_share,
    has_older_commits,
)
from rootle.indexing.git_history.commit_patches import CommitPatches
from rootle.indexing.git_history.commit_scope import CommitScope
from rootle.indexing.git_history.git_commits import GitCommits
from rootle.indexing.git_history.ignored_changes import IgnoredChanges
from rootle.indexing.indexer import Indexer
from rootle.indexing.status import measure_folder
from rootle.ingest.plan import token_key
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.sources.git.commits.commit_document import make_document
from rootle.sources.git.commits.commit_list import list_heads
from rootle.sources.git.commits.commit_source import (
    COMMIT_FORMAT,
    COMMITS,
    CommitSource,
    ConvertCommit,
)
from rootle.sources.git.commits.removed_code import RemovedCode
from rootle.sources.git.git_dirs import find_git_folders
from rootle.sources.git.history import find_shallow_commits
from rootle.types import (
    HISTORY_ADVICE,
    HistoryStatus,
    ProgressCallback,
    WarningCallback,
    ignore_progress,
)

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

# A background update waits only briefly for the lock, because the process that holds it indexes the
# same commits.
_LOCK_TIMEOUT_S: Final = 1.0
# If no commit is indexed when the waiting time of a question ends, the question waits up to this
# many times as long again. Meanwhile, it checks the number of commits every `_POLL_S` seconds.
_EXTRA_WAITS: Final = 2
_SHALLOW: Final = (
    "older commits are missing: this is a shallow clone; git fetch --unshallow completes it"
)
_NO_COMMIT: Final = "the repository has no commit yet"
_POLL_S: Final = 0.25
# When an update has indexed this share of its commits, the rest takes only a few seconds.
_NEARLY_ALL: Final = 0.8


def commit_config(config: Config) -> Config:
    """Return the configuration with which commits are indexed and searched.

    No search or embedding server receives commits. The shipped embedding model is always used,
    because any model other than a lookup table would need hours to embed them. Settings that apply
    only to the files of the folder have no effect, so that changing them does not rebuild the index
    of the commits.
    """
    return replace(
        config,
        embedding_model_id=DEFAULT_MODEL,
        embedding_endpoint="",
        dense_backend=EMBEDDED,
        sparse_backend=EMBEDDED,
        plugins=(),
        max_chunks_per_file=0,
        ocr="off",
        # Answers change when another commit is checked out, but the index does not.
        enable_cache=False,
    )


class CommitIndex(GitCommits):
    """Indexes the commits of one repository and provides snapshots of the index. Thread-safe."""

    def __init__(
        self,
        root: Path,
        history_dir: Path,
        config: Config,
        *,
        choose_model: Callable[[], ModelChoice],
        open_embedder: Callable[[], Embedder],
        on_warning: WarningCallback,
        convert: ConvertCommit = make_document,
    ) -> None:
        """`config` is the result of `commit_config`; the model must be the one that it names.

        `convert` returns the document that is indexed for a commit.
        """
        super().__init__(os.path.realpath(root), config.max_history_commits, walk_rules(config))
        self._may_write = config.enable_indexing
        self._on_warning = on_warning
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._awaited: threading.Thread | None = None  # the last update for which a call waited
        self._source = CommitSource(self._root, self._max_commits, self._count, convert)
        self._scope = CommitScope(self._root, self._max_commits)
        self._ignored = IgnoredChanges(self._root, self._scope.prefix)
        self._patches = CommitPatches(
            self._root, self._scope.prefix, self._ignored, self._rules.secret_exceptions
        )
        self._failure = ""  # the error message of the last update, or ""
        setup = IndexSetup(
            Path(self._root),
            history_dir,
            # The maximum size applies only to the files that `self._rules` checks, not to commits,
            # so changing it must not rebuild the index.
            replace(config, max_file_bytes=Config().max_file_bytes),
            (self._source,),
            choose_model=choose_model,
            open_embedder=open_embedder,
            on_warning=on_warning,
            in_stages="always",
            searches_unfinished=True,
            has_commit_dates=False,
            document_format=f"commits {COMMIT_FORMAT}",
        )
        # The objects of a repository are compressed. If their size justifies starting workers, the
        # text of the commits does too, because it is larger.
        git = find_git_folders(self._root)
        workers = PrestartedWorkers(None if git is None else Path(git.common, "objects"))
        self._indexer = Indexer(setup, on_commit=lambda _: None, prestarted=workers)

    def open_shown(self) -> IndexReader:
        """Return the newest snapshot without the changes to files that are now ignored.

        Raise IndexStorageError if no commit is indexed yet.
        """
        return self._ignored.hide(self.snapshot()).index

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot; raise IndexStorageError if no commit is indexed yet."""
        return self._indexer.snapshot()

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""
        return os.path.isdir(self._indexer.index_dir)

    def is_current(self) -> bool:
        """Return whether all commits of the current heads are indexed."""
        try:
            indexed = self.snapshot().value(token_key(COMMITS))
        except IndexStorageError:
            return False
        return indexed == self._source.current_token() and self._indexer.has_usable_index()

    @property
    def prefix(self) -> str:
        """The path of the folder in its work tree, ending in "/"; "" for the top folder."""
        return self._scope.prefix

    def find_visible(self) -> frozenset[int] | None:
        """Return the indexed commits that belong to the history of the folder; None for all.

        These are the commits that the checked-out commit contains and that changed files of the
        folder, not counting files that are ignored now.
        """
        return self.open_visible()[1]

    def open_visible(
        self, *, has_ignored: bool = False
    ) -> tuple[IndexReader, frozenset[int] | None]:
        """Return the newest snapshot, and the ids of the commits that `find_visible` selects in it.

        The snapshot is the result of `open_shown`; with `has_ignored`, it also contains the changes
        to files that are now ignored, and commits that changed only such files are selected too.
        Raise IndexStorageError if no commit is indexed yet.
        """
        snapshot = self.snapshot()
        heads = tuple(snapshot.value(token_key(COMMITS)).split()[1:])
        ids = self._scope.find_ids(snapshot, heads)
        if has_ignored:
            return snapshot, ids
        shown = self._ignored.hide(snapshot)
        return shown.index, self._scope.leave_out(snapshot, ids, shown.empty)

    def find_order(self) -> Mapping[int, int]:
        """Return the position of each indexed commit in the history of the folder, from 0.

        A commit follows all its descendants, whatever its date. Return an empty mapping if git
        fails.
        """
        return self._scope.find_order(self.snapshot())

    def update(
        self, on_progress: ProgressCallback = ignore_progress, *, timeout_s: float = -1
    ) -> int:
        """Index the new commits, and return how many were read.

        If another process is indexing them, wait at most `timeout_s` seconds, or without a limit if
        it is negative. Raise UnavailableError after the timeout, IndexStorageError if the index
        cannot be written, and IngestError if git fails.
        """
        if not self._may_write or self.is_current():
            return 0
        # A damaged index can be rebuilt, because git has everything that it contains.
        report = self._indexer.update(on_progress, timeout_s=timeout_s, rebuild="repair")
        return report.files_indexed

    def prepare(self, wait_s: float) -> str:
        """Start indexing new commits, and wait at most `wait_s` seconds until they are indexed.

        If no commit is indexed by then, wait for the first ones, up to three times as long in
        total: without them, there is no answer, and the next process has to begin again. Later
        calls during the same update wait only if it is nearly finished. Return "", or the reason
        why not all commits are indexed.
        """
        if self.is_current():
            return ""
        if self._may_write:
            before = self._count()
            self.update_in_background()
            if self._thread is not self._awaited or self._is_nearly_current():
                self.wait(wait_s)
                if not before:
                    self._wait_for_first(_EXTRA_WAITS * wait_s)
            self._awaited = self._thread
        return self.explain_gap()[0]

    def explain_gap(self) -> tuple[str, int]:
        """Return why the newest snapshot lacks commits, and its generation; -1 if there is none.

        The reason is "" if all commits are indexed.
        """
        try:
            snapshot = self.snapshot()
            generation = snapshot.generation
            has_heads = snapshot.value(token_key(COMMITS)) == self._source.current_token()
            progress = describe_progress(
                snapshot, self._root, self._max_commits, has_heads=has_heads
            )
        except IndexStorageError:
            generation, rebuilt = -1, self._indexer.read_rebuild_progress()
            progress = NOTHING_READ
            if rebuilt is not None:
                progress = f"because a damaged index is being rebuilt ({describe_share(rebuilt)})"
        if not progress or self.is_current():
            return "", generation
        if not self._may_write:
            return "enableIndexing is false, so new commits are not indexed", generation
        if self._failure:
            return f"not all commits are indexed: {self._failure}", generation
        return f"not all commits are indexed yet, {progress}; {HISTORY_ADVICE}", generation

    def explain_hidden(self) -> str:
        """Return why the result of `open_visible` has no commits; "" if it has some."""
        if not self._ignored.has_failed():
            return ""
        return (
            "git failed to check which files are ignored, so commits are hidden until it succeeds"
        )

    def describe_rebuild(self) -> str:
        """Return a note if the index is being rebuilt although it can be searched, else "".

        This happens after an upgrade, or a change of the settings.
        """
        try:
            is_complete = bool(self.snapshot().value("updated_at"))
        except IndexStorageError:
            return ""
        if not (self._may_write and is_complete) or self._indexer.has_usable_index():
            return ""
        if self._failure:
            return f"the index of commits is not rebuilt, and the old one answers: {self._failure}"
        share = describe_share(self._indexer.read_rebuild_progress())
        return f"the index of commits is being rebuilt ({share}); until then, the old one answers"

    def describe_clone(self) -> str:
        """Return a note if the repository lacks its older commits, or has none; else ""."""
        if find_shallow_commits(self._root):
            return _SHALLOW
        return "" if self._count() or list_heads(self._root) != () else _NO_COMMIT

    def explain_limit(self) -> str:
        """Return why older commits are not indexed; "" if there are no older ones."""
        if self._count() < self._max_commits:
            return ""
        heads = tuple(self.snapshot().value(token_key(COMMITS)).split()[1:])
        if not has_older_commits(self._root, heads, self._max_commits):
            return ""
        return f"only the newest {self._max_commits:,} are indexed, as maxHistoryCommits says"

    def _wait_for_first(self, timeout_s: float) -> None:
        """Wait until the first commits are indexed, or the update has ended."""
        for _ in range(int(timeout_s / _POLL_S)):
            if self._count() or self._thread is None or not self._thread.is_alive():
                return
            self.wait(_POLL_S)

    def _is_nearly_current(self) -> bool:
        first_run = self._indexer.state.read_progress()
        done, total = first_run or self._indexer.read_rebuild_progress() or (0, 0)
        return done >= _NEARLY_ALL * total

    def read_removed(self, sha: str) -> Sequence[RemovedCode]:
        """Return the code that a commit removed from files below the folder.

        Paths are relative to the folder, and secrets are masked.
        """
        return self._patches.read_removed(sha)

    def read_patch(self, sha: str) -> Mapping[str, Sequence[str]]:
        """Return the lines of each file in the patch of a commit, keyed by its path in the index.

        Each line begins with "+", "-" or a space. Files whose content is not indexed or must not be
        shown are left out.
        """
        return self._patches.read_lines(sha, self.snapshot())

    def read_before(self, sha: str, path: str) -> str | None:
        """Return the text of a file before a commit changed it; None if git cannot read it.

        `path` is the path before or after the commit.
        """
        return self._patches.read_before(sha, path, self.snapshot())

    def update_in_background(self) -> None:
        """Start indexing the new commits, unless that is already happening."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._update_quietly, name="rootle-commits", daemon=True
                )
                self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait until the update in the background has ended, at most for `timeout_s` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def status(self) -> HistoryStatus | None:
        """Return the status of the index; None if there is none."""
        if not self.exists():
            return None
        folder = self._indexer.index_dir
        return HistoryStatus(str(folder), self._count(), measure_folder(folder), self.is_current())

    def count_sections(self) -> int:
        """Return the number of sections; raise IndexStorageError if no commit is indexed yet."""
        return sum(map(len, self.snapshot().section_labels().values()))

    def clear(self) -> bool:
        """Delete the index; return False if there was none."""
        return self._indexer.clear()

    def close(self) -> None:
        """Close the files of the index, and end the git process."""
        self._indexer.close()
        self._patches.close()

    def _count(self) -> int:
        try:
            return self.snapshot().file_count()
        except IndexStorageError:
            return 0

    def _update_quietly(self) -> None:
        self._failure = ""
        try:
            self.update(timeout_s=_LOCK_TIMEOUT_S)
        except UnavailableError:
            pass  # another process indexes the same commits
        except (IndexStorageError, IngestError) as error:
            self._warn(error)

    def _warn(self, error: RootleError) -> None:
        self._failure = str(error)
        self._on_warning(f"commits are not searched completely: {error}")
