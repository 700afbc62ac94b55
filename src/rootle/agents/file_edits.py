"""Files as they are and as they shall be; nothing is written before somebody has agreed."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import InstallError

BACKUP: Final = ".rootle-backup"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file: its bytes now and then. None where there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None


class FileEdits:
    """Texts of files, changed in memory. A link is the file that it leads to."""

    def __init__(self) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._after: dict[Path, bytes | None] = {}

    def text(self, path: Path) -> str | None:
        """The text as it shall be so far, without a byte order mark; None where there is no file.

        Raises InstallError where it cannot be read.
        """
        data = self._data(path)
        if data is None:
            return None
        try:
            return data.removeprefix(_BOM).decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InstallError(f"{path}, line {line}: this is no UTF-8; nothing changed") from error

    def change(self, path: Path, text: str | None) -> None:
        """Have a file say this; None deletes it."""
        mark = _BOM if (self._data(path) or b"").startswith(_BOM) else b""
        self._after[target(path)] = None if text is None else mark + text.encode("utf-8")

    def changes(self) -> list[FileEdit]:
        """What differs from the files, in the order in which it was asked for."""
        found = [FileEdit(path, self._before[path], data) for path, data in self._after.items()]
        return [change for change in found if change.before != change.after]

    def state(self) -> dict[Path, bytes | None]:
        """What is drafted so far, to go back to."""
        return dict(self._after)

    def go_back(self, state: dict[Path, bytes | None]) -> None:
        self._after = state

    def _data(self, path: Path) -> bytes | None:
        file = target(path)
        if file not in self._before:
            self._before[file] = read_bytes(file)
        return self._after.get(file, self._before[file])


def target(path: Path) -> Path:
    """The file itself, where the path is a link or leads through one."""
    return Path(os.path.realpath(path))


def read_bytes(path: Path) -> bytes | None:
    """The content of a regular file; None where there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InstallError(f"{path} is no regular file; move it away")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InstallError(f"cannot read {path}: {error.strerror}") from error


def write(change: FileEdit) -> None:
    """Replace the file at once, with a copy of the old one beside it.

    Raises InstallError where it may not be written, or was changed by somebody else meanwhile.
    """
    if read_bytes(change.path) != change.before:
        raise InstallError(f"{change.path} was changed by somebody else just now; run this again")
    _check_writable(change.path)
    try:
        _keep_backup(change)
        if change.after is None:
            change.path.unlink()
        else:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            _replace(change.path, change.after, like=change.path)
    except OSError as error:
        raise InstallError(f"cannot write {change.path}: {error.strerror}") from error


def backup_of(path: Path) -> Path:
    file = target(path)
    return file.with_name(file.name + BACKUP)


def _check_writable(path: Path) -> None:
    # Whoever is root may write everything; a file without a right to write is meant to stay.
    if path.exists() and not (os.access(path, os.W_OK) and path.stat().st_mode & 0o222):
        raise InstallError(f"{path} is read-only; allow writing to it, or change it by hand")


def _keep_backup(change: FileEdit) -> None:
    backup = backup_of(change.path)
    if change.before is None or change.after is None:
        return  # rootle makes the file, or deletes the one that it has made
    if read_bytes(backup) == change.after:
        backup.unlink()  # the file is what it was
    else:
        _replace(backup, change.before, like=change.path)


def _replace(path: Path, data: bytes, like: Path) -> None:
    """Write a file whole or not at all, with the rights and the owner of another one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _set_rights(name, like)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _set_rights(name: str, like: Path) -> None:
    try:
        state = os.stat(like)
    except FileNotFoundError:
        os.chmod(name, 0o666 & ~_umask())
        return
    os.chmod(name, stat.S_IMODE(state.st_mode))
    if hasattr(os, "chown"):
        # Only root may give a file away; whoever is not root owns it already, most often.
        with contextlib.suppress(PermissionError):
            os.chown(name, state.st_uid, state.st_gid)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
