"""Hide the indexed changes to files that the current ignore files exclude."""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from rootle.index.local.snapshot import Snapshot
from rootle.index.masked_index import MaskedIndex
from rootle.index.reader import IndexReader
from rootle.sources.files.file_listing import find_excluded
from rootle.sources.files.filesystem_walk import OWN_IGNORE_NAME
from rootle.sources.git.commits.commit_document import hidden_reason
from rootle.sources.git.commits.patch_parsing import FileChange
from rootle.sources.git.git_dirs import find_git_folders
from rootle.types import COMMIT_MESSAGE, MAX_INDEXED_FILES

# The line number at the end of the label of a removed definition.
_LINE: Final = re.compile(r":\d+\Z")
# After a failure, git is asked again only after this time, because it may have timed out.
_RETRY_S: Final = 30.0
# The paths, times, sizes and inodes of the files that decide which paths are ignored.
_State = tuple[tuple[str, int, int, int], ...]
# Maps each path to the labels of the sections about it, and each label to the documents with it.
_Places = Mapping[str, Mapping[str, Sequence[int]]]


@dataclass(frozen=True, slots=True)
class ShownChanges:
    """An index of commits without the changes to files that are now ignored."""

    index: IndexReader
    hidden: frozenset[str]  # the paths of the ignored files
    # The documents whose changes below the folder are all hidden. No part of them may be shown.
    empty: frozenset[int]


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
        # The state of the ignore files, and the index without the changes that they hide.
        self._known: tuple[_State, ShownChanges] | None = None
        # The index without any changes, after git has failed, and the time of this failure.
        self._unknown: ShownChanges | None = None
        self._failed_s = 0.0

    def hide(self, snapshot: Snapshot) -> ShownChanges:
        """Return the index without the changes to files that are now ignored.

        As long as nothing changes, the result is the same object.
        """
        return self._find(snapshot)[1]

    def has_failed(self) -> bool:
        """Return whether the last result hides all changes, because git failed."""
        return self._unknown is not None

    def drop_hidden(self, snapshot: Snapshot, changes: Sequence[FileChange]) -> list[FileChange]:
        """Return the changes to files that have indexed content and are not ignored now."""
        known, shown = self._find(snapshot)
        paths = {path for one in changes for path in (one.path, one.old_path)}
        below = {one.removeprefix(self._prefix) for one in paths if one.startswith(self._prefix)}
        # Also check paths that the index lacks: it lists only some files of a large commit.
        unlisted = below - known.keys()
        excluded = find_excluded(self._root, unlisted)
        ignored = (shown.hidden & below) | (unlisted if excluded is None else excluded)
        labels = {f"{self._prefix}{path}" for path in ignored}
        return [
            one
            for one in changes
            if not hidden_reason(one) and labels.isdisjoint((one.path, one.old_path))
        ]

    def _find(self, snapshot: Snapshot) -> tuple[_Places, ShownChanges]:
        """Return the paths in the index, and the index without the changes to ignored paths."""
        with self._lock:
            if self._read is None or self._read[0] is not snapshot:
                self._read = snapshot, *self._read_labels(snapshot)
                self._known = self._unknown = None
            _, paths, folders = self._read
            state = self._read_state(folders)
            if self._known is None or self._known[0] != state:
                if self._unknown is not None and monotonic() - self._failed_s < _RETRY_S:
                    return paths, self._unknown
                excluded = find_excluded(self._root, paths)
                # If git fails, all changes are hidden until it succeeds.
                hidden = frozenset(paths if excluded is None else excluded)
                index, empty = _mask(snapshot, paths, hidden), _find_empty(paths, hidden)
                shown = ShownChanges(index, hidden, empty)
                if excluded is None:
                    self._unknown, self._failed_s = shown, monotonic()
                    return paths, shown
                self._known, self._unknown = (state, shown), None
            return paths, self._known[1]

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


def _find_empty(paths: _Places, hidden: frozenset[str]) -> frozenset[int]:
    """Return the documents that have only sections about hidden paths.

    The documents of large commits are left out: they have no sections about some of the changed
    files, and those files may be visible.
    """
    if not hidden:
        return frozenset()
    total = Counter(at for labels in paths.values() for found in labels.values() for at in found)
    gone = Counter(at for path in hidden for found in paths[path].values() for at in found)
    return frozenset(at for at, count in gone.items() if count == total[at] < MAX_INDEXED_FILES)


def _folders_above(paths: Iterable[str]) -> set[str]:
    folders = {""}
    for path in paths:
        while (path := path.rpartition("/")[0]) not in folders:
            folders.add(path)
    return folders
