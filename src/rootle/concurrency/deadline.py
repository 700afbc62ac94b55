"""One part of a search that may be late or down: asked with a deadline, and not asked in vain."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from typing import Final, Generic, TypeVar

from rootle.concurrency.circuit_breaker import CircuitBreaker
from rootle.concurrency.thread_pool import ThreadPool
from rootle.errors import ConfigError, MissingExtraError, UnavailableError

# A part that was down is tried by a question that does not depend on it: it waits no longer.
_TRIAL_WAIT_S: Final = 0.05
# What a part that does not work raises: it is out of reach, or was never set up.
_FAILURES: Final = (UnavailableError, ConfigError, MissingExtraError)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class DeadlineExecutor:
    """A part of the search with its deadline, its threads and its circuit breaker."""

    def __init__(
        self, name: str, timeout_ms: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self._timeout_s = timeout_ms / 1000
        self._breaker = CircuitBreaker(clock)
        self._threads = ThreadPool(f"rootle-{name}")

    def start(self, work: Callable[[], _T]) -> PendingCall[_T]:
        """Begin in a thread; whatever goes wrong is told by `Asked.answer`."""
        admission = self._breaker.admission()
        if admission == "none":
            return PendingCall(self, None, 0.0, "it failed before and is left alone for now")
        started = time.monotonic()
        try:
            future = self._threads.run(lambda: self._watched(work, started))
        except UnavailableError as error:
            self._note_failure(str(error))
            return PendingCall(self, None, 0.0, str(error))
        is_trial = admission == "one trial"
        wait_s = min(_TRIAL_WAIT_S, self._timeout_s) if is_trial else self._timeout_s
        return PendingCall(self, future, started + wait_s, "", is_trial=is_trial)

    def ask_here(self, work: Callable[[], _T]) -> PendingCall[_T]:
        """The same in this thread, for a part that cannot hang."""
        try:
            return PendingCall(self, None, 0.0, "", found=work())
        except _FAILURES as error:
            _log.warning("%s: %s", self.name, error)
            return PendingCall(self, None, 0.0, str(error))

    def close(self) -> None:
        self._threads.close()

    def _watched(self, work: Callable[[], _T], started: float) -> _T:
        try:
            found = work()
        except _FAILURES as error:
            if not self._is_past(started):  # else whoever waited for it has noted that
                self._note_failure(str(error))
            raise
        if not self._is_past(started):
            self._breaker.succeeded()
        return found

    def _is_past(self, started: float) -> bool:
        return time.monotonic() - started > self._timeout_s

    def note_lateness(self) -> str:
        """Count that nothing came in time as a failure; returns it as a reason."""
        reason = f"no answer within {self._timeout_s * 1000:.0f} ms"
        self._note_failure(reason)
        return reason

    def _note_failure(self, reason: str) -> None:
        if self._breaker.failed():
            _log.warning("%s: %s; it is left alone for a while", self.name, reason)
        else:
            _log.warning("%s: %s", self.name, reason)


class PendingCall(Generic[_T]):
    """A question to a leg that is under way."""

    def __init__(
        self,
        leg: DeadlineExecutor,
        future: Future[_T] | None,
        deadline: float,
        failure: str,
        *,
        is_trial: bool = False,
        found: _T | None = None,
    ) -> None:
        self._leg = leg
        self._found = found  # already; then there is nothing to wait for
        self._future = future
        self._deadline = deadline
        self._is_trial = is_trial
        self.failure = failure  # why there is no answer

    def answer(self) -> _T | None:
        """What was found, waiting until the deadline; None where nothing came, see `failure`."""
        if self._future is None:
            return self._found
        try:
            error = self._future.exception(max(0.0, self._deadline - time.monotonic()))
        except LateError:
            self.failure = "still being tried" if self._is_trial else self._leg.note_lateness()
            return None
        if isinstance(error, _FAILURES):
            self.failure = str(error)
            return None
        return self._future.result()  # raises what is no failure of a part but a bug
