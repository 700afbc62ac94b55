"""Keeps an index fresh while it runs: hears of changes, gathers them, has them indexed."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from rootle.errors import IndexStorageError, IngestError, RootleError, UnavailableError
from rootle.indexing.indexer import Indexer
from rootle.indexing.watch.debounce import Debouncer, EventBatch
from rootle.indexing.watch.file_events import FileChanges
from rootle.indexing.watch.file_watcher import Watcher
from rootle.indexing.watch.watcher_state import (
    QUESTION_PREFIX,
    WISH_NAME,
    WatcherCommand,
    WatcherState,
    WatcherStateFile,
)
from rootle.telemetry.spans import record_buffered, watcher_failed

# Another process that writes for longer than this is left alone; the batch waits and grows.
_PATIENCE_S: Final = 5.0
_TRY_AGAIN_S: Final = 1.0
# A full disk, a folder that is gone, a system that watches no more: not healed in a moment.
_HEAL_S: Final = 30.0
# While git is at work its lock is looked at so often, should its end not be heard.
_GIT_LOOK_S: Final = 1.0
# What a storm adds up to is told to others at most so often.
_TELL_S: Final = 0.5
# More files than this are not indexed at once for somebody who asks: a storm stays one batch.
_FEW: Final = 50


class WatchService:
    """One watched index, with threads of its own. As a context it stops at the end.

    `on_warning` is told when it fails, and when it works again.
    """

    def __init__(
        self, indexer: Indexer, debounce_s: float, on_warning: Callable[[str], None]
    ) -> None:
        self._indexer = indexer
        self._on_warning = on_warning
        self._place = WatcherStateFile(indexer.index_dir)
        self._gathering = Debouncer(debounce_s)
        self._watcher = Watcher(
            os.fspath(indexer.root), os.fspath(self._place.folder), self._hear, self._lose
        )
        # Guards all that follows, and the gathering.
        self._changed = threading.Condition(threading.RLock())
        self._state = WatcherState(os.getpid(), is_ready=False, committed_at=None, generation=0)
        self._at_work: EventBatch | None = None
        self._wish = WatcherCommand()
        self._questions: set[str] = set()
        self._missing: frozenset[str] = frozenset()
        self._is_stopping = False
        self._not_before = 0.0
        self._ended_at = 0.0
        self._told_at = 0.0
        self._thread = threading.Thread(target=self._run, name="rootle-watch", daemon=True)

    def start(self) -> WatchService:
        """Begin to watch; the index is compared with the whole folder first.

        Raises UnavailableError where another process watches already or the system refuses.
        """
        self._indexer.prepare()
        self._place.claim()
        try:
            self._watcher.renew()
        except RootleError as error:
            self._tell(error=str(error))
            self._place.release(forget=False)
            raise
        self._gathering.add_everything(time.monotonic())
        self._tell()
        self._thread.start()
        return self

    def stop(self) -> None:
        """End cleanly: of a batch that is under way what is written stays, the rest waits."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._thread.join()
        self._watcher.close()

    def __enter__(self) -> WatchService:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def join(self) -> None:
        """Return when it has stopped."""
        self._thread.join()

    @property
    def waiting(self) -> int:
        """Files that are known to have changed and are not indexed yet."""
        return self._state.waiting

    @property
    def is_ready(self) -> bool:
        """Whether the index has been compared with the whole folder since the start."""
        return self._state.is_ready

    def _hear(self, heard: FileChanges) -> None:
        with self._changed:
            was_waiting = self._gathering.waiting
            self._gathering.add(heard, time.monotonic())
            self._questions |= {name for name in heard.notes if name.startswith(QUESTION_PREFIX)}
            if WISH_NAME in heard.notes:
                self._take_wish()
            elif self._gathering.waiting > was_waiting and (
                not was_waiting or time.monotonic() > self._told_at + _TELL_S
            ):
                self._tell()
            self._changed.notify_all()

    def _lose(self, reason: str) -> None:
        with self._changed:
            self._gathering.add(FileChanges(is_whole=True), time.monotonic())
            self._tell(error=f"events of the file system were lost: {reason}")
            self._changed.notify_all()

    def _take_wish(self) -> None:
        self._wish = self._place.wish()
        self._not_before = self._ended_at + self._wish.min_interval_s
        self._tell()

    def _run(self) -> None:
        try:
            while self._wait():
                self._work()
        finally:
            if not self._is_stopping:
                self._tell(error="the watcher stopped by a fault of its own")
            self._place.release(forget=self._is_stopping)

    def _wait(self) -> bool:
        """Until there is something to do; False when it is time to stop."""
        with self._changed:
            while not self._is_stopping:
                now = time.monotonic()
                due_at, is_busy = self._due_at()
                if self._questions or (due_at is not None and due_at <= now):
                    return True
                pause = None if due_at is None else due_at - now
                self._changed.wait(min(pause, _GIT_LOOK_S) if pause and is_busy else pause)
        return False

    def _due_at(self) -> tuple[float | None, bool]:
        """When something is to be indexed, and whether git is at work until then."""
        if self._wish.is_paused:
            return None, False
        is_busy = self._watcher.git_is_busy
        due_at = self._gathering.due_at(git_is_busy=is_busy)
        return None if due_at is None else max(due_at, self._not_before), is_busy

    def _work(self) -> None:
        with self._changed:
            questions, self._questions = self._questions, set()
            batch = self._at_work = self._taken(is_asked=bool(questions))
        if batch is not None:
            self._index(batch)
        self._place.answer(questions)
        if batch is not None and batch.is_whole:
            _give_memory_back()

    def _taken(self, *, is_asked: bool) -> EventBatch | None:
        now = time.monotonic()
        due_at, is_busy = self._due_at()
        if due_at is not None and due_at <= now:
            return self._gathering.take(now, all_of_it=is_asked)
        is_small = not self._gathering.is_empty and self._gathering.waiting <= _FEW
        if is_asked and is_small and not is_busy and not self._state.is_held:
            return self._gathering.take(now, all_of_it=True)
        return None

    def _index(self, batch: EventBatch) -> None:
        started = time.monotonic()
        try:
            if batch.is_whole:
                self._watcher.renew(self._known_paths())
        except RootleError as error:
            self._fail(batch, error, _HEAL_S)
            return
        try:
            report = self._indexer.bring_up_to_date(
                self._check_stop, timeout_s=_PATIENCE_S, only=() if batch.is_whole else batch.paths
            )
            self._check_folders(batch)
        except UnavailableError as error:
            self._fail(batch, error, _TRY_AGAIN_S)
        except (IndexStorageError, IngestError) as error:
            self._fail(batch, error, _HEAL_S)
        else:
            self._succeed(batch, started, report.generation)

    def _check_stop(self, done: int, total: int) -> None:
        if self._is_stopping:
            raise UnavailableError(f"stopped after {done} of {total} bytes")

    def _known_paths(self) -> list[str]:
        return self._indexer.view.known_paths() if self._state.is_ready else []

    def _check_folders(self, batch: EventBatch) -> None:
        """Git may track files in a folder that it ignores: that is to be watched as well."""
        if not batch.is_whole:
            return
        missing = self._watcher.unwatched(self._indexer.view.known_paths())
        with self._changed:
            if missing and missing != self._missing:
                self._gathering.add_everything(time.monotonic())
            self._missing = missing

    def _fail(self, batch: EventBatch, error: RootleError, pause_s: float) -> None:
        with self._changed:
            self._at_work = None
            self._gathering.put_back(batch)
            self._not_before = time.monotonic() + pause_s
            # Another process that writes the index for long does the same work as this one.
            is_fault = pause_s > _TRY_AGAIN_S
            self._tell(**({"error": str(error)} if is_fault else {}))

    def _succeed(self, batch: EventBatch, started: float, generation: int) -> None:
        with self._changed:
            self._at_work = None
            self._ended_at = now = time.monotonic()
            self._not_before = now + self._wish.min_interval_s
            if batch.is_whole:
                is_new = generation != self._state.generation
                self._gathering.looked(now, now - started, found_nothing=not is_new)
            changes = {"is_ready": True, "committed_at": time.time(), "generation": generation}
            self._tell(**changes, error=self._deafness())

    def _deafness(self) -> str | None:
        count = self._watcher.unwatchable
        return f"{count} folders cannot be watched: their names are no UTF-8" if count else None

    def _tell(self, **changes: Any) -> None:
        """Write down how things are, for other processes. Any: fields of WatchState."""
        with self._changed:
            before = self._state
            waiting, since = self._waiting()
            self._state = replace(
                before,
                waiting=waiting,
                waiting_since=since,
                is_paused=self._wish.is_paused,
                min_interval_s=self._wish.min_interval_s,
                **changes,
            )
            self._told_at = time.monotonic()
            record_buffered(waiting)
            self._place.publish(self._state)
        if self._state.error is not None and self._state.error != before.error:
            watcher_failed(self._state.error)
            self._on_warning(f"watching fails: {self._state.error}")
        elif before.error is not None and self._state.error is None:
            self._on_warning("watching works again")

    def _waiting(self) -> tuple[int, float | None]:
        """How many files wait, also those just being indexed, and since when (Unix time)."""
        known = [(self._gathering.waiting, self._gathering.since)]
        if self._at_work is not None:
            known.append((self._at_work.waiting, self._at_work.since))
        first = min((since for count, since in known if count), default=None)
        count = sum(count for count, _ in known)
        return count, None if first is None else time.time() - (time.monotonic() - first)


def _give_memory_back() -> None:
    """Return what a large batch took to the system: glibc would keep it for the next one."""
    gc.collect()
    if sys.platform.startswith("linux") and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
