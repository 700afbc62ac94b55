"""Hide the indexed changes of files that the current ignore files exclude."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rootle.index.local.snapshot import Snapshot
from rootle.index.masked_index import MaskedIndex
from rootle.index.reader import IndexReader
from rootle.sources.files.file_listing import find_excluded
from rootle.sources.files.filesystem_walk import OWN_IGNORE_NAME
from rootle.sources.git.commits.commit_document import hidden_reason
from rootle.sources.git.commits.patch_parsing import FileChange
from rootle.sources.git.git_dirs import find_git_folders
from rootle.types import COMMIT_MESSAGE

# The line number at the end of the label of a removed definition.
_LINE: Final = re.compile(r":\d+\Z")
# The paths, times, sizes and inodes of the files that decide which paths are ignored.
_State = tuple[tuple[str, int, int, int], ...]
# The documents with a section about a path, by path and by the label of the section.
_Places = Mapping[str, Mapping[str, Sequence[int]]]


class IgnoredChanges:
    """Finds the files whose changes in an index of commits must not be shown. Thread-safe.

    All folders and work trees of a repository share the index, but each has its own ignore files,
    and these may have changed since a commit was indexed.
    """

    def __init__(self, root: str, prefix: str) -> None:
        """`root` is the real path of the folder, and `prefix` its path in the work tree."""
        self._root = root
        self._prefix = prefix
        self._top = os.path.realpath(os.path.join(root, *[os.pardir] * prefix.count("/")))
        self._lock = threading.Lock()
        # The last snapshot, the paths in it, and the folders that contain them.
        self._read: tuple[Snapshot, _Places, Sequence[str]] | None = None
        # The state of the ignore files, the ignored paths, and the index without their changes.
        self._known: tuple[_State, frozenset[str], IndexReader] | None = None

    def hide(self, snapshot: Snapshot) -> IndexReader:
        """Return the index without the changes of the files that are ignored now.

        As long as nothing changes, the result is the same object.
        """
        return self._find(snapshot)[2]

    def drop_hidden(self, snapshot: Snapshot, changes: Sequence[FileChange]) -> list[FileChange]:
        """Return the changes of files whose content is indexed and that are not ignored now."""
        known, hidden, _ = self._find(snapshot)
        paths = {path for one in changes for path in (one.path, one.old_path)}
        below = {one.removeprefix(self._prefix) for one in paths if one.startswith(self._prefix)}
        # Also check paths that the index lacks: it lists only some files of a large commit.
        ignored = (hidden & below) | find_excluded(self._root, below - known.keys())
        labels = {f"{self._prefix}{path}" for path in ignored}
        return [
            one
            for one in changes
            if not hidden_reason(one) and labels.isdisjoint((one.path, one.old_path))
        ]

    def _find(self, snapshot: Snapshot) -> tuple[_Places, frozenset[str], IndexReader]:
        """Return the paths in the index, those that are ignored, and the index without them."""
        with self._lock:
            if self._read is None or self._read[0] is not snapshot:
                self._read = snapshot, *self._read_labels(snapshot)
                self._known = None
            _, paths, folders = self._read
            state = self._read_state(folders)
            if self._known is None or self._known[0] != state:
                hidden = frozenset(find_excluded(self._root, paths))
                self._known = state, hidden, _mask(snapshot, paths, hidden)
            return paths, *self._known[1:]

    def _read_labels(self, snapshot: Snapshot) -> tuple[_Places, Sequence[str]]:
        """Return the paths below the folder, and all folders of the work tree above them."""
        paths: dict[str, dict[str, list[int]]] = {}
        for at, labels in snapshot.section_labels().items():
            for label in labels:
                path = _LINE.sub("", label.removeprefix("./"))
                if label != COMMIT_MESSAGE and path.startswith(self._prefix):
                    below = path.removeprefix(self._prefix)
                    paths.setdefault(below, {}).setdefault(label, []).append(at)
        return paths, sorted(_folders_above(f"{self._prefix}{path}" for path in paths))

    def _read_state(self, folders: Iterable[str]) -> _State:
        git = find_git_folders(self._root)
        places = [
            os.path.join(self._top, folder, name)
            for folder in folders
            for name in (OWN_IGNORE_NAME, ".gitignore")
        ]
        if git is not None:
            places += [os.path.join(git.own, "index"), os.path.join(git.common, "info", "exclude")]
        found = []
        for place in places:
            try:
                info = os.stat(place)
            except OSError:
                continue
            found.append((place, info.st_mtime_ns, info.st_size, info.st_ino))
        return tuple(found)


def _mask(snapshot: Snapshot, paths: _Places, hidden: Iterable[str]) -> IndexReader:
    labels: dict[int, set[str]] = {}
    for path in hidden:
        for label, documents in paths[path].items():
            for at in documents:
                labels.setdefault(at, set()).add(label)
    return MaskedIndex(snapshot, labels) if labels else snapshot


def _folders_above(paths: Iterable[str]) -> set[str]:
    folders = {""}
    for path in paths:
        while (path := path.rpartition("/")[0]) not in folders:
            folders.add(path)
    return folders
