"""Brings a server's index to the state of the truth, from whatever state it is found in.

The server's own stamp tells how far it is, so a run that was cut short, here or there, is taken up
where it stopped; the stamp of a batch is written after the batch. What a server refuses is
remembered with its reason, and tried again after a while that doubles each time.
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
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.writer_lock import writer_lock
from rootle.index.reader import FileState
from rootle.index.remote.change_source import ChangeSource
from rootle.index.remote.protocol import NOTHING_HELD, Leg, RemoteChunk, RemoteIndex, Stamp
from rootle.index.remote.replica_state import ReplicaState

_LOG = logging.getLogger(__name__)

_BATCH_CHUNKS: Final = 400
_BATCH_FILES: Final = 200
_BACKOFF: Final = Backoff(first_s=2.0, longest_s=600.0)
# A refusal that a new index may help against; another one is about the key or the whole server.
_ABOUT_THE_INDEX: Final = frozenset({400, 404, 422})


@dataclass(frozen=True, slots=True)
class ReplicaTarget:
    """Which index of which truth is fed, and how it is reached by its name."""

    folder: Path  # of the index here
    root: str
    leg: Leg
    server: str  # kind and endpoint, for the record
    open_index: Callable[[str], RemoteIndex]


def lock_name(leg: Leg) -> str:
    """The file in the folder of the index that keeps those apart who write to a leg's server."""
    return f"feed-{leg}.lock"


@dataclass(slots=True)
class Replication:
    """One leg's index on one server. Runs of several processes take turns."""

    target: ReplicaTarget
    clock: Callable[[], float] = time.time

    def run(
        self, goes_on: Callable[[], bool], *, timeout_s: float = 0.0, is_forced: bool = False
    ) -> ReplicaState | None:
        """Catch up with the truth; what came of it, None where another process is at it.

        A pause after a failure is kept, unless it is forced: then the content is counted too.
        Raises IndexStorageError where there is no truth or it cannot be read.
        """
        try:
            with writer_lock(
                self.target.folder, timeout_s, _say_nothing, lock_name(self.target.leg)
            ):
                return self._run_locked(goes_on, is_forced=is_forced)
        except UnavailableError:
            return None  # of the lock alone: those of the server are remembered

    def _run_locked(self, goes_on: Callable[[], bool], *, is_forced: bool) -> ReplicaState:
        with storage_errors(self.target.folder):
            connection = open_database(self.target.folder, create=False)
            try:
                return self._run(ChangeSource(connection), goes_on, is_forced=is_forced)
            finally:
                connection.close()

    def _run(
        self, truth: ChangeSource, goes_on: Callable[[], bool], *, is_forced: bool
    ) -> ReplicaState:
        target = self.target
        name = truth.index_name(target.root, target.leg)
        before = truth.record(target.leg)
        if before is None or before.server != target.server:
            before = ReplicaState(target.server, name, NOTHING_HELD)
        if not is_forced and self.clock() < before.retry_at_s:
            return before
        if before.name != name:
            self._drop(before.name)
        if target.leg == "dense" and not truth.dimensions:
            return before  # no chunk has its embedding yet
        try:
            index = target.open_index(name)
            # What failed before may have been killed, and have lost more than it knows.
            is_checked = is_forced or before.failures > 0
            generation = _Round(truth, index, target.leg, goes_on).run(is_checked=is_checked)
            after = ReplicaState(target.server, name, generation)
        except _StoppedError:
            return before
        except UnavailableError as error:
            after = self._failed(replace(before, name=name), str(error))
            _LOG.warning("the %s index at %s is not up to date: %s", target.leg, name, error)
        if after != before:
            truth.set_record(target.leg, after)
        return after

    def _drop(self, name: str) -> None:
        """Delete what an earlier model or database left there."""
        try:
            self.target.open_index(name).drop()
        except UnavailableError as error:
            _LOG.warning("%s stays on its server: %s", name, error)

    def _failed(self, before: ReplicaState, reason: str) -> ReplicaState:
        now, failures = self.clock(), before.failures + 1
        return replace(
            before,
            failures=failures,
            since_s=before.since_s if before.failures else now,
            retry_at_s=now + _BACKOFF.delay_s(failures, random.random),
            reason=reason,
        )


