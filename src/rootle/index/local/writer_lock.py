"""The writer lock of an index. The operating system releases it when the process ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError, UnavailableError
from rootle.storage.permissions import PRIVATE_FILE, make_private_dir

LOCK_NAME: Final = "writer.lock"


@contextmanager
def writer_lock(
    folder: Path, timeout_s: float, on_wait: Callable[[], None], name: str = LOCK_NAME
) -> Iterator[None]:
    """Hold the writer lock. If another process holds it, call `on_wait` once and wait.

    Parts of an index that are written independently use another `name`. Raises UnavailableError if
    the lock is still held after `timeout_s`. With a negative timeout, waits without limit. Raises
    IndexStorageError if the lock file cannot be written.
    """
    from filelock import FileLock, Timeout  # not needed if the index is current

    try:
        if not folder.is_dir():
            make_private_dir(folder)
        lock = FileLock(folder / name, mode=PRIVATE_FILE)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_wait()
            lock.acquire(timeout=timeout_s, poll_interval=0.02)
    except Timeout as error:
        raise UnavailableError(
            f"another rootle process is writing the index at {folder}"
        ) from error
    except OSError as error:
        raise IndexStorageError(
            f"cannot write the index at {folder}: {error.strerror or error}; "
            "choose a writable folder with --index-dir"
        ) from error
    try:
        yield
    finally:
        lock.release()
