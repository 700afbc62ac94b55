"""Files through which the watcher of an index and other processes communicate.

The watcher holds a lock while it runs and publishes its state in a file. Other processes put
request files into the same folder; the watcher deletes a file when it has completed the request.
Because the file system delivers events in order, a watcher that sees a request has seen every
earlier change. Watchman and git's fsmonitor use files in the same way ("cookie files").
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, fields
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from rootle.errors import IndexStorageError, UnavailableError
from rootle.index.local.index_dir import WATCH_DIR
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState
from rootle.storage.atomic_json import read_json, write_json
from rootle.storage.permissions import PRIVATE_FILE, make_private_dir

_LOG = logging.getLogger(__name__)

FOLDER: Final = WATCH_DIR
_REQUEST_SUFFIX: Final = ".request"
_STATE_NAME: Final = "state.json"
_LOCK_NAME: Final = "watcher.lock"
_LOCK_TIMEOUT_S: Final = 1.0  # for `claim`, because `is_watched` holds the lock briefly
_POLL_S: Final = 0.01

_request_numbers = count()
_Record = TypeVar("_Record", WatcherState, WatcherCommand)


class WatcherChannel:
    """The lock, the state file and the requests of the watcher of one index."""

    def __init__(self, index_dir: Path) -> None:
        self.folder = index_dir / FOLDER
        self._state_path = self.folder / _STATE_NAME
        self._lock: Any = None  # a filelock.FileLock; the package is imported on first use

    # For other processes

    def is_watched(self) -> bool:
        """Return whether a watcher is running, in this process or another one."""
        if not os.path.exists(self._state_path):
            return False
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / _LOCK_NAME, mode=PRIVATE_FILE)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False  # unknown, since this user may not open the lock file
        lock.release()
        return False

    def read_state(self) -> WatcherState | None:
        """Return the state that was published last, possibly by a watcher that has died."""
        return _read_record(self._state_path, WatcherState)

    def send_command(self, command: WatcherCommand, timeout_s: float) -> bool:
        """Send a command; return False if no watcher runs or none confirms it in time."""
        return self.is_watched() and self._wait_for(self._post(command), timeout_s)

    def sync(self, timeout_s: float) -> bool:
        """Wait until the watcher has indexed all earlier changes; return False on timeout."""
        return self._wait_for(self.post_probe(), timeout_s)

    def post_probe(self) -> Path | None:
        """Post a request without a command and return its path; None on failure.

        A running watcher deletes the file.
        """
        return self._post(None)

    def _post(self, command: WatcherCommand | None) -> Path | None:
        request = self.folder / f"{os.getpid()}-{next(_request_numbers)}{_REQUEST_SUFFIX}"
        try:
            write_json(request, asdict(command) if command else {})
        except OSError:
            return None
        return request

    def _wait_for(self, request: Path | None, timeout_s: float) -> bool:
        if request is None:
            return False
        deadline = time.monotonic() + timeout_s
        while not (completed := not os.path.exists(request)) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        request.unlink(missing_ok=True)
        return completed

    # For the watcher

    def claim(self) -> None:
        """Become the only watcher of this index. Raise UnavailableError if there is another."""
        from filelock import FileLock, Timeout

        try:
            make_private_dir(self.folder)
            lock = FileLock(self.folder / _LOCK_NAME, mode=PRIVATE_FILE, thread_local=False)
            lock.acquire(timeout=_LOCK_TIMEOUT_S)
        except Timeout as error:
            state = self.read_state()
            process = f"process {state.pid}" if state is not None else "another process"
            raise UnavailableError(f"{process} is already watching this folder") from error
        except OSError as error:
            raise IndexStorageError(
                f"cannot write {self.folder}: {error.strerror or error}; "
                "choose a writable folder with --index-dir"
            ) from error
        self._lock = lock
        for name in os.listdir(self.folder):  # delete requests to an earlier watcher
            if _REQUEST_SUFFIX in name:
                (self.folder / name).unlink(missing_ok=True)

    def release(self, *, keep_state: bool) -> None:
        """Release the lock; `keep_state` leaves the last state for other processes to read."""
        if not keep_state:
            self._state_path.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def publish(self, state: WatcherState) -> None:
        try:
            write_json(self._state_path, asdict(state))
        except OSError as error:
            # A missing state is better than an outdated one.
            self._state_path.unlink(missing_ok=True)
            _LOG.warning("cannot write the state of the watcher: %s", error)

    def list_requests(self) -> list[str]:
        """Return the names of the requests that are not completed yet."""
        try:
            return [name for name in os.listdir(self.folder) if is_request(name)]
        except OSError:
            return []

    def read_command(self, request: str) -> WatcherCommand | None:
        """Return the command in a request; None if it has none or was withdrawn."""
        return _read_record(self.folder / request, WatcherCommand)

    def complete(self, requests: Iterable[str]) -> None:
        for request in requests:
            (self.folder / request).unlink(missing_ok=True)


def is_request(name: str) -> bool:
    """Return whether a file in the folder of the channel is a request."""
    return name.endswith(_REQUEST_SUFFIX)


def _read_record(path: Path, record: type[_Record]) -> _Record | None:
    """Return the record in a file; None if there is none or another version wrote it."""
    data = read_json(path)
    names = {field.name for field in fields(record)}
    return record(**data) if set(data) == names else None
