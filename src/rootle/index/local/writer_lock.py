"""One writer at a time, told from the operating system, so that a killed one leaves no lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError, UnavailableError

LOCK_NAME: Final = "writer.lock"


@contextmanager
def writer_lock(
    folder: Path, timeout_s: float, on_wait: Callable[[], None], name: str = LOCK_NAME
) -> Iterator[None]:
    """Hold the index for writing. Calls `on_wait` once if another process has it.

    Another `name` is for a part of it that is written by itself.

    Raises UnavailableError where it is not free within `timeout_s`; a negative one waits for ever.
    """
    from filelock import FileLock, Timeout  # not needed where the index is current

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / name)
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
            "choose a folder that can be written with --index-dir"
        ) from error
    try:
        yield
    finally:
        lock.release()
