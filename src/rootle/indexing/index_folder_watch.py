"""Wait for changes in the folder of an index without polling, with inotify on Linux."""

from __future__ import annotations

import ctypes
import os
import select
import sys
from pathlib import Path
from typing import Final

# From <sys/inotify.h>.
_MOVED_TO, _CREATE, _DELETE, _ONLY_FOLDERS = 0x80, 0x100, 0x200, 0x0100_0000
_IN_FOLDER: Final = _MOVED_TO | _ONLY_FOLDERS
# A watch on the parent reports the deletion of a folder at once. A watch on the folder itself
# reports it only when no process has a file in the folder open.
_IN_PARENT: Final = _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS
_BUFFER_BYTES: Final = 65_536
_MAX_ATTEMPTS: Final = 5


class FolderWatch:
    """Waits until a file is renamed into a folder, or the folder is created or deleted.

    Raises OSError if the system does not support this, or allows no more watches.
    """

    def __init__(self, folder: Path) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError("folders can only be watched on Linux")
        self._folder = folder
        self._library = ctypes.CDLL(None, use_errno=True)
        self._descriptor = int(self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._stop_reader, self._stop_writer = os.pipe()
        try:
            self._add_watches()
        except OSError:
            self._close_descriptors()
            raise

    def wait(self) -> bool:
        """Block until something may have changed; return False after `stop`.

        The next call also reports changes that happen between the two calls. Raises OSError if the
        folder can no longer be watched.
        """
        readable = [fd for fd, _ in self._poll().poll()]
        if self._stop_reader in readable:
            self._close_descriptors()
            return False
        os.read(self._descriptor, _BUFFER_BYTES)
        self._add_watches()  # the folder may have been created or deleted
        return True

    def stop(self) -> None:
        """Make `wait`, which runs in another thread, release the watch and return."""
        os.write(self._stop_writer, b"x")

    def _poll(self) -> select.poll:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.register(self._stop_reader, select.POLLIN)
        return poll

    def _add_watches(self) -> None:
        """Watch the folder, if it exists, and its nearest existing parent."""
        for _ in range(_MAX_ATTEMPTS):
            parent = self._nearest_parent()
            is_watched = self._add(parent, _IN_PARENT) and (
                self._add(self._folder, _IN_FOLDER) or not os.path.isdir(self._folder)
            )
            if is_watched and parent == self._nearest_parent():
                return
        raise OSError(ctypes.get_errno(), "inotify_add_watch", os.fspath(self._folder))

    def _nearest_parent(self) -> Path:
        parent = self._folder.parent
        while not os.path.isdir(parent) and parent != parent.parent:
            parent = parent.parent
        return parent

    def _add(self, folder: Path, mask: int) -> bool:
        path = os.fsencode(folder)
        return int(self._library.inotify_add_watch(self._descriptor, path, mask)) >= 0

    def _close_descriptors(self) -> None:
        for descriptor in (self._descriptor, self._stop_reader, self._stop_writer):
            os.close(descriptor)
