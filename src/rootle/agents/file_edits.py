"""File edits that are collected in memory, shown, and written only after confirmation."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import InstallError
from rootle.storage.atomic_file import write_file
from rootle.storage.permissions import PRIVATE_FILE, make_private_dir

_BOM: Final = b"\xef\xbb\xbf"
# Larger files are not read. The files of a cloned repository can have any size.
_MAX_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class FileEdit:
    """The content of one file before and after the edit; None if the file does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None
    is_update: bool = False  # whether the file already contained rootle
    is_private: bool = False  # whether only the owner may read the file if it is new


class FileEdits:
    """Edits of text files, collected in memory. Symbolic links in paths are resolved."""

    def __init__(self, *, is_private: bool = False) -> None:
        """Create an empty set of edits.

        If `is_private` is true, new files can be opened by their owner only.
        """
        self._is_private = is_private
        self._before: dict[Path, bytes | None] = {}
        self._after: dict[Path, bytes | None] = {}
        self._updates: set[Path] = set()

    def text(self, path: Path) -> str | None:
        """Return the edited text without a byte order mark; None if the file does not exist.

        Raise InstallError if the file cannot be read.
        """
        data = self._data(path)
        if data is None:
            return None
        try:
            return data.removeprefix(_BOM).decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InstallError(f"{path}, line {line}: not UTF-8; nothing was changed") from error

    def change(self, path: Path, text: str | None) -> None:
        """Set the text of a file; None deletes it."""
        mark = _BOM if (self._data(path) or b"").startswith(_BOM) else b""
        self._after[resolve(path)] = None if text is None else mark + text.encode("utf-8")

    def mark_update(self, path: Path) -> None:
        """Record that a file contained rootle before it was edited.

        A file that has already been edited is not marked: that edit may have added rootle.
        """
        file = resolve(path)
        if file not in self._after:
            self._updates.add(file)

    def restore_before(self, path: Path, before: str | None) -> None:
        """Set the content of a file exactly, without adding a byte order mark.

        If `before` is None, delete the file.
        """
        self._data(path)
        self._after[resolve(path)] = None if before is None else before.encode("utf-8")

    def is_on_disk(self, path: Path, check: Callable[[bytes | None], bool]) -> bool:
        """Return whether the original content of a file, before all edits, passes `check`."""
        self._data(path)
        return check(self._before[resolve(path)])

    def changes(self) -> list[FileEdit]:
        """Return the edits of files that would change on disk, in the order of their first edit."""
        edits = [
            FileEdit(path, self._before[path], data, path in self._updates, self._is_private)
            for path, data in self._after.items()
        ]
        return [edit for edit in edits if edit.before != edit.after]

    def snapshot(self) -> dict[Path, bytes | None]:
        """Return the current state of the edits, to pass to `restore`."""
        return dict(self._after)

    def restore(self, snapshot: dict[Path, bytes | None]) -> None:
        self._after = snapshot

    def _data(self, path: Path) -> bytes | None:
        file = resolve(path)
        if file not in self._before:
            self._before[file] = read_bytes(file)
        return self._after.get(file, self._before[file])


def resolve(path: Path) -> Path:
    """Return the path with all symbolic links resolved."""
    return Path(os.path.realpath(path))


def read_bytes(path: Path) -> bytes | None:
    """Return the content of a file; None if the file does not exist.

    Raise InstallError if the file is not a regular file, is too large or cannot be read.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InstallError(f"{path} is not a regular file; move it away")
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InstallError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise InstallError(
            f"{path} has more than {_MAX_BYTES // 1_000_000} MB and is not read; make it smaller"
        )
    return data


def write(edit: FileEdit) -> None:
    """Create, replace or delete a file atomically.

    Raise InstallError if the file has changed since it was read, is read-only or cannot be written.
    """
    if read_bytes(edit.path) != edit.before:
        raise InstallError(f"{edit.path} was changed by another program; run the command again")
    _check_writable(edit.path)
    try:
        if edit.after is None:
            edit.path.unlink()
        else:
            if edit.is_private and not edit.path.parent.exists():
                make_private_dir(edit.path.parent)
            edit.path.parent.mkdir(parents=True, exist_ok=True)
            mode = PRIVATE_FILE if edit.is_private else 0o666 & ~_umask()
            write_file(edit.path, edit.after, mode=mode, keep_permissions=True)
    except OSError as error:
        raise InstallError(f"cannot write {edit.path}: {error.strerror}") from error


def _check_writable(path: Path) -> None:
    # A file without write permission is meant to stay unchanged. `os.access` is always true for
    # root, so the mode is checked too.
    if path.exists() and not (os.access(path, os.W_OK) and path.stat().st_mode & 0o222):
        raise InstallError(f"{path} is read-only; make it writable, or edit it by hand")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
