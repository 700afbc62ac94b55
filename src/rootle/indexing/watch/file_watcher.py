"""Hears what changes in the folders that the walker looks into, and in no others."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rootle.errors import UnavailableError
from rootle.indexing.watch.file_events import FileChanges, WatchedPaths, interpret
from rootle.sources.files.filesystem_walk import walk_folder
from rootle.sources.git.command import find_work_tree
from rootle.sources.git.git_dirs import GitFolders, find_git_folders

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

# How often the events that came are fetched, and how long those of a storm are kept together.
STEP_MS: Final = 100
_STORM_MS: Final = 400
# While a tree is being unpacked, folders come and go between two looks at it.
_LOOKS: Final = 5
# Linux watches one folder at a time, so that those which no index holds cost nothing. Elsewhere
# a whole tree is as cheap, and events from such folders are passed over.
_IS_RECURSIVE: Final = not sys.platform.startswith("linux")

Listener = Callable[[FileChanges], None]


class Watcher:
    """Calls `heard` from threads of its own; calls `lost` with a reason when it may miss some."""

    def __init__(self, root: str, inbox: str, heard: Listener, lost: Callable[[str], None]) -> None:
        self._root = os.path.realpath(root)
        self._inbox = os.path.realpath(inbox)
        self._heard = heard
        self._lost = lost
        self._ears: _Ears | None = None
        self._git: GitFolders | None = None
        self.folders: frozenset[str] = frozenset()  # watched ones, relative to the root

    def renew(self, known: Collection[str] = ()) -> None:
        """Watch the folders that are there now, and those of the `known` files.

        Every change after this returns is heard. Raises UnavailableError where the system refuses.
        """
        wanted = self._look(known)
        for _ in range(_LOOKS):
            self._open(wanted)
            wanted = self._look(known)
            if wanted <= self.folders:
                return

    def unwatched(self, known: Iterable[str]) -> frozenset[str]:
        """The folders of these files that are not watched."""
        return frozenset(path.rpartition("/")[0] for path in known) - self.folders

    @property
    def unwatchable(self) -> int:
        """How many folders nothing is heard from, as their names are no UTF-8."""
        return sum(not _is_utf8(folder) for folder in self.folders)

    @property
    def git_is_busy(self) -> bool:
        """Whether git is in the middle of a checkout or the like."""
        return self._git is not None and self._git.is_busy

    def close(self) -> None:
        if self._ears is not None:
            self._ears.close()
            self._ears = None

    def _look(self, known: Collection[str]) -> frozenset[str]:
        folders = set(walk_folder(self._root).folders)
        for path in known:
            # Git may track files in a folder that it ignores otherwise.
            folder = path.rpartition("/")[0]
            while folder not in folders and os.path.isdir(os.path.join(self._root, folder)):
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(folders)

    def _open(self, folders: frozenset[str]) -> None:
        git = find_git_folders(self._root)
        places = WatchedPaths(self._root, os.path.dirname(self._inbox), self._inbox, git)
        inside = () if _IS_RECURSIVE else folders
        wanted = {
            self._root,
            self._inbox,
            *(os.path.join(self._root, folder) for folder in inside if folder),
            *_around(self._root, git),
        }

        def hear(events: Iterable[tuple[int, str]]) -> None:
            self._heard(interpret(events, places, folders))

        ears = _Ears(wanted, hear, self._lost)
        earlier, self._ears, self.folders, self._git = self._ears, ears, folders, git
        # Only now, so that there is no time at which nobody listens.
        if earlier is not None:
            earlier.close()


def _around(root: str, git: GitFolders | None) -> Iterator[str]:
    """Folders outside the tree where something stands about what is ours in it."""
    if git is None:
        return
    for folder in (git.own, git.common):
        yield from (folder, os.path.join(folder, "logs"), os.path.join(folder, "info"))
    top = find_work_tree(root) or root
    while root != top:
        root = os.path.dirname(root)
        yield root


class _Ears:
    """One set of watched folders, which cannot grow, and the thread that waits for its events."""

    def __init__(
        self,
        folders: Iterable[str],
        heard: Callable[[Iterable[tuple[int, str]]], None],
        lost: Callable[[str], None],
    ) -> None:
        self._heard = heard
        self._lost = lost
        self._stop = threading.Event()
        self._notify = _open_notify([path for path in folders if _is_watchable(path)])
        self._thread = threading.Thread(target=self._listen, name="rootle-ears", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Returns when nothing more will be heard."""
        self._stop.set()
        self._thread.join()
        self._notify.close()

    def _listen(self) -> None:
        from watchfiles._rust_notify import WatchfilesRustInternalError

        while not self._stop.is_set():
            try:
                # Without a time limit: what comes at the moment when one ends would be dropped.
                events = self._notify.watch(_STORM_MS, STEP_MS, 0, self._stop)
            except (OSError, WatchfilesRustInternalError) as error:
                # A file name that is no UTF-8, for example.
                self._lost(str(error))
                return
            if not isinstance(events, str):
                self._heard(events)


def _is_watchable(folder: str) -> bool:
    return _is_utf8(folder) and os.access(folder, os.R_OK | os.X_OK)


def _is_utf8(path: str) -> bool:
    """watchfiles takes no other paths."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _open_notify(folders: list[str]) -> RustNotify:
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    for _ in range(_LOOKS):
        try:
            return RustNotify(folders, False, False, 300, _IS_RECURSIVE, False)
        except (FileNotFoundError, PermissionError):  # gone or locked since they were listed
            folders = [path for path in folders if _is_watchable(path)]
        except (OSError, WatchfilesRustInternalError) as error:
            raise UnavailableError(_refusal(error, len(folders))) from error
    raise UnavailableError("the folders change too quickly to be watched; try again")


def _refusal(error: Exception, count: int) -> str:
    cure = ""
    if not _IS_RECURSIVE:
        cure = "; raise fs.inotify.max_user_watches or fs.inotify.max_user_instances (sysctl)"
    return f"the system does not watch {count} folders: {error}{cure}"
