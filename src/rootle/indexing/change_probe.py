"""Detect that nothing in a folder has changed, without reading the folder again."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from rootle.indexing.watch.indexed_folders import (
    list_nested_git_folders,
    list_rule_folders,
    list_tree_folders,
)
from rootle.sources.git.git_dirs import find_work_tree

# From <sys/inotify.h>.
_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_IS_FOLDER: Final = 0x4000_0000
_OVERFLOW: Final = 0x4000
_ONLY_FOLDERS: Final = 0x0100_0000
_MASK: Final = (
    _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
)
# After any of these events, there may be folders that are not watched.
_NEW_FOLDERS: Final = _OVERFLOW | _IS_FOLDER | _DELETE_SELF | _MOVE_SELF
_EVENT: Final = struct.Struct("iIII")  # watch, mask, cookie, length of the name
_BUFFER_BYTES: Final = 65_536
_MAX_ATTEMPTS: Final = 5
_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP})
# On these file systems, writes by other machines cause no events: NFS, SMB, CIFS, FUSE, 9P, Ceph
# and AFS.
_REMOTE_FILE_SYSTEMS: Final = frozenset(
    {0x6969, 0x517B, 0xFE534D42, 0xFF534D42, 0x65735546, 0x01021997, 0x00C36400, 0x5346414F}
)


class ChangeProbe:
    """Reports whether a folder may have changed since the last call.

    Linux queues an inotify event before a write returns, so an empty queue proves that no write has
    returned since the last call. Writes through a memory map cause no events. On other systems and
    on network file systems, the folder always counts as changed.
    """

    def __init__(
        self, root: Path, index_dir: Path, list_known_paths: Callable[[], Collection[str]]
    ) -> None:
        """`list_known_paths` returns the paths of the indexed files.

        Git may track some of them in ignored folders, so their folders are watched too.
        """
        self._path = os.fspath(root)
        self._root = os.path.realpath(root)
        self._place = _find_place(self._path)
        self._index_dir = os.path.realpath(index_dir)
        self._list_known_paths = list_known_paths
        self._descriptor: int | None = None
        self._watched: frozenset[str] = frozenset()  # absolute paths of folders
        self._is_supported = sys.platform.startswith("linux")

    def watch(self) -> None:
        """Watch the folders that exist now, unless they are already watched."""
        if self._descriptor is not None or not self._is_supported:
            return
        self._root, self._place = os.path.realpath(self._path), _find_place(self._path)
        try:
            self._descriptor = self._open()
        except OSError:  # a network file system, or an exhausted inotify limit
            self._is_supported = False

    @property
    def is_watching(self) -> bool:
        """Whether changes are reported at all."""
        return self._descriptor is not None

    def may_have_changed(self) -> bool:
        """Return whether anything may have changed since the last call or since `watch`."""
        if self._descriptor is None:
            return True
        masks = _read_masks(self._descriptor)
        has_moved = _find_place(self._path) != self._place
        if has_moved or any(mask & _NEW_FOLDERS for mask in masks):
            self.close()
        return has_moved or bool(masks)

    def covers_known_paths(self) -> bool:
        """Return whether the folders of all indexed files are watched.

        The result is False after an update has indexed files that git tracks in an ignored folder.
        """
        folders = {os.path.dirname(path) for path in self._list_known_paths()} - {""}
        return all(os.path.join(self._root, folder) in self._watched for folder in folders)

    def close(self) -> None:
        """Stop watching."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _open(self) -> int:
        library = ctypes.CDLL(None, use_errno=True)
        if _is_remote(library, self._root):
            raise OSError(f"{self._root} is on a network file system")
        descriptor = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        try:
            self._add_watches(library, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _add_watches(self, library: ctypes.CDLL, descriptor: int) -> None:
        """Watch all folders, and list them again until no new folder appears."""
        watched: set[str] = set()
        for _ in range(_MAX_ATTEMPTS):
            folders = {self._root, *list_rule_folders(self._root)}
            tree = list_tree_folders(self._root, self._list_known_paths())
            folders.update(os.path.join(self._root, folder) for folder in tree if folder)
            folders.update(list_nested_git_folders(self._root, tree))
            folders = {folder for folder in folders if not self._is_in_index(folder)}
            if folders <= watched:
                self._watched = frozenset(watched)
                return
            for folder in folders - watched:
                path = os.fsencode(folder)
                if library.inotify_add_watch(descriptor, path, _MASK | _ONLY_FOLDERS) < 0:
                    _raise_unless_missing(ctypes.get_errno(), folder)
            watched |= folders
        raise OSError("the folders change too quickly to be watched")

    def _is_in_index(self, folder: str) -> bool:
        return f"{folder}/".startswith(f"{self._index_dir}/")


def _find_place(path: str) -> tuple[int, int, str | None] | None:
    """Return the identity of a folder and the top of its repository; None if there is no folder.

    Folders above the root are not watched, but the result changes if one of them is replaced or
    becomes a repository.
    """
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino, find_work_tree(os.path.realpath(path))


def _raise_unless_missing(code: int, folder: str) -> None:
    # Files in a folder that cannot be read are not indexed.
    if code not in _MISSING:
        raise OSError(code, os.strerror(code), folder)


def _read_masks(descriptor: int) -> list[int]:
    """Return the masks of all queued events."""
    masks: list[int] = []
    while True:
        try:
            data = os.read(descriptor, _BUFFER_BYTES)
        except BlockingIOError:
            return masks
        at = 0
        while at < len(data):
            _, mask, _, length = _EVENT.unpack_from(data, at)
            masks.append(mask)
            at += _EVENT.size + length


def _is_remote(library: ctypes.CDLL, path: str) -> bool:
    buffer = ctypes.create_string_buffer(256)  # struct statfs has 120 bytes
    if library.statfs(os.fsencode(path), buffer) < 0:
        return True
    kind = ctypes.c_long.from_buffer(buffer).value & 0xFFFF_FFFF
    return kind in _REMOTE_FILE_SYSTEMS
