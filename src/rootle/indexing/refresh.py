"""The refresh policy: whether a query first updates the index, or relies on its watcher."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

from rootle.config.fields import Config
from rootle.errors import IndexMissingError, IndexStorageError, UnavailableError
from rootle.indexing.background_update import BackgroundUpdate
from rootle.indexing.change_probe import ChangeProbe
from rootle.indexing.index_state import IndexWork
from rootle.indexing.indexer import Indexer
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_probe import WatcherProbe
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState
from rootle.types import ProgressCallback, Staleness, WarningCallback, ignore_progress

# The folder is checked at least this often, because some changes cause no events: writes through a
# memory map, changes to global ignore rules, and changes to mounted files of another machine.
_MAX_PROOF_AGE_S: Final = 60.0
# The minimum interval between two rounds of maintenance, which retry failed embeddings and update
# search servers.
_MAINTENANCE_INTERVAL_S: Final = 2.0
# How long to wait for the writer lock: for a full refresh, and before an ordinary query.
_LOCK_TIMEOUT_S: Final = 10.0
_QUERY_LOCK_TIMEOUT_S: Final = 0.5
# Changes of up to this size are indexed before a query is answered: two cores do this in well under
# a second. Larger changes are indexed in the background.
_MAX_BYTES_BEFORE_ANSWER: Final = 1_500_000
_MAX_FILES_BEFORE_ANSWER: Final = 200
# Below this number of files, checking the folder takes less time than asking the watcher.
_MIN_FILES_TO_ASK_WATCHER: Final = 5_000
# The longest delay between a change and the report of its event to the watcher.
_EVENT_DELAY_S: Final = 0.3
# A query asks the watcher to index waiting files at once only if there are at most this many.
_MAX_FILES_ON_REQUEST: Final = 50
_FIRST_INDEX_POLL_S: Final = 0.05
# How often to report that another process is still building the first index, and how often to look
# whether a part of it can be searched.
_WAIT_REPORT_INTERVAL_S: Final = 30.0
_PART_POLL_S: Final = 2.0
_COMMAND_TIMEOUT_S: Final = 5.0


class IndexRefresher:
    """Refreshes one index, if necessary, before each query of this process. Thread-safe."""

    def __init__(
        self,
        indexer: Indexer,
        config: Config,
        on_warning: WarningCallback,
        *,
        initial_index_timeout_s: float | None = None,
        searches_unfinished: bool = False,
    ) -> None:
        """`initial_index_timeout_s` limits how long a query waits for the first index.

        With `searches_unfinished`, a query may search an index that another process is building.
        """
        self._indexer = indexer
        self._config = config
        self._on_warning = on_warning
        self._initial_index_timeout_s = initial_index_timeout_s
        self._first_index_deadline: float | None = None
        self._searches_unfinished = searches_unfinished
        self.is_unfinished = False  # whether the last check found only a part of the first index
        self._watcher = WatcherProbe(indexer.index_dir)
        self._watched_generation = -1  # the last generation whose files were all in watched folders
        self._changes = ChangeProbe(indexer.root, indexer.index_dir, indexer.state.list_paths)
        self._is_proven_current = False  # True after a check during which `_changes` was watching
        self._proven_generation = 0  # the generation of the index that this check found current
        self._maintained_at = float("-inf")
        self._background = BackgroundUpdate(self._update_in_background, on_warning)
        self._lock = threading.RLock()
        self._checked_at = float("-inf")
        self._updated_at = float("-inf")
        self._matched_at = 0.0  # Unix time at which the index last matched the folder
        self._staleness: Staleness | None = None
        self._relies_on_watcher = False
        self.has_index = False  # whether the last check found a complete index of this model
        self.replacement_count = 0
        self.command = WatcherCommand()  # the last one of this process; obeyed if no watcher runs

    def refresh(self, on_progress: ProgressCallback, *, fully: bool) -> Staleness | None:
        """Update the index if a check is due; return its staleness, or None if it is current.

        Unless `fully` is set, a larger update continues in the background. Only an update that
        takes well under a second is finished before this method returns. If there is no index, it
        is built.
        """
        if self._initial_index_timeout_s is not None:
            self._wait_for_first_index(self._initial_index_timeout_s)
            if not self.has_index:
                return self._staleness_of_other_settings()
        with self._lock:
            if self._is_still_current():
                self._maintain(on_progress)
                return None
            is_due = self._is_check_due()
            if not (is_due or self._relies_on_watcher):
                return self._staleness
            is_watching = self._watch_changes()
            self.is_unfinished = False
            state = self._ask_watcher(is_due=is_due)
            if state is not None:
                self._staleness = _staleness_of_watcher(state)
            else:
                self._staleness = self._check_folder(on_progress, fully=fully)
            self._relies_on_watcher = state is not None
            if is_due or state is None:
                self._checked_at = time.monotonic()
            if self._staleness is None and not self.is_unfinished:
                self._maintain(on_progress)
            if is_watching and self._staleness is None:
                is_watching = self._watches_all_files()
            is_proof = state is None or state.is_throttled or self._waits_for_watcher()
            self._is_proven_current = is_watching and is_proof and self._staleness is None
            if self._is_proven_current:
                self._proven_generation = self._indexer.snapshot().generation
            return self._staleness

    @contextmanager
    def replace_index(self) -> Iterator[None]:
        """Block queries while the index is rebuilt or deleted inside the `with` statement."""
        with self._lock:
            self.replacement_count += 1
            self.invalidate()
            yield

    def invalidate(self) -> None:
        """Make the next query check the folder."""
        with self._lock:
            self._checked_at = float("-inf")
            self._staleness = None
            self._is_proven_current = False

    def send_command(self, is_paused: bool, min_interval_s: float) -> bool:
        """Pause, throttle or resume updates; return whether a watcher has confirmed the command."""
        self.command = WatcherCommand(is_paused, min_interval_s)
        return WatcherChannel(self._indexer.index_dir).send_command(
            self.command, _COMMAND_TIMEOUT_S
        )

    def close(self) -> None:
        """Wait until a background update has ended, then stop watching for changes."""
        self._background.join()
        self._watcher.close()
        with self._lock:  # another thread may be reading the changes
            self._changes.close()

    def _wait_for_first_index(self, timeout_s: float) -> None:
        """Start building a missing index and wait for it; all queries share one timeout.

        The lock is not held while waiting, so that other queries are not blocked.
        """
        while not self._detect_index():
            self._start_first_index()
            self._first_index_deadline = self._first_index_deadline or time.monotonic() + timeout_s
            if time.monotonic() > self._first_index_deadline:
                return
            time.sleep(_FIRST_INDEX_POLL_S)
        self._first_index_deadline = None

    def _detect_index(self) -> bool:
        # Reading the manifest is cheaper than opening an index that is being built.
        is_complete = self.has_index or self._indexer.state.read_progress() is None
        self.has_index = is_complete and self._indexer.has_usable_index()
        return self.has_index

    def _staleness_of_other_settings(self) -> Staleness | None:
        """Return the staleness of a complete index whose replacement is being built."""
        if not self._indexer.state.has_complete_index():
            return None
        updated_at = float(self._indexer.snapshot().value("updated_at"))
        count = self._indexer.state.count_files()
        return Staleness(round(max(0.0, time.time() - updated_at), 1), count)

    def _start_first_index(self) -> None:
        with self._lock:
            self._background.raise_failure()
            self._raise_if_read_only()
            if not self._background.is_running and not self._watcher.is_indexing():
                self._start_background_update()

    def _is_check_due(self) -> bool:
        return time.monotonic() - self._checked_at >= self._config.stale_check_seconds

    def _is_still_current(self) -> bool:
        """Return whether the last check found the index current and nothing has changed since.

        Each change is reported only once. After a report, this method returns False until the next
        check. It also returns False if an older copy, with a lower generation, replaced the index.
        """
        is_recent = time.monotonic() - self._checked_at < _MAX_PROOF_AGE_S
        self._is_proven_current = (
            self._is_proven_current
            and is_recent
            and not self._changes.may_have_changed()
            and self._has_proven_index()
        )
        return self._is_proven_current

    def _has_proven_index(self) -> bool:
        try:
            return self._indexer.snapshot().generation >= self._proven_generation
        except IndexStorageError:
            return False

    def _watch_changes(self) -> bool:
        """Watch the folder, starting with the second check; return whether changes are reported.

        Call this before a check. The folder is not watched during the first check, because a
        process that searches only once would be delayed.
        """
        is_first = self._checked_at == float("-inf")
        if is_first or not (
            self._indexer.has_only_files and self._indexer.state.has_complete_index()
        ):
            return False
        self._changes.may_have_changed()  # the check that follows sees these changes
        self._changes.watch()
        return self._changes.is_watching

    def _watches_all_files(self) -> bool:
        """Return whether the folders of all indexed files are watched; if not, stop watching.

        The next check then watches all of them.
        """
        generation = self._indexer.snapshot().generation
        if generation != self._watched_generation:
            if not self._changes.covers_known_paths():
                self._changes.close()
                return False
            self._watched_generation = generation
        return True

    def _maintain(self, on_progress: ProgressCallback) -> None:
        """Record that the index is current, and retry work on which answers do not depend."""
        self._matched_at = time.time()
        if time.monotonic() - self._maintained_at < _MAINTENANCE_INTERVAL_S:
            return
        self._maintained_at = time.monotonic()
        self._embed_pending(on_progress)
        if self._config.enable_indexing:
            self._indexer.read_history_in_background()
            self._indexer.embed_images_in_background()
            self._indexer.delete_leftovers()
        self._indexer.update_remotes_in_background()

    def _ask_watcher(self, *, is_due: bool) -> WatcherState | None:
        """Return the state of a watcher that keeps the index fresh; None if there is none."""
        # If the index was deleted, a watcher does not create it again.
        if not self._config.enable_indexing or not self._indexer.state.has_complete_index():
            return None
        state = self._watcher.check(thoroughly=is_due)
        if state is None:
            return None
        if state.is_throttled:
            return state if state.waiting else self._measure_throttled(state)
        if self._must_see_recent_changes():
            is_small = self._indexer.state.count_files() < _MIN_FILES_TO_ASK_WATCHER
            return None if is_small else self._watcher.sync(_QUERY_LOCK_TIMEOUT_S)
        if 0 < state.waiting <= _MAX_FILES_ON_REQUEST:
            return self._watcher.sync(_QUERY_LOCK_TIMEOUT_S) or state
        return state

    def _measure_throttled(self, state: WatcherState) -> WatcherState:
        """Return the state of a throttled watcher, including changes that it has not seen yet."""
        if synced := self._watcher.sync(_QUERY_LOCK_TIMEOUT_S):
            return synced
        work = self._indexer.state.find_work()
        if work is None:
            return state
        return replace(state, waiting=work.changed_files, waiting_since=time.time())

    def _must_see_recent_changes(self) -> bool:
        """Return whether to consider changes whose events may not have reached the watcher yet."""
        return self._checked_at == float("-inf") or self._waits_for_watcher()

    def _waits_for_watcher(self) -> bool:
        """Return whether a query waits until the watcher has seen all earlier changes."""
        return self._config.stale_check_seconds < _EVENT_DELAY_S

    def _check_folder(self, on_progress: ProgressCallback, *, fully: bool) -> Staleness | None:
        """Compare the index with the folder, update it if allowed, and return its staleness."""
        if self._background.is_running:
            return self._staleness
        if self._is_throttled() and self._indexer.state.has_complete_index():
            return self._measure_staleness(self._indexer.state.find_work())
        self._raise_if_read_only()
        is_usable = self._indexer.has_usable_index()
        work = self._indexer.state.find_work() if is_usable else None
        if is_usable and work is None:
            return None
        if work is not None and not fully and not _is_small(work):
            self._start_background_update()
            return self._measure_staleness(work)
        return self._update(on_progress, _LOCK_TIMEOUT_S if fully else _QUERY_LOCK_TIMEOUT_S)

    def _is_throttled(self) -> bool:
        interval_s = self.command.min_interval_s
        is_too_early = interval_s > 0 and time.monotonic() - self._updated_at < interval_s
        return is_too_early or self.command.is_paused or not self._config.enable_indexing

    def _raise_if_read_only(self) -> None:
        if not self._config.enable_indexing:
            with suppress(IndexMissingError):
                self._indexer.snapshot()  # raises an error if the index is damaged
            raise IndexMissingError(
                f"there is no complete index at {self._indexer.index_dir}, and enableIndexing is "
                "false; build the index with enableIndexing set to true"
            )

    def _update(self, on_progress: ProgressCallback, timeout_s: float) -> Staleness | None:
        self._updated_at = time.monotonic()
        if self._has_part():
            timeout_s = min(timeout_s, _PART_POLL_S)
        try:
            self._indexer.update(on_progress, timeout_s=timeout_s)
            return None
        except (UnavailableError, IndexStorageError) as error:
            if self._indexer.state.has_complete_index():
                self._on_warning(f"searching the existing index, which may be stale: {error}")
                return self._measure_staleness(self._indexer.state.find_work())
            if not isinstance(error, UnavailableError):
                raise
        return self._wait_for_first_index_of_others(on_progress)

    def _wait_for_first_index_of_others(self, on_progress: ProgressCallback) -> Staleness | None:
        """Wait until another process has built the index, or a part of it if that is enough."""
        state = self._indexer.state
        wait_s = _PART_POLL_S if self._searches_unfinished else _WAIT_REPORT_INTERVAL_S
        while not self._has_part():
            with suppress(UnavailableError):
                self._indexer.update(on_progress, timeout_s=wait_s)
                return None
            if state.has_complete_index():
                return self._measure_staleness(state.find_work())
        self.is_unfinished = True
        return None

    def _has_part(self) -> bool:
        """Return whether there is only a part of the first index, and it may be searched."""
        state = self._indexer.state
        may_search = self._searches_unfinished and not state.has_complete_index()
        return may_search and state.has_index_to_search()

    def _start_background_update(self) -> None:
        self._updated_at = time.monotonic()
        self._background.start()

    def _update_in_background(self) -> None:
        self._indexer.update(ignore_progress, timeout_s=-1)
        self.invalidate()

    def _embed_pending(self, on_progress: ProgressCallback) -> None:
        """Retry failed embeddings. The response does not depend on them."""
        if self._is_throttled() or not self._indexer.has_embeddings_due():
            return
        # If another process holds the writer lock, it embeds them.
        with suppress(UnavailableError, IndexStorageError):
            self._indexer.update(on_progress, timeout_s=0)

    def _measure_staleness(self, work: IndexWork | None) -> Staleness | None:
        if work is None or not work.changed_files:
            return None  # only commit dates may be outdated
        age_s = time.time() - max(work.updated_at, self._matched_at)
        return Staleness(round(max(0.0, age_s), 1), work.changed_files)


def _staleness_of_watcher(state: WatcherState) -> Staleness | None:
    if not state.waiting or state.waiting_since is None:
        return None
    return Staleness(round(max(0.0, time.time() - state.waiting_since), 1), state.waiting)


def _is_small(work: IndexWork) -> bool:
    is_small = work.changed_bytes <= _MAX_BYTES_BEFORE_ANSWER
    return is_small and work.changed_files <= _MAX_FILES_BEFORE_ANSWER
