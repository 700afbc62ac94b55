"""The requests that are retried, the number of attempts and the delays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from rootle.errors import RefusedError, UnavailableError
from rootle.http.retry import RetryRules, is_retryable, parse_retry_after

pytestmark = pytest.mark.retry_delays


class _Time:
    """A clock that advances only during sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return sum(self.slept)

    def rules(self, attempts: int = 4) -> RetryRules:
        return RetryRules(attempts, self.now, self.slept.append, rng=lambda: 1.0)


def fail(*errors: Exception) -> Callable[[], str]:
    """Return a function that raises these errors in order, and then returns "done"."""
    queue = list(errors)

    def send() -> str:
        if queue:
            raise queue.pop(0)
        return "done"

    return send


def test_delays_double_until_a_request_succeeds() -> None:
    time = _Time()
    send = fail(*(UnavailableError("busy") for _ in range(3)))
    assert time.rules().run(send, deadline=100.0) == "done"
    assert time.slept == [0.25, 0.5, 1.0]


def test_the_last_error_is_raised_after_the_last_attempt() -> None:
    time = _Time()
    send = fail(UnavailableError("first"), UnavailableError("second"))
    with pytest.raises(UnavailableError, match="second"):
        time.rules(attempts=2).run(send, deadline=100.0)
    assert time.slept == [0.25]


def test_a_refused_request_is_not_repeated() -> None:
    time = _Time()
    with pytest.raises(RefusedError, match="wrong key"):
        time.rules().run(fail(RefusedError("wrong key", 401)), deadline=100.0)
    assert time.slept == []


def test_a_server_can_ask_for_a_longer_delay() -> None:
    time = _Time()
    send = fail(UnavailableError("busy", retry_after_s=7.0))
    assert time.rules().run(send, deadline=100.0) == "done"
    assert time.slept == [7.0]


def test_a_delay_beyond_the_deadline_is_not_waited_for() -> None:
    time = _Time()
    with pytest.raises(UnavailableError, match="busy"):
        time.rules().run(fail(UnavailableError("busy", retry_after_s=7.0)), deadline=7.0)
    assert time.slept == []


@pytest.mark.parametrize(
    ("status", "expected"),
    [(408, True), (425, True), (429, True), (500, True), (503, True), (400, False), (404, False)],
)
def test_only_temporary_failures_are_retryable(status: int, expected: bool) -> None:
    assert is_retryable(status) is expected


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), ("", 0.0), ("soon", 0.0), ("-3", 0.0)])
def test_retry_after_is_a_number_of_seconds(value: str, seconds: float) -> None:
    assert parse_retry_after(value) == seconds


def test_retry_after_can_be_a_date() -> None:
    now = datetime.now(UTC)
    later = format_datetime(now + timedelta(hours=1), usegmt=True)
    earlier = format_datetime(now - timedelta(hours=1), usegmt=True)
    assert 3_000 < parse_retry_after(later) <= 3_600
    assert parse_retry_after(earlier) == 0.0
