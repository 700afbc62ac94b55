"""Records of the files that `rootle install` has edited, with their original text.

The records are stored in the user's state folder, so that projects contain no backup files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from rootle.agents.file_edits import FileEdit, read_bytes, write
from rootle.agents.launch_command import NAME
from rootle.errors import InstallError
from rootle.storage.atomic_json import read_json, write_json
from rootle.storage.paths import install_records_path

_FILES: Final = "files"
_FOLDERS: Final = "createdFolders"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The original text of a file, and a digest of the content that rootle last wrote to it."""

    # the original text, including any byte order mark; None if the file did not exist
    before: str | None
    # "" if another program changed the file between two installations, or if the file contained
    # rootle before the first installation
    digest: str

    def is_current(self, content: bytes | None) -> bool:
        """Return whether the content of the file is still what rootle last wrote."""
        return content is not None and self.digest == _digest(content)


class InstallRecords:
    """The records of all files that this user's installations have edited."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or install_records_path()
        data = read_json(self._path)
        self._files = dict(_valid_records(data.get(_FILES)))
        folders = data.get(_FOLDERS)
        self._folders = [name for name in folders if isinstance(name, str)] if folders else []

    def get(self, path: Path) -> FileRecord | None:
        """Return the record of a file; None if there is none. The path may contain links."""
        return self._files.get(os.path.realpath(path))

    def write_installed(self, edit: FileEdit) -> None:
        """Write a file and record its previous content.

        The record is written first, because the file could not be restored without it. Raise
        InstallError if the record or the file cannot be written.
        """
        previous = dict(self._files), list(self._folders)
        self._files[os.fspath(edit.path)] = self._new_record(edit)
        self._folders += missing_folders(edit.path) + missing_folders(self._path)
        try:
            self._save()
            write(edit)
        except InstallError:
            self._files, self._folders = previous
            with suppress(InstallError):
                self._save()
            raise

    def write_restored(self, edit: FileEdit) -> None:
        """Write or delete a file, and delete its record.

        After a deletion, empty folders that rootle created for the file are deleted too. Raise
        InstallError if the file or the records cannot be written.
        """
        write(edit)
        self._files.pop(os.fspath(edit.path), None)
        if edit.after is None:
            self._remove_folders(edit.path)
        self._save()

    def discard_unused(self) -> None:
        """Delete the records of files that no longer mention rootle, or no longer exist."""
        unused = [name for name in self._files if not _mentions_rootle(Path(name))]
        for name in unused:
            del self._files[name]
        if unused:
            self._save()

    def _new_record(self, edit: FileEdit) -> FileRecord:
        digest = _digest(edit.after or b"")
        old = self._files.get(os.fspath(edit.path))
        if not edit.is_update:
            before = None if edit.before is None else edit.before.decode("utf-8")
            return FileRecord(before, digest)
        if old is None:  # rootle's entry is from another machine, or was written by hand
            return FileRecord((edit.before or b"").decode("utf-8"), "")
        return FileRecord(old.before, digest if old.is_current(edit.before) else "")

    def _remove_folders(self, path: Path) -> None:
        for folder in path.parents:
            if os.fspath(folder) in self._folders:
                with suppress(OSError):  # the folder is not empty
                    folder.rmdir()

    def _save(self) -> None:
        try:
            if self._files:
                files = {name: asdict(record) for name, record in self._files.items()}
                write_json(self._path, {_FILES: files, _FOLDERS: self._used_folders()})
            else:
                self._path.unlink(missing_ok=True)
                self._remove_folders(self._path)
        except OSError as error:
            raise InstallError(f"cannot write {self._path}: {error.strerror}") from error

    def _used_folders(self) -> list[str]:
        """Return the created folders that contain a recorded file or the records."""
        files = [*map(Path, self._files), self._path]
        used = {os.fspath(parent) for file in files for parent in file.parents}
        return [name for name in dict.fromkeys(self._folders) if name in used]


def missing_folders(path: Path) -> list[str]:
    """Return the parent folders of a file that do not exist yet."""
    return [os.fspath(parent) for parent in path.parents if not parent.exists()]


def _valid_records(data: object) -> Iterable[tuple[str, FileRecord]]:
    for name, fields in data.items() if isinstance(data, dict) else ():
        before, digest = (fields.get(key) for key in ("before", "digest"))
        if (before is None or isinstance(before, str)) and isinstance(digest, str):
            yield name, FileRecord(before, digest)


def _mentions_rootle(path: Path) -> bool:
    try:
        return NAME.encode() in (read_bytes(path) or b"")
    except InstallError:  # the file cannot be read at the moment
        return True


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
