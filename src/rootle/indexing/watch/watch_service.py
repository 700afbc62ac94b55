"""Keep an index up to date: watch the folder, debounce its changes, index them in batches."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, Final

from rootle.errors import IndexStorageError, IngestError, RootleError, UnavailableError
from rootle.indexing.indexer import Indexer
from rootle.indexing.watch.debounce import ChangeBatch, Debouncer
from rootle.indexing.watch.event_interpretation import FileChanges
from rootle.indexing.watch.file_notifications import FileWatcher
from rootle.indexing.watch.state_publisher import StatePublisher
from rootle.indexing.watch.watcher_channel import WatcherChannel, is_request
from rootle.indexing.watch.watcher_state import WatcherCommand
from rootle.types import WarningCallback

# If another process holds the writer lock for longer than the timeout, the batch grows until the
# next attempt.
_LOCK_TIMEOUT_S: Final = 5.0
_LOCK_RETRY_S: Final = 1.0
# The time until the next attempt after a failure. A full disk, a deleted folder or an exhausted
# inotify limit takes a while to be fixed.
_FAILURE_RETRY_S: Final = 30.0
# The interval at which git's lock is polled, because the event of its release may be missed.
_GIT_POLL_S: Final = 1.0
# The minimum interval between publications during a burst of events.
_PUBLISH_INTERVAL_S: Final = 0.5
# The maximum number of files that are indexed on request before their debounce time has passed; a
# larger burst stays one batch.
_MAX_FILES_ON_REQUEST: Final = 50


class WatchService:
    """Watches an index in background threads. As a context manager, it stops on exit.

    `on_warning` receives a message when the watcher fails and when it recovers.
    """

    def __init__(self, indexer: Indexer, debounce_s: float, on_warning: WarningCallback) -> None:
        self._indexer = indexer
        self._channel = WatcherChannel(indexer.index_dir)
        self._publisher = StatePublisher(self._channel, on_warning)
        self._debouncer = Debouncer(debounce_s)
        self._watcher = FileWatcher(
            os.fspath(indexer.root),
            os.fspath(self._channel.folder),
            self._on_changes,
            self._on_lost_events,
        )
        # Guards the debouncer, the publisher and the attributes below.
        self._changed = threading.Condition(threading.RLock())
        self._current_batch: ChangeBatch | None = None
        self._command = WatcherCommand()
        self._requests: set[str] = set()  # received, but not completed yet
        self._unwatched: frozenset[str] = frozenset()
        self._is_stopping = False
        self._not_before = 0.0
        self._committed_at = 0.0
        self._thread = threading.Thread(target=self._run, name="rootle-watch", daemon=True)

    def start(self) -> WatchService:
        """Start watching; the first batch compares the whole folder with the index.

        Raises UnavailableError if another process is already watching or the system cannot watch.
        """
        self._indexer.prepare()
        self._channel.claim()
        try:
            self._watcher.refresh()
        except RootleError as error:
            self._publish(error=str(error))
            self._channel.release(keep_state=True)
            raise
        self._debouncer.request_rescan(time.monotonic())
        self._publish()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop watching. A running batch is interrupted; its committed transactions are kept."""
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
        """Wait until the service has stopped."""
        self._thread.join()

    @property
    def waiting(self) -> int:
        """The number of files that have changed and are not indexed yet."""
        return self._publisher.state.waiting

    @property
    def is_ready(self) -> bool:
        """Whether the whole folder has been compared with the index since the start."""
        return self._publisher.state.is_ready

    def _on_changes(self, changes: FileChanges) -> None:
        with self._changed:
            waiting_before = self._debouncer.waiting
            self._debouncer.add(changes, time.monotonic())
            self._receive(filter(is_request, changes.inbox_names))
            if self._debouncer.waiting > waiting_before and (
                not waiting_before
                or time.monotonic() > self._publisher.published_at + _PUBLISH_INTERVAL_S
            ):
                self._publish()
            self._changed.notify_all()

    def _receive(self, requests: Iterable[str]) -> None:
        """Obey the commands in requests. The requests are completed after the next batch."""
        with self._changed:
            for name in sorted(set(requests) - self._requests):
                self._requests.add(name)
                command = self._channel.read_command(name)
                if command is not None:
                    self._obey(command)
            self._changed.notify_all()

    def _obey(self, command: WatcherCommand) -> None:
        self._command = command
        self._not_before = self._committed_at + command.min_interval_s
        self._publish()

    def _on_lost_events(self, reason: str) -> None:
        with self._changed:
            self._debouncer.add(FileChanges(needs_rescan=True), time.monotonic())
            self._publish(error=f"file system events were lost: {reason}")
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            while self._wait_for_work():
                self._work()
        finally:
            if not self._is_stopping:
                self._publish(error="the watcher stopped because of an internal error")
            self._channel.release(keep_state=not self._is_stopping)

    def _wait_for_work(self) -> bool:
        """Wait until a batch is due or a request arrives; return False to stop."""
        with self._changed:
            while not self._is_stopping:
                now = time.monotonic()
                due_at, git_is_busy = self._next_batch_due_at()
                if self._requests or (due_at is not None and due_at <= now):
                    return True
                delay_s = None if due_at is None else due_at - now
                if delay_s is not None and git_is_busy:
                    delay_s = min(delay_s, _GIT_POLL_S)
                self._changed.wait(delay_s)
        return False

    def _next_batch_due_at(self) -> tuple[float | None, bool]:
        """Return when the next batch is due, and whether it waits for git."""
        if self._command.is_paused:
            return None, False
        git_is_busy = self._watcher.git_is_busy
        due_at = self._debouncer.due_at(git_is_busy=git_is_busy)
        return None if due_at is None else max(due_at, self._not_before), git_is_busy

    def _work(self) -> None:
        with self._changed:
            requests = frozenset(self._requests)
            batch = self._current_batch = self._take_batch(is_requested=bool(requests))
        if batch is not None:
            self._index(batch)
        self._channel.complete(requests)
        with self._changed:
            self._requests -= requests
        if batch is not None and batch.is_rescan:
            _release_memory()

    def _take_batch(self, *, is_requested: bool) -> ChangeBatch | None:
        now = time.monotonic()
        due_at, git_is_busy = self._next_batch_due_at()
        if due_at is not None and due_at <= now:
            return self._debouncer.take(now, take_all=is_requested)
        is_small = not self._debouncer.is_empty and self._debouncer.waiting <= _MAX_FILES_ON_REQUEST
        is_allowed = not git_is_busy and not self._publisher.state.is_throttled
        if is_requested and is_small and is_allowed:
            return self._debouncer.take(now, take_all=True)
        return None

    def _index(self, batch: ChangeBatch) -> None:
        started = time.monotonic()
        try:
            if batch.is_rescan:
                self._watcher.refresh(self._list_known_paths())
                # The event of a request is lost if it was pending while `refresh` replaced the
                # watched folders.
                self._receive(self._channel.list_requests())
        except RootleError as error:
            self._fail(batch, error, _FAILURE_RETRY_S)
            return
        try:
            report = self._indexer.update(
                self._raise_if_stopping,
                timeout_s=_LOCK_TIMEOUT_S,
                only=() if batch.is_rescan else batch.paths,
            )
            self._check_folders(batch)
        except UnavailableError as error:
            self._fail(batch, error, _LOCK_RETRY_S)
        except (IndexStorageError, IngestError) as error:
            self._fail(batch, error, _FAILURE_RETRY_S)
        else:
            self._succeed(batch, started, report.generation)

    def _raise_if_stopping(self, done: int, total: int) -> None:
        if self._is_stopping:
            raise UnavailableError(f"stopped after {done} of {total} bytes")

    def _list_known_paths(self) -> list[str]:
        return self._indexer.state.list_paths() if self.is_ready else []

    def _check_folders(self, batch: ChangeBatch) -> None:
        """Request a rescan if git tracks files in ignored folders that are not watched yet."""
        if not batch.is_rescan:
            return
        unwatched = self._watcher.find_unwatched(self._indexer.state.list_paths())
        with self._changed:
            if unwatched and unwatched != self._unwatched:
                self._debouncer.request_rescan(time.monotonic())
            self._unwatched = unwatched

    def _fail(self, batch: ChangeBatch, error: RootleError, retry_s: float) -> None:
        with self._changed:
            self._current_batch = None
            self._debouncer.put_back(batch)
            self._not_before = time.monotonic() + retry_s
            # Another process that holds the writer lock is indexing the same changes.
            is_locked = retry_s <= _LOCK_RETRY_S
            self._publish(**({} if is_locked else {"error": str(error)}))

    def _succeed(self, batch: ChangeBatch, started: float, generation: int) -> None:
        with self._changed:
            self._current_batch = None
            self._committed_at = now = time.monotonic()
            self._not_before = now + self._command.min_interval_s
            if batch.is_rescan:
                found_changes = generation != self._publisher.state.generation
                self._debouncer.record_rescan(now, now - started, found_changes=found_changes)
            self._publish(
                is_ready=True,
                committed_at=time.time(),
                generation=generation,
                error=self._describe_unwatchable(),
            )

    def _describe_unwatchable(self) -> str | None:
        count = self._watcher.unwatchable_count
        return f"{count} folders cannot be watched: their names are not UTF-8" if count else None

    def _publish(self, **changes: Any) -> None:  # Any: fields of WatcherState
        with self._changed:
            waiting = [(self._debouncer.waiting, self._debouncer.since)]
            if self._current_batch is not None:
                waiting.append((self._current_batch.waiting, self._current_batch.since))
            self._publisher.publish(
                self._command,
                sum(count for count, _ in waiting),
                min((since for count, since in waiting if count), default=None),
                **changes,
            )


def _release_memory() -> None:
    """Return the memory of a large batch to the system; glibc would keep it for the next batch."""
    gc.collect()
    if sys.platform.startswith("linux") and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
