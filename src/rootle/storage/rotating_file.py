"""A file of limited size to which many processes append lines."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rootle.storage.permissions import PRIVATE_FILE, make_private_dir

MAX_BYTES: Final = 4_000_000  # about ten thousand lines of the search log


class RotatingFile:
    """Appends lines to a file. Safe to use from many processes and threads.

    Each line is appended with a single write, which the operating system does not interleave with
    other writes. A full file is renamed, and the next line starts a new file. The newest full files
    are kept, up to a limit on their total size.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes

    def append(self, line: bytes) -> None:
        """Append a line, which must end with a line break. Raises OSError if writing fails."""
        try:
            file = self._open()
        except FileNotFoundError:
            make_private_dir(self.path.parent)
            file = self._open()
        try:
            os.write(file, line)
            if os.fstat(file).st_size >= self._max_bytes:
                self._rotate(file)
        finally:
            os.close(file)

    def delete(self) -> None:
        """Delete the current file and the full files."""
        for path in self._full_files():
            path.unlink(missing_ok=True)
        with suppress(PermissionError):  # without permission for the folder, there is no file
            self.path.unlink(missing_ok=True)

    def _open(self) -> int:
        # The lines are private: only the owner may read the file.
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)

    def _rotate(self, file: int) -> None:
        with suppress(FileNotFoundError, PermissionError):  # another process has renamed it
            if os.path.samestat(os.stat(self.path), os.fstat(file)):
                self.path.rename(
                    self.path.with_name(f"{self._prefix}{time.time_ns()}{self.path.suffix}")
                )
        for old in self._surplus_files():
            old.unlink(missing_ok=True)

    @property
    def _prefix(self) -> str:
        return f"{self.path.stem}."

    def _full_files(self) -> list[Path]:
        with suppress(OSError):  # without permission for the folder, nothing was written there
            names = self.path.parent.glob(f"{self._prefix}*{self.path.suffix}")
            return [path for path in names if path != self.path]
        return []

    def _surplus_files(self) -> Sequence[Path]:
        """Return the oldest full files, which exceed the limit on the total size."""
        newest_first = sorted(self._full_files(), reverse=True)
        total = 0
        for count, path in enumerate(newest_first):
            with suppress(FileNotFoundError):
                total += path.stat().st_size
            if total > 2 * self._max_bytes:  # a full file exceeds `max_bytes` by up to one line
                return newest_first[count:]
        return ()