@dataclass(slots=True)
class _Round:
    """One run against one server."""

    truth: ChangeSource
    index: RemoteIndex
    leg: Leg
    goes_on: Callable[[], bool]

    def run(self, *, is_checked: bool) -> int:
        """The generation that the server holds now."""
        stamp = self._usable_stamp()
        try:
            generation = self._fill(stamp)
        except RefusedError as error:
            if error.status not in _ABOUT_THE_INDEX:
                raise
            # It was changed under our hands, or takes other vectors: only a new one helps.
            _LOG.warning("making the %s index again: %s", self.leg, error)
            return self._fill(self._new())
        if (is_checked or stamp is None) and not self._is_complete(generation):
            _LOG.warning("the %s index lacks chunks: making it again", self.leg)
            return self._fill(self._new())
        return generation

    def _usable_stamp(self) -> Stamp | None:
        stamp = self.index.held(self.truth.dimensions)
        if stamp is None or stamp.generation > self.truth.generation:
            return None
        # A copy so old that nobody knows any more which files it should have lost.
        is_too_old = stamp.generation < self.truth.removals_known_since
        return None if is_too_old and stamp.is_whole else stamp

    def _new(self) -> Stamp:
        self.index.create(self.truth.dimensions)
        return Stamp(NOTHING_HELD, is_whole=False)

    def _fill(self, stamp: Stamp | None) -> int:
        """Give it what it lacks, batch by batch, and stamp each."""
        goal = self.truth.generation
        is_empty = stamp is None
        stamp = stamp or self._new()
        if stamp == Stamp(goal, is_whole=True):
            return goal
        changed, removed = self.truth.changed_since(stamp.generation)
        for start in range(0, 0 if is_empty else len(removed), _BATCH_FILES):
            self.index.prune(dict.fromkeys(removed[start : start + _BATCH_FILES], ()))
        for batch in self._batches(changed):
            self._write(batch, is_empty=is_empty)
            # The last file's generation may go on in the next batch.
            so_far = batch[-1][0].generation - 1
            if so_far > stamp.generation:
                stamp = replace(stamp, generation=so_far)
                self.index.settle(stamp)
        self.index.settle(Stamp(goal, is_whole=True))
        return goal

    def _batches(self, changed: Sequence[FileState]) -> Iterator[list[_FileChunks]]:
        batch: list[_FileChunks] = []
        size = 0
        for state in changed:
            chunks = self.truth.chunks_of(state, self.leg)
            batch.append((state, chunks))
            size += len(chunks)
            if size >= _BATCH_CHUNKS or len(batch) >= _BATCH_FILES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write(self, batch: Sequence[_FileChunks], *, is_empty: bool) -> None:
        """The new chunks first: at no moment does a file vanish that is there all the time."""
        if not self.goes_on():
            raise _StoppedError
        chunks = [chunk for _, own in batch for chunk in own]
        for start in range(0, len(chunks), _BATCH_CHUNKS):
            self.index.put(chunks[start : start + _BATCH_CHUNKS])
        if not is_empty:
            self.index.prune({state.id: [chunk.id for chunk in own] for state, own in batch})

    def _is_complete(self, generation: int) -> bool:
        """Whether it holds what it should, whatever its stamp says.

        A server that was killed may lose what it had acknowledged: the newest first, so that a file
        whose replacement is lost shows by the newest chunk, and any other loss by the number.
        """
        wanted, newest = self.truth.count_and_newest(self.leg)
        if self.truth.generation != generation:
            return True  # a writer has moved on: there is nothing to compare with
        return self.index.count() == wanted and (not newest or self.index.holds(newest))


_FileChunks = tuple[FileState, list[RemoteChunk]]


class _StoppedError(Exception):
    """The caller wants no more of it for now."""


def _say_nothing() -> None:
    pass
