"""Read the files of an added folder: regular files only, without following symbolic links."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from rootle.sources.external.records import MAX_FILE_BYTES, ExternalSourceError
from rootle.sources.files.regular_file_reader import read_below

_MAX_FILES: Final = 500_000
_PAGE_NAMES: Final = ("{}", "{}.html", "{}/index.html")


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The files below a folder. Paths are relative to it, with "/"."""

    root: str

    def read(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return the content of a file. Raise ExternalSourceError if the file cannot be read."""
        found = read_below(self.root, path, max_bytes + 1)
        if isinstance(found, str):
            raise ExternalSourceError(f"{path} cannot be read: {found}")
        if len(found) > max_bytes:
            raise ExternalSourceError(f"{path} is larger than {max_bytes / 1e6:g} MB")
        return found

    def read_text(self, path: str, max_bytes: int = MAX_FILE_BYTES) -> str:
        """Return the text of a file, as `read` does."""
        return self.read(path, max_bytes).decode("utf-8", "replace")

    def has(self, path: str) -> bool:
        """Return whether a path leads to a regular file."""
        return os.path.isfile(os.path.join(self.root, *path.split("/")))

    def find_page(self, path: str) -> str | None:
        """Return the file of a page that an index names; None if it is not in the folder."""
        clean = posixpath.normpath(unquote(path)).lstrip("/")
        if clean.startswith("..") or "\0" in clean:
            return None
        names = (name.format(clean) for name in _PAGE_NAMES)
        return next((name for name in names if self.has(name)), None)

    def files(self, suffixes: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths of files with these endings, in order. Links are not followed.

        Raise ExternalSourceError when the limit on the number of files is reached.
        """
        count = 0
        for parent, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                count += 1
                if count > _MAX_FILES:
                    raise ExternalSourceError(f"the folder has more than {_MAX_FILES:,} files")
                if name.lower().endswith(suffixes):
                    inside = os.path.relpath(os.path.join(parent, name), self.root)
                    yield inside.replace(os.sep, "/")
