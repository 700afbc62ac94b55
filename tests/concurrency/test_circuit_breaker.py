"""Circuit breakers: when they open, admit a trial call and close again."""

from __future__ import annotations

from itertools import pairwise

from rootle.concurrency.circuit_breaker import CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_breaker_opens_after_consecutive_failures_and_closes_after_a_successful_trial() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock, failures_to_open=3)
    assert [breaker.record_failure(), breaker.record_failure()] == [False, False]
    breaker.record_success()
    assert [breaker.record_failure(), breaker.record_failure()] == [False, False]
    assert breaker.state() == "closed"
    assert breaker.record_failure()
    assert [breaker.state(), breaker.state()] == ["open", "open"]
    clock.now = 1.0
    assert [breaker.state(), breaker.state()] == ["half-open", "open"]
    breaker.record_success()
    assert breaker.state() == "closed"


def test_the_cooldown_doubles_up_to_a_limit_while_trials_fail_or_hang() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock, failures_to_open=1)
    breaker.record_failure()
    trials = []
    for _ in range(2_000):
        clock.now += 0.5
        if breaker.state() == "half-open":
            trials.append(clock.now)
    gaps = [later - earlier for earlier, later in pairwise(trials)]
    assert trials[0] == 1.0
    assert gaps[:7] == [2, 4, 8, 16, 32, 60, 60]


def test_the_cooldown_starts_again_after_a_success() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock, failures_to_open=1)
    breaker.record_failure()
    clock.now = 1.0
    assert breaker.state() == "half-open"
    breaker.record_success()
    breaker.record_failure()
    clock.now = 1.9
    assert breaker.state() == "open"
    clock.now = 2.0
    assert breaker.state() == "half-open"
