"""The files of installed packages as a source of documents, identified by their contents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rootle.sources.packages.package import PackageFile
from rootle.sources.packages.package_reader import PackageReader, make_package_entry
from rootle.sources.source import DocumentEntry, Scan, Trust


@dataclass(frozen=True, slots=True)
class HashedFiles:
    """Files of packages. `files` maps each URI to a file and the hash of its content."""

    files: Mapping[str, tuple[PackageFile, str]]

    def entries(self) -> list[DocumentEntry]:
        """Return the documents in the order of their URIs."""
        return [
            make_package_entry(uri, file.size, digest)
            for uri, (file, digest) in sorted(self.files.items())
        ]


class PackageSource:
    """Files of installed packages."""

    trust: Trust = "dependency"

    def __init__(self, name: str, files: HashedFiles, max_bytes: int) -> None:
        """`max_bytes` is the maximum number of bytes that are read from one file."""
        self.name = name
        self._files = files
        self._max_bytes = max_bytes

    def scan(self, token: str = "") -> Scan:  # noqa: ARG002
        """List the files."""
        return Scan(tuple(self._files.entries()))

    def look_up(self, uris: Collection[str]) -> Scan | None:  # noqa: ARG002
        """Return None, because single files cannot be looked up."""
        return None

    def is_readable(self, uri: str) -> bool:
        """Return whether a file is listed."""
        return uri in self._files.files

    def reader(self) -> PackageReader:
        """Return the reader."""
        return PackageReader(self._files.files, self._max_bytes)
