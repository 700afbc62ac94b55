"""Replicate the index to a search server, starting from the state of the replica.

The replica has a stamp, which is written after each batch. After an interruption, the next run
therefore continues after the last complete batch. A failure is stored with its reason, and
replication is retried with exponential backoff.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rootle.concurrency.backoff import Backoff
from rootle.errors import RefusedError, UnavailableError
from rootle.index.local.content_dir import content_dir
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.writer_lock import writer_lock
from rootle.index.reader import FileState
from rootle.index.remote.change_source import ChangeSource
from rootle.index.remote.protocol import EMPTY_GENERATION, Leg, RemoteChunk, RemoteIndex, Stamp
from rootle.index.remote.replica_state import ReplicaState

_LOG = logging.getLogger(__name__)

_BATCH_CHUNKS: Final = 400
_BATCH_FILES: Final = 200
_BACKOFF: Final = Backoff(first_s=2.0, longest_s=600.0)
# HTTP status codes of errors that recreating the index may resolve. Other errors are caused by
# wrong credentials or by the server.
_INDEX_ERRORS: Final = frozenset({400, 404, 422})


@dataclass(frozen=True, slots=True)
class ReplicaTarget:
    """A replica to update: its local index, its leg, and how to open it by name."""

    folder: Path  # the folder of the local index
    root: str
    leg: Leg
    server: str  # kind and endpoint, for the stored state
    open_index: Callable[[str], RemoteIndex]


def lock_name(leg: Leg) -> str:
    """Return the name of the lock file that serializes writes to the server of a leg."""
    return f"feed-{leg}.lock"


@dataclass(slots=True)
class Replication:
    """Replication of one leg to one server. A lock serializes runs of several processes."""

    target: ReplicaTarget
    clock: Callable[[], float] = time.time

    def run(
        self, may_continue: Callable[[], bool], *, timeout_s: float = 0.0, is_forced: bool = False
    ) -> ReplicaState | None:
        """Update the replica and return its state; None if another process is replicating.

        A forced run ignores the backoff after a failure, and verifies the number of chunks. Raises
        IndexStorageError if there is no local index or it cannot be read.
        """
        try:
            with writer_lock(
                self.target.folder, timeout_s, _say_nothing, lock_name(self.target.leg)
            ):
                return self._run_locked(may_continue, is_forced=is_forced)
        except UnavailableError:
            # Another process holds the lock. Errors of the server are not raised, but recorded in
            # the state.
            return None

    def _run_locked(self, may_continue: Callable[[], bool], *, is_forced: bool) -> ReplicaState:
        with storage_errors(self.target.folder):
            connection = open_database(content_dir(self.target.folder), create=False)
            try:
                return self._run(ChangeSource(connection), may_continue, is_forced=is_forced)
            finally:
                connection.close()

    def _run(
        self, changes: ChangeSource, may_continue: Callable[[], bool], *, is_forced: bool
    ) -> ReplicaState:
        target = self.target
        name = changes.index_name(target.root, target.leg)
        before = changes.state(target.leg)
        if before is None or before.server != target.server:
            before = ReplicaState(target.server, name, EMPTY_GENERATION)
        if not is_forced and self.clock() < before.retry_at_s:
            return before
        if before.name != name:
            self._drop(before.name)
        if target.leg == "dense" and not changes.dimensions:
            return before  # no chunk has an embedding yet
        try:
            index = target.open_index(name)
            # If the server has failed, it may have been killed, and may have lost acknowledged
            # writes.
            is_checked = is_forced or before.failures > 0
            generation = _Run(changes, index, target.leg, may_continue).run(is_checked=is_checked)
            after = ReplicaState(target.server, name, generation)
        except _StoppedError:
            return before
        except UnavailableError as error:
            after = self._record_failure(replace(before, name=name), str(error))
            _LOG.warning("the %s index at %s is not up to date: %s", target.leg, name, error)
        if after != before:
            changes.set_state(target.leg, after)
        return after

    def _drop(self, name: str) -> None:
        """Delete the replica of an earlier model or database."""
        try:
            self.target.open_index(name).drop()
        except UnavailableError as error:
            _LOG.warning("cannot delete the replica %s: %s", name, error)

    def _record_failure(self, before: ReplicaState, reason: str) -> ReplicaState:
        now, failures = self.clock(), before.failures + 1
        return replace(
            before,
            failures=failures,
            since_s=before.since_s if before.failures else now,
            retry_at_s=now + _BACKOFF.delay_s(failures, random.random),
            reason=reason,
        )


@dataclass(slots=True)
class _Run:
    """One replication run."""

    changes: ChangeSource
    index: RemoteIndex
    leg: Leg
    may_continue: Callable[[], bool]

    def run(self, *, is_checked: bool) -> int:
        """Update the replica and return its generation."""
        stamp = self._usable_stamp()
        try:
            generation = self._fill(stamp)
        except RefusedError as error:
            if error.status not in _INDEX_ERRORS:
                raise
            # The index has other dimensions, or another program has changed it: recreate it.
            _LOG.warning("recreating the %s index: %s", self.leg, error)
            return self._fill(self._create())
        if (is_checked or stamp is None) and not self._is_complete(generation):
            _LOG.warning("recreating the %s index: chunks are missing", self.leg)
            return self._fill(self._create())
        return generation

    def _usable_stamp(self) -> Stamp | None:
        stamp = self.index.read_stamp(self.changes.dimensions)
        if stamp is None or stamp.generation > self.changes.generation:
            return None
        # If the replica is too old, the files removed since its generation are no longer recorded.
        is_too_old = stamp.generation < self.changes.removals_known_since
        return None if is_too_old and stamp.is_complete else stamp

    def _create(self) -> Stamp:
        self.index.create(self.changes.dimensions)
        return Stamp(EMPTY_GENERATION, is_complete=False)

    def _fill(self, stamp: Stamp | None) -> int:
        """Send the missing changes in batches, and write the stamp after each batch."""
        goal = self.changes.generation
        is_empty = stamp is None
        stamp = stamp or self._create()
        if stamp == Stamp(goal, is_complete=True):
            return goal
        changed, removed = self.changes.list_changes_since(stamp.generation)
        for start in range(0, 0 if is_empty else len(removed), _BATCH_FILES):
            self.index.delete_stale(dict.fromkeys(removed[start : start + _BATCH_FILES], ()))
        for batch in self._batches(changed):
            self._write(batch, is_empty=is_empty)
            # The next batch may contain more files of this batch's last generation.
            complete = batch[-1][0].generation - 1
            if complete > stamp.generation:
                stamp = replace(stamp, generation=complete)
                self.index.commit(stamp)
        self.index.commit(Stamp(goal, is_complete=True))
        return goal

    def _batches(self, changed: Sequence[FileState]) -> Iterator[list[_FileChunks]]:
        batch: list[_FileChunks] = []
        size = 0
        for state in changed:
            chunks = self.changes.list_chunks(state, self.leg)
            batch.append((state, chunks))
            size += len(chunks)
            if size >= _BATCH_CHUNKS or len(batch) >= _BATCH_FILES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write(self, batch: Sequence[_FileChunks], *, is_empty: bool) -> None:
        """Write new chunks before deleting stale ones, so that no file is missing in between."""
        if not self.may_continue():
            raise _StoppedError
        chunks = [chunk for _, file_chunks in batch for chunk in file_chunks]
        for start in range(0, len(chunks), _BATCH_CHUNKS):
            self.index.put(chunks[start : start + _BATCH_CHUNKS])
        if not is_empty:
            self.index.delete_stale(
                {state.id: [chunk.id for chunk in file_chunks] for state, file_chunks in batch}
            )

    def _is_complete(self, generation: int) -> bool:
        """Return whether the replica has all chunks, regardless of its stamp.

        A killed server may lose acknowledged writes, the newest ones first. If it has lost the
        writes that replaced a file, the newest chunk is missing. Any other loss changes the number
        of chunks.
        """
        expected, newest = self.changes.count_and_newest(self.leg)
        if self.changes.generation != generation:
            return True  # a writer has committed meanwhile, so the numbers cannot be compared
        return self.index.count() == expected and (not newest or self.index.contains(newest))


_FileChunks = tuple[FileState, list[RemoteChunk]]


class _StoppedError(Exception):
    """Raised if the caller stops the run."""


def _say_nothing() -> None:
    pass
