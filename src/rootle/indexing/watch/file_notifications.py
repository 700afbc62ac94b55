"""File system watching, limited to the folders whose files are indexed."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final

from rootle.errors import UnavailableError
from rootle.indexing.watch.event_interpretation import FileChanges, WatchedPaths, interpret_events
from rootle.indexing.watch.indexed_folders import list_rule_folders, list_tree_folders
from rootle.sources.git.git_dirs import GitFolders, find_git_folders

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

# How often watchfiles polls its queue, and the longest burst of events that it returns as one
# batch.
_POLL_MS: Final = 100
_BURST_MS: Final = 400
# The number of attempts to watch the folders. An attempt fails if folders are created or deleted
# while they are being listed.
_MAX_ATTEMPTS: Final = 5
# On Linux, each inotify watch covers one folder, so excluded folders cost nothing. On other systems
# a recursive watch is as cheap, and events from excluded folders are discarded.
_IS_RECURSIVE: Final = not sys.platform.startswith("linux")


class FileWatcher:
    """Watches the folders below a root and reports changes from a background thread.

    `on_changes` receives the changes; `on_loss` receives the reason if some may have been missed.
    """

    def __init__(
        self,
        root: str,
        inbox: str,
        on_changes: Callable[[FileChanges], None],
        on_loss: Callable[[str], None],
    ) -> None:
        self._root = os.path.realpath(root)
        self._inbox = os.path.realpath(inbox)
        self._on_changes = on_changes
        self._on_loss = on_loss
        self._thread: _EventThread | None = None
        self._git: GitFolders | None = None
        self.folders: frozenset[str] = frozenset()  # the watched folders, relative to the root

    def refresh(self, known_paths: Collection[str] = ()) -> None:
        """Watch the folders that exist now, including ignored folders that contain known files.

        Every change that is made after this method returns is reported. Raises UnavailableError if
        the system cannot watch the folders.
        """
        folders = list_tree_folders(self._root, known_paths)
        for _ in range(_MAX_ATTEMPTS):
            self._watch(folders)
            folders = list_tree_folders(self._root, known_paths)
            if folders <= self.folders:
                return

    def find_unwatched(self, known_paths: Iterable[str]) -> frozenset[str]:
        """Return the folders that contain these files and are not watched."""
        return frozenset(path.rpartition("/")[0] for path in known_paths) - self.folders

    @property
    def unwatchable_count(self) -> int:
        """The number of folders that cannot be watched because their names are not UTF-8."""
        return sum(not _is_utf8(folder) for folder in self.folders)

    @property
    def git_is_busy(self) -> bool:
        """Whether git is in the middle of a checkout, commit or similar command."""
        return self._git is not None and self._git.is_busy

    def close(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._thread = None

    def _watch(self, folders: frozenset[str]) -> None:
        git = find_git_folders(self._root)
        watched = WatchedPaths(self._root, os.path.dirname(self._inbox), self._inbox, git)
        paths = {self._root, self._inbox, *list_rule_folders(self._root)}
        if not _IS_RECURSIVE:
            paths.update(os.path.join(self._root, folder) for folder in folders if folder)

        def report(events: Iterable[tuple[int, str]]) -> None:
            self._on_changes(interpret_events(events, watched, folders))

        thread = _EventThread(paths, report, self._on_loss)
        previous, self._thread, self.folders, self._git = self._thread, thread, folders, git
        # The previous thread is stopped after the new one has started, so that no event is lost.
        if previous is not None:
            previous.close()


class _EventThread:
    """A fixed set of watched folders and the thread that waits for their events.

    This uses RustNotify, the documented backend of watchfiles, instead of `watchfiles.watch`. When
    the constructor of RustNotify returns, the folders are watched. `watchfiles.watch` is a
    generator, and starts watching at an unknown time after its first item is requested.
    """

    def __init__(
        self,
        folders: Iterable[str],
        on_events: Callable[[Iterable[tuple[int, str]]], None],
        on_loss: Callable[[str], None],
    ) -> None:
        self._on_events = on_events
        self._on_loss = on_loss
        self._stop = threading.Event()
        self._notify = _open_notify([path for path in folders if _is_watchable(path)])
        self._thread = threading.Thread(target=self._run, name="rootle-file-events", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread; no event is reported after this returns."""
        self._stop.set()
        self._thread.join()
        self._notify.close()

    def _run(self) -> None:
        from watchfiles._rust_notify import WatchfilesRustInternalError

        while not self._stop.is_set():
            try:
                # No timeout: watchfiles drops events that arrive at the moment when a timeout
                # expires.
                events = self._notify.watch(_BURST_MS, _POLL_MS, 0, self._stop)
            except (OSError, WatchfilesRustInternalError) as error:
                # This happens, for example, if a file name is not valid UTF-8.
                self._on_loss(str(error))
                return
            if not isinstance(events, str):
                self._on_events(events)


def _is_watchable(folder: str) -> bool:
    return _is_utf8(folder) and os.access(folder, os.R_OK | os.X_OK)


def _is_utf8(path: str) -> bool:
    """Return whether watchfiles accepts the path."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _open_notify(folders: list[str]) -> RustNotify:
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    for _ in range(_MAX_ATTEMPTS):
        try:
            return RustNotify(folders, False, False, 300, _IS_RECURSIVE, False)
        except (FileNotFoundError, PermissionError):  # deleted or protected since they were listed
            folders = [path for path in folders if _is_watchable(path)]
        except (OSError, WatchfilesRustInternalError) as error:
            raise UnavailableError(_explain_refusal(error, len(folders))) from error
    raise UnavailableError("the folders change too quickly to be watched; try again")


def _explain_refusal(error: Exception, count: int) -> str:
    remedy = ""
    if not _IS_RECURSIVE:
        remedy = "; raise fs.inotify.max_user_watches or fs.inotify.max_user_instances (sysctl)"
    return f"the system cannot watch {count} folders: {error}{remedy}"
