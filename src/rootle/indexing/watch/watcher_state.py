"""The folder beside an index through which its watcher and other processes speak.

Plain files, so that it works on every system and outlives neither process: the watcher writes its
state, others leave wishes and questions. Whether it is alive the operating system's lock tells.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from rootle.errors import IndexStorageError, UnavailableError

_LOG = logging.getLogger(__name__)

FOLDER: Final = "watch"
WISH_NAME: Final = "wish.json"
QUESTION_PREFIX: Final = "question-"
_STATE_NAME: Final = "state.json"
_LOCK_NAME: Final = "watcher.lock"
_CLAIM_S: Final = 1.0  # whoever asks whether a watcher is alive holds the lock for a moment
_POLL_S: Final = 0.01

_numbers = count()


@dataclass(frozen=True, slots=True)
class WatcherState:
    """What a watcher says of itself. Times are seconds since 1970."""

    pid: int
    is_ready: bool  # it has compared the whole folder with the index since it began
    committed_at: float | None  # when the index last agreed with the folder
    generation: int
    waiting: int = 0  # files that are known to have changed and are not indexed yet
    waiting_since: float | None = None
    is_paused: bool = False
    min_interval_s: float = 0.0
    error: str | None = None  # since the last success

    @property
    def is_held(self) -> bool:
        """Whether somebody asked for fewer updates."""
        return self.is_paused or self.min_interval_s > 0


@dataclass(frozen=True, slots=True)
class WatcherCommand:
    """What others want of a watcher."""

    is_paused: bool = False
    min_interval_s: float = 0.0


_Record = TypeVar("_Record", WatcherState, WatcherCommand)


class WatcherStateFile:
    """The files themselves."""

    def __init__(self, index_dir: Path) -> None:
        self.folder = index_dir / FOLDER
        self._lock: Any = None  # filelock's, which is imported when it is needed

    def claim(self) -> None:
        """Become the one watcher of this index. Raises UnavailableError where there is one."""
        from filelock import FileLock, Timeout

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / _LOCK_NAME, thread_local=False)
            lock.acquire(timeout=_CLAIM_S)
        except Timeout as error:
            state = self.state()
            who = f"process {state.pid}" if state is not None else "another process"
            raise UnavailableError(f"{who} watches this folder already") from error
        except OSError as error:
            raise IndexStorageError(
                f"cannot write {self.folder}: {error.strerror or error}; "
                "choose a folder that can be written with --index-dir"
            ) from error
        self._lock = lock
        self.answer(os.listdir(self.folder))
        (self.folder / WISH_NAME).unlink(missing_ok=True)

    def release(self, *, forget: bool) -> None:
        """Let go; what it said of itself is left for others to see, or not."""
        if forget:
            (self.folder / _STATE_NAME).unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def is_watched(self) -> bool:
        """Whether a watcher is alive, in this process or another one."""
        if not os.path.exists(self.folder / _STATE_NAME):
            return False
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / _LOCK_NAME)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:
            return False  # in a folder of somebody else's it cannot be told
        lock.release()
        return False

    def state(self) -> WatcherState | None:
        """What the watcher said last, which may be dead by now."""
        return _read(self.folder / _STATE_NAME, WatcherState)

    def publish(self, state: WatcherState) -> None:
        try:
            _write(self.folder / _STATE_NAME, asdict(state))
        except OSError as error:
            # What stands there is not true any more: nobody is to trust it.
            (self.folder / _STATE_NAME).unlink(missing_ok=True)
            _LOG.warning("cannot write the watcher's state: %s", error)

    def wish(self) -> WatcherCommand:
        return _read(self.folder / WISH_NAME, WatcherCommand) or WatcherCommand()

    def make_wish(self, wish: WatcherCommand, timeout_s: float) -> bool:
        """Have the watcher do so; False where there is none or it did not answer."""
        if not self.is_watched():
            return False
        _write(self.folder / WISH_NAME, asdict(wish))
        return self.ask(timeout_s)

    def ask(self, timeout_s: float) -> bool:
        """Have the watcher index all that happened before now; False if it did not answer.

        The question is a file: the events of a file system come in their order, so that a watcher
        that hears of it has heard of all that came before.
        """
        question = self.put_question()
        if question is None:
            return False
        until = time.monotonic() + timeout_s
        while not (answered := not os.path.exists(question)) and time.monotonic() < until:
            time.sleep(_POLL_S)
        question.unlink(missing_ok=True)
        return answered

    def put_question(self) -> Path | None:
        """The file that is gone when the watcher has answered; None where none can be written."""
        question = self.folder / f"{QUESTION_PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            question.touch()
        except OSError:
            return None
        return question

    def answer(self, names: Iterable[str]) -> None:
        """Tell those who asked that it is done."""
        for name in names:
            if name.startswith(QUESTION_PREFIX):
                (self.folder / name).unlink(missing_ok=True)


def _read(path: Path, record: type[_Record]) -> _Record | None:
    """The record in a file; None where there is none, or one of another version."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    names = {field.name for field in fields(record)}
    return record(**data) if isinstance(data, dict) and set(data) == names else None


def _write(path: Path, data: dict[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}-{next(_numbers)}")
    draft.write_text(json.dumps(data), encoding="utf-8")
    os.replace(draft, path)
