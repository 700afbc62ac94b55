"""Call dependencies that may be slow or down, with a deadline and a circuit breaker."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Final, Generic, TypeVar

from rootle.concurrency.circuit_breaker import CircuitBreaker
from rootle.concurrency.thread_pool import ThreadPool
from rootle.errors import ConfigError, MissingExtraError, UnavailableError

# How long a search waits for a trial call. If the call takes longer, the search continues without
# its result.
_TRIAL_TIMEOUT_S: Final = 0.05
# Raised by a dependency that is unreachable or not set up.
_FAILURES: Final = (UnavailableError, ConfigError, MissingExtraError)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class DeadlineExecutor:
    """Runs calls to one dependency in threads, with a deadline and a circuit breaker."""

    def __init__(
        self, name: str, timeout_ms: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self._timeout_s = timeout_ms / 1000
        self._breaker = CircuitBreaker(clock)
        self._threads = ThreadPool(f"rootle-{name}")

    def start(self, call: Callable[[], _T]) -> PendingCall[_T]:
        """Start a call in a thread. If it fails, the PendingCall contains the reason."""
        state = self._breaker.state()
        if state == "open":
            return PendingCall(self, None, call=call, failure="skipped after repeated failures")
        started = time.monotonic()
        try:
            future = self._threads.run(lambda: self._run(call, started))
        except UnavailableError as error:
            self._record_failure(str(error))
            return PendingCall(self, None, failure=str(error))
        is_trial = state == "half-open"
        timeout_s = min(_TRIAL_TIMEOUT_S, self._timeout_s) if is_trial else self._timeout_s
        deadline = started + timeout_s
        return PendingCall(self, future, call=call, deadline=deadline, is_trial=is_trial)

    def run_inline(self, call: Callable[[], _T]) -> PendingCall[_T]:
        """Run a call in the current thread. Use this only for calls that cannot hang."""
        try:
            return PendingCall(self, None, value=call())
        except _FAILURES as error:
            _log.warning("%s: %s", self.name, error)
            return PendingCall(self, None, failure=str(error))

    def close(self) -> None:
        self._threads.close()

    def record_timeout(self) -> str:
        """Count a missed deadline as a failure, and return the reason."""
        reason = f"no answer within {self._timeout_s * 1000:.0f} ms"
        self._record_failure(reason)
        return reason

    def _run(self, call: Callable[[], _T], started: float) -> _T:
        try:
            value = call()
        except _FAILURES as error:
            if not self._is_late(started):  # `record_timeout` counts a late call as a failure
                self._record_failure(str(error))
            raise
        if not self._is_late(started):
            self._breaker.record_success()
        return value

    def _is_late(self, started: float) -> bool:
        return time.monotonic() - started > self._timeout_s

    def _record_failure(self, reason: str) -> None:
        if self._breaker.record_failure():
            _log.warning("%s: %s; further calls are skipped for a while", self.name, reason)
        else:
            _log.warning("%s: %s", self.name, reason)


class PendingCall(Generic[_T]):
    """A running or finished call of a DeadlineExecutor."""

    def __init__(
        self,
        executor: DeadlineExecutor,
        future: Future[_T] | None,
        *,
        call: Callable[[], _T] | None = None,
        deadline: float = 0.0,
        is_trial: bool = False,
        value: _T | None = None,
        failure: str = "",
    ) -> None:
        """Create a running call with `future`, or a finished one with `value` or `failure`."""
        self._executor = executor
        self._future = future
        self._call = call
        self._deadline = deadline
        self._is_trial = is_trial
        self._value = value
        self.failure = failure  # the reason why `result` returned None

    def result(self) -> _T | None:
        """Wait for the value until the deadline. On failure, return None and set `failure`."""
        if self._future is None:
            return self._value
        return self._wait(self._future, max(0.0, self._deadline - time.monotonic()))

    def late_result(self) -> _T | None:
        """Wait for the value without a deadline, after `result` has returned None.

        A call that did not run, or failed, is run in this thread. Use this only for calls that
        cannot hang.
        """
        value = None if self._future is None else self._wait(self._future, None)
        if value is None and self._call is not None:
            return self._executor.run_inline(self._call).result()
        return value

    def _wait(self, future: Future[_T], timeout_s: float | None) -> _T | None:
        try:
            error = future.exception(timeout_s)
        except FutureTimeoutError:
            self.failure = (
                "still waiting for a trial call"
                if self._is_trial
                else self._executor.record_timeout()
            )
            return None
        if isinstance(error, _FAILURES):
            self.failure = str(error)
            return None
        return future.result()  # raises other exceptions, which are bugs and not outages
