"""Unpack an archive into a new folder, with limits on the size and the number of the files."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from lzma import LZMAError
from typing import IO, BinaryIO, Final

from rootle.sources.external.records import ExternalSourceError

SUFFIXES: Final = (".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".whl")
MAX_UNPACKED_BYTES: Final = 4_000_000_000
MAX_FILES: Final = 200_000
_MAX_FILE_BYTES: Final = 1_000_000_000
_MAX_DEPTH: Final = 40
# The highest accepted compression ratio. Ordinary archives have a ratio of about 10, and zip bombs
# have a ratio of 1,000 or more.
_MAX_RATIO: Final = 200
_RATIO_FREE_BYTES: Final = 50_000_000
_BLOCK_BYTES: Final = 1 << 18
_IS_ENCRYPTED: Final = 0x1
_ERRORS: Final = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError),
    *(OSError, ValueError, RuntimeError, NotImplementedError),
)


def is_archive(path: str) -> bool:
    """Return whether a file has the name of an archive."""
    return path.lower().endswith(SUFFIXES)


class Unpacker:
    """Writes the files of an archive below a folder, and lists the files that it leaves out."""

    def __init__(
        self,
        target: str,
        *,
        max_bytes: int = MAX_UNPACKED_BYTES,
        max_files: int = MAX_FILES,
    ) -> None:
        """`target` is the path of the folder to write to; it must be empty."""
        self._target = target
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._archive_bytes = 0
        self.files = 0
        self.bytes = 0
        self.skipped: list[tuple[str, str]] = []  # name, reason

    def unpack(self, file: BinaryIO, name: str) -> None:
        """Unpack an archive. Raise ExternalSourceError if it is damaged, encrypted or too large."""
        self._archive_bytes = os.fstat(file.fileno()).st_size
        try:
            if name.lower().endswith((".zip", ".whl")):
                self._unpack_zip(file)
            else:
                self._unpack_tar(file)
        except _ERRORS as error:
            raise ExternalSourceError(f"the archive cannot be read: {error}") from error

    def _unpack_zip(self, file: BinaryIO) -> None:
        with closing(zipfile.ZipFile(file)) as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                if info.flag_bits & _IS_ENCRYPTED:
                    raise ExternalSourceError("the archive is encrypted")
                if stat.S_ISLNK(info.external_attr >> 16):
                    self.skipped.append((info.filename, "symlink"))
                elif self._accepts(info.filename):
                    with archive.open(info) as content:
                        self._write(info.filename, content)

    def _unpack_tar(self, file: BinaryIO) -> None:
        # A stream reads each byte once, and never seeks to a place that the archive names.
        with closing(_TarStream.open(fileobj=file, mode="r|*")) as archive:
            for member in _members(archive):
                if member.isdir():
                    continue
                if not member.isreg():
                    reason = "symlink" if member.issym() or member.islnk() else "not a regular file"
                    self.skipped.append((member.name, reason))
                elif self._accepts(member.name):
                    content = archive.extractfile(member)
                    if content is not None:
                        self._write(member.name, content)

    def _accepts(self, name: str) -> bool:
        if self.files >= self._max_files:
            raise ExternalSourceError(f"the archive has more than {self._max_files:,} files")
        if is_safe_name(name):
            return True
        self.skipped.append((name, "leads out of the archive"))
        return False

    def _write(self, name: str, content: IO[bytes]) -> None:
        path = os.path.join(self._target, *_parts(name))
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            # The folder contains no links, because none is ever written.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except (FileExistsError, NotADirectoryError):
            self.skipped.append((name, "occurs twice"))
            return
        self.files += 1
        size = 0
        with os.fdopen(descriptor, "wb") as file:
            while block := content.read(_BLOCK_BYTES):
                size += len(block)
                self._count(len(block))
                if size > _MAX_FILE_BYTES:
                    raise ExternalSourceError(
                        f"a file in the archive is larger than {_MAX_FILE_BYTES / 1e9:g} GB"
                    )
                file.write(block)

    def _count(self, count: int) -> None:
        self.bytes += count
        limit = max(_RATIO_FREE_BYTES, self._archive_bytes * _MAX_RATIO)
        if self.bytes > min(limit, self._max_bytes):
            raise ExternalSourceError(
                f"the archive unpacks to more than {min(limit, self._max_bytes) / 1e6:,.0f} MB"
            )


def is_safe_name(name: str) -> bool:
    """Return whether a file name in an archive is valid and stays below the target folder."""
    parts = _parts(name)
    return (
        bool(parts)
        and len(parts) <= _MAX_DEPTH
        and not name.startswith(("/", "\\"))
        and not any(part == ".." or ":" in part or "\0" in part or "\\" in part for part in parts)
        and all(len(os.fsencode(part)) <= 200 for part in parts)
    )


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in ("", ".")]


class _TarStream(tarfile.TarFile):
    # The members that were read so far, which are dropped to save memory. (The option `stream`,
    # which keeps no members, requires Python 3.13.)
    members: list[tarfile.TarInfo]


def _members(archive: _TarStream) -> Iterator[tarfile.TarInfo]:
    while (member := archive.next()) is not None:
        yield member
        archive.members = []  # the headers of a large archive do not fit into memory
