"""The delays of exponential backoff."""

from __future__ import annotations

from rootle.concurrency.backoff import Backoff


def test_delays_double_up_to_the_limit_and_are_jittered() -> None:
    backoff = Backoff(first_s=1.0, longest_s=10.0)
    assert [backoff.delay_s(n, lambda: 1.0) for n in (1, 2, 3, 4, 5, 5000)] == [1, 2, 4, 8, 10, 10]
    assert backoff.delay_s(3, lambda: 0.0) == 2


def test_full_delays_have_no_jitter() -> None:
    backoff = Backoff(first_s=0.5, longest_s=3.0)
    assert [backoff.full_delay_s(n) for n in (1, 2, 3, 4, 5000)] == [0.5, 1, 2, 3, 3]
