"""Unpack an archive into a new folder, with limits on the size and the number of the files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import IO, BinaryIO, Final, Self

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
# `tarfile` keeps the whole header of a member in memory: its names, attributes and sparse map. Real
# headers have a few kilobytes. The stream reads ahead by at most one block of a tar archive.
_MAX_HEADER_BYTES: Final = 1 << 16
_TAR_BLOCK_BYTES: Final = 1 << 14
_IS_ENCRYPTED: Final = 0x1
_ERRORS: Final = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError),
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
                    self._skip(info.filename, "symlink")
                elif self._accepts(info.filename):
                    with archive.open(info) as content:
                        stream = _CountedStream(content.read, self._count)
                        self._write(info.filename, stream)

    def _unpack_tar(self, file: BinaryIO) -> None:
        # A stream reads each byte once, and never seeks to a place that the archive names. All its
        # bytes count, including those of headers and of members that are left out.
        stream = _CountedStream(_decompress(file).read, self._count)
        with closing(
            _TarStream.open(
                mode="r|",
                fileobj=stream,
                bufsize=_TAR_BLOCK_BYTES,
                tarinfo=_member_type(stream),
            )
        ) as archive:
            for member in _members(archive):
                if member.isdir():
                    continue
                if not member.isreg():
                    reason = "symlink" if member.issym() or member.islnk() else "not a regular file"
                    self._skip(member.name, reason)
                elif self._accepts(member.name):
                    content = archive.extractfile(member)
                    if content is not None:
                        self._write(member.name, content)

    def _accepts(self, name: str) -> bool:
        if self.files >= self._max_files:
            raise ExternalSourceError(f"the archive has more than {self._max_files:,} files")
        if is_safe_name(name):
            return True
        self._skip(name, "leads out of the archive")
        return False

    def _skip(self, name: str, reason: str) -> None:
        if len(self.skipped) >= self._max_files:
            raise ExternalSourceError(
                f"more than {self._max_files:,} members of the archive cannot be unpacked, such as "
                f"{self.skipped[0][0]}: {self.skipped[0][1]}"
            )
        self.skipped.append((name, reason))

    def _write(self, name: str, content: IO[bytes] | _CountedStream) -> None:
        path = os.path.join(self._target, *_parts(name))
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            # The folder contains no links, because none is ever written.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except (FileExistsError, NotADirectoryError):
            self._skip(name, "occurs twice")
            return
        self.files += 1
        size = 0
        with os.fdopen(descriptor, "wb") as file:
            while block := content.read(_BLOCK_BYTES):
                size += len(block)
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


class _CountedStream(io.RawIOBase):
    """A file whose bytes are counted while they are read.

    The `limit` context manager limits how many bytes may be read inside a `with` block.
    """

    def __init__(self, read: Callable[[int], bytes], count: Callable[[int], None]) -> None:
        super().__init__()
        self._read = read
        self._count = count
        self._left: int | None = None  # the bytes that may still be read inside `limit`

    @contextmanager
    def limit(self, max_bytes: int) -> Iterator[None]:
        """Refuse to read more than `max_bytes`. If limits are nested, the outermost applies."""
        if self._left is not None:
            yield
            return
        self._left = max_bytes
        try:
            yield
        finally:
            self._left = None

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes; b"" at the end.

        Raise ExternalSourceError if this exceeds a limit.
        """
        block = self._read(size)
        self._count(len(block))
        if self._left is not None:
            self._left -= len(block)
            if self._left < 0:
                raise ExternalSourceError(
                    "the header of a file in the archive is larger than "
                    f"{_MAX_HEADER_BYTES:,} bytes"
                )
        return block


def _decompress(file: BinaryIO) -> BinaryIO | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    """Return the content of a file that may be compressed with gzip, bzip2 or xz.

    `tarfile` can also decompress a stream, but decompresses each block of the file as a whole. A
    block of a bomb unpacks to more than 100 MB, which `tarfile` copies again for each read.
    """
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if start.startswith((b"\xfd7zXZ\0", b"]\0\0")):
        return lzma.LZMAFile(file)
    return file


class _TarStream(tarfile.TarFile):
    # The members that were read so far, which are dropped to save memory. (The option `stream`,
    # which keeps no members, requires Python 3.13.)
    members: list[tarfile.TarInfo]


def _member_type(stream: _CountedStream) -> type[tarfile.TarInfo]:
    """Return a subclass of TarInfo that reads only headers of limited size."""

    class _Member(tarfile.TarInfo):
        @classmethod
        def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
            # For an extended header, `tarfile` calls this method again to read the next header, to
            # which the same limit applies.
            with stream.limit(_MAX_HEADER_BYTES):
                return super().fromtarfile(archive)

    return _Member


def _members(archive: _TarStream) -> Iterator[tarfile.TarInfo]:
    while (member := archive.next()) is not None:
        yield member
        # Drop the headers, because those of a large archive do not fit into memory. The global
        # headers can be dropped too: they apply to all later members, but nothing in them is used.
        archive.members = []
        archive.pax_headers = {}
