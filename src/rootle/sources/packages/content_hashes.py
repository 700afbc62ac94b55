"""The hashes of the files of packages. Only the hashes of changed files are computed again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from rootle.sources.packages.dependency_listing import ListedPackage
from rootle.sources.packages.package import PackageFile
from rootle.sources.packages.package_reader import hash_content, read_content
from rootle.sources.packages.package_source import HashedFiles
from rootle.storage.atomic_file import write_file
from rootle.storage.paths import project_key

_FORMAT: Final = 1
_KnownHashes = dict[str, tuple[str, str]]  # path of a file -> its size and times, its hash


class ContentHashes:
    """The hashes of files, stored on disk with the paths, sizes and times of the files."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Load the stored hashes. They cover at most `max_bytes` of each file."""
        self._path = path
        self._max_bytes = max_bytes
        self._known = self._load()
        self._has_changed = False

    def add_to(self, packages: Iterable[ListedPackage]) -> HashedFiles:
        """Return the files that can be read, with their hashes.

        Only files that are new, or have changed since their hash was stored, are read.
        """
        current: _KnownHashes = {}
        found: dict[str, tuple[PackageFile, str]] = {}
        for package in packages:
            for file in package.files:
                key = f"{file.root}\0{file.relative}\0{file.member}"
                stamp = f"{file.size}/{file.stamp[0]}/{file.stamp[1]}"
                known = self._known.get(key)
                digest = known[1] if known and known[0] == stamp else self._hash(file)
                if digest:
                    current[key] = stamp, digest
                    found[package.uri(file)] = file, digest
        self._has_changed = self._has_changed or current != self._known
        self._known = current
        return HashedFiles(found)

    def save(self) -> None:
        """Write the hashes, if they have changed since they were loaded or written."""
        if self._has_changed:
            data = json.dumps({"format": self._format, "files": self._known})
            write_file(self._path, data.encode(), sync=False)
            self._has_changed = False

    @property
    def _format(self) -> str:
        return f"{_FORMAT}/{self._max_bytes}"

    def _load(self) -> _KnownHashes:
        try:
            data = json.loads(self._path.read_bytes())
            if data["format"] != self._format:
                return {}
            files: Mapping[str, list[str]] = data["files"]
            return {key: (str(stamp), str(digest)) for key, (stamp, digest) in files.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _hash(self, file: PackageFile) -> str:
        """Return the hash of a file; "" if it cannot be read."""
        raw = read_content(file, self._max_bytes + 1)
        return "" if isinstance(raw, str) else hash_content(raw)


def hashes_path(folder: Path, root: str) -> Path:
    """Return the path of the file with the hashes of a project; `folder` contains the indexes.

    `root` is the real path of the project.
    """
    return folder / f"files-{project_key(root)}.json"
