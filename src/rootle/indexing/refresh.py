"""Decides before an answer whether the index must be brought up to date, and who does it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from rootle.config.fields import Config
from rootle.errors import (
    IndexMissingError,
    IndexStorageError,
    IngestError,
    RootleError,
    UnavailableError,
)
from rootle.indexing.index_state import IndexWork
from rootle.indexing.indexer import Indexer
from rootle.indexing.watch.watcher_probe import WatcherProbe
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState
from rootle.types import Staleness

# A check takes at most a twentieth of the time, however large the folder is.
_CHECK_INTERVAL_FACTOR: Final = 20
# How long somebody who wants the whole truth waits for another process's indexing, and somebody
# who would rather have an answer.
_PATIENCE_S: Final = 10.0
_SHORT_PATIENCE_S: Final = 0.5
# What two cores index in well under a second. More is done while answers go on.
_CHEAP_BYTES: Final = 1_500_000
_CHEAP_FILES: Final = 200
# Below so many files a look at the folder is quicker than a question to the watcher.
_MIN_FILES_TO_ASK_WATCHER: Final = 5_000
# A watcher hears of a change within this time.
_HEARING_S: Final = 0.3
# So often it is looked whether a first index is there.
_FIRST_LOOK_S: Final = 0.05
# So few files that wait the watcher indexes at once when it is asked.
_FEW: Final = 50

_NOTHING_TO_READ: Final = (
    "there is no whole index at {}, and enableIndexing is false; make one where indexing is allowed"
)

Progress = Callable[[int, int], None]


class IndexRefresher:
    """Of one index, for the questions of one process. Safe to use from several threads."""

    def __init__(
        self,
        indexer: Indexer,
        config: Config,
        on_warning: Callable[[str], None],
        *,
        initial_index_timeout_s: float | None = None,
    ) -> None:
        """With `initial_index_timeout_s` nobody waits longer for an index's first run to end."""
        self._initial_index_timeout_s = initial_index_timeout_s
        self._failure: RootleError | None = None
        self._first_until: float | None = None
        self.is_made = False  # there was an index of this model when it was looked for last
        self.replacements = 0  # how often the index was made anew or deleted, or is now
        self._indexer = indexer
        self._config = config
        self._on_warning = on_warning
        self._watch = WatcherProbe(indexer.index_dir)
        self._lock = threading.RLock()
        self._checked_at = float("-inf")
        self._check_cost_s = 0.0
        self._agreed_at = 0.0  # Unix time
        self._staleness: Staleness | None = None
        self._is_watched = False
        self._background: threading.Thread | None = None
        self._indexed_at = float("-inf")
        self.command = WatcherCommand()  # of this process, for the time when nobody watches

    def ensure(self, progress: Progress, *, in_full: bool) -> Staleness | None:
        """Bring the index up to date if a check is due; what it lacks after that, or None.

        Without `in_full` only what takes well under a second is done before this returns; more
        goes on in the background. Where there is no index at all, one is made.
        """
        if self._initial_index_timeout_s is not None:
            self._await_first(self._initial_index_timeout_s)
            if not self.is_made:
                return None
        with self._lock:
            is_due = self._is_due()
            if not (is_due or self._is_watched):
                return self._staleness
            started = time.monotonic()
            state = self._watcher_state(is_due=is_due)
            if state is not None:
                self._staleness = _staleness_of(state)
            else:
                self._staleness = self._looked(progress, in_full=in_full)
            self._is_watched = state is not None
            if is_due and self._staleness is None:
                self._embed_some(progress)
                self._indexer.wake_servers()
            if is_due or state is None:
                self._checked_at = time.monotonic()
                self._check_cost_s = self._checked_at - started
            if self._staleness is None:
                self._agreed_at = time.time()
            return self._staleness

    def _await_first(self, timeout_s: float) -> None:
        """Have an index made where there is none, and give that some time, once.

        Without the lock: others may ask meanwhile.
        """
        while not self._look_for_index():
            self._have_first_made()
            self._first_until = self._first_until or time.monotonic() + timeout_s
            if time.monotonic() > self._first_until:
                return
            time.sleep(_FIRST_LOOK_S)
        self._first_until = None

    def _look_for_index(self) -> bool:
        # To open one that is being made takes its time; the manifest tells at once.
        is_finished = self.is_made or self._indexer.view.first_run() is None
        self.is_made = is_finished and self._indexer.has_usable_index()
        return self.is_made

    def _have_first_made(self) -> None:
        with self._lock:
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            if not self._config.enable_indexing:
                raise IndexMissingError(_NOTHING_TO_READ.format(self._indexer.index_dir))
            is_at_work = self._background is not None and self._background.is_alive()
            if not is_at_work and not self._watch.is_indexing():
                self._index_in_background()

    def _embed_some(self, progress: Progress) -> None:
        """Try chunks whose embedding failed once more; the answer does not depend on it."""
        if self._is_held() or not self._indexer.has_embeddings_due():
            return
        # Another process that writes may well be doing this.
        with suppress(UnavailableError, IndexStorageError):
            self._indexer.bring_up_to_date(progress, timeout_s=0)

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """No question is answered while the index is made anew or deleted in here."""
        with self._lock:
            self.replacements += 1
            self.forget()
            yield

    def forget(self) -> None:
        """Look anew before the next answer."""
        with self._lock:
            self._checked_at = float("-inf")
            self._staleness = None

    def close(self) -> None:
        """Wait for what goes on in the background."""
        if self._background is not None:
            self._background.join()
        self._watch.close()

    def _is_due(self) -> bool:
        pause_s = max(self._config.stale_check_seconds, _CHECK_INTERVAL_FACTOR * self._check_cost_s)
        return time.monotonic() - self._checked_at >= pause_s

    def _watcher_state(self, *, is_due: bool) -> WatcherState | None:
        """What a watcher says that keeps the index fresh; None where there is none to rely on."""
        if not self._config.enable_indexing:
            return None
        state = self._watch.check(thoroughly=is_due)
        if state is None or state.is_throttled:
            return state
        if self._is_exact():
            # What happened a moment ago may not have been heard yet.
            is_small = self._indexer.view.file_count() < _MIN_FILES_TO_ASK_WATCHER
            return None if is_small else self._watch.sync(_SHORT_PATIENCE_S)
        if 0 < state.waiting <= _FEW:
            return self._watch.sync(_SHORT_PATIENCE_S) or state
        return state

    def _is_exact(self) -> bool:
        """Whether not even the time in which a watcher hears of a change may be missed."""
        return self._checked_at == float("-inf") or self._config.stale_check_seconds < _HEARING_S

    def _looked(self, progress: Progress, *, in_full: bool) -> Staleness | None:
        """What the index lacks after a look at the folder, and after indexing where that is due."""
        if self._background is not None and self._background.is_alive():
            return self._staleness
        if self._is_held() and self._indexer.view.has_whole_index():
            return self._lacking(self._indexer.view.arrears())
        if not self._config.enable_indexing:
            raise IndexMissingError(_NOTHING_TO_READ.format(self._indexer.index_dir))
        is_usable = self._indexer.has_usable_index()
        arrears = self._indexer.view.arrears() if is_usable else None
        if is_usable and arrears is None:
            return None
        if arrears is not None and not in_full and not _is_cheap(arrears):
            self._index_in_background()
            return self._lacking(arrears)
        return self._indexed(progress, _PATIENCE_S if in_full else _SHORT_PATIENCE_S)

    def _is_held(self) -> bool:
        """Whether nothing is to be indexed just now."""
        pause_s = self.command.min_interval_s
        is_early = pause_s > 0 and time.monotonic() - self._indexed_at < pause_s
        return is_early or self.command.is_paused or not self._config.enable_indexing

    def _indexed(self, progress: Progress, timeout_s: float) -> Staleness | None:
        self._indexed_at = time.monotonic()
        try:
            self._indexer.bring_up_to_date(progress, timeout_s=timeout_s)
            return None
        except (UnavailableError, IndexStorageError) as error:
            if self._indexer.view.has_whole_index():
                self._on_warning(f"answering from the index as it is: {error}")
                return self._lacking(self._indexer.view.arrears())
            if not isinstance(error, UnavailableError):
                raise
        # There is nothing to answer from until the other process is done.
        self._indexer.bring_up_to_date(progress, timeout_s=-1)
        return None

    def _index_in_background(self) -> None:
        self._indexed_at = time.monotonic()
        self._background = threading.Thread(
            target=self._index_quietly, name="rootle-catch-up", daemon=True
        )
        self._background.start()

    def _index_quietly(self) -> None:
        try:
            self._indexer.bring_up_to_date(_no_progress, timeout_s=-1)
        except (UnavailableError, IndexStorageError, IngestError) as error:
            self._failure = error
            self._on_warning(f"answering from the index as it is: {error}")
        else:
            self.forget()

    def _lacking(self, arrears: IndexWork | None) -> Staleness | None:
        if arrears is None or not arrears.changed_files:
            return None  # at most the times of the last commits are older ones
        age_s = time.time() - max(arrears.updated_at, self._agreed_at)
        return Staleness(round(max(0.0, age_s), 1), arrears.changed_files)


def _staleness_of(state: WatcherState) -> Staleness | None:
    if not state.waiting or state.waiting_since is None:
        return None
    return Staleness(round(max(0.0, time.time() - state.waiting_since), 1), state.waiting)


def _is_cheap(arrears: IndexWork) -> bool:
    return arrears.changed_bytes <= _CHEAP_BYTES and arrears.changed_files <= _CHEAP_FILES


def _no_progress(done: int, total: int) -> None:
    pass
