"""Cooldowns of providers: duration, backoff, sharing between processes, damaged files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rootle.errors import Unavailable
from rootle.web.cooldowns import Cooldowns


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def cooldowns_in(folder: Path, clock: Clock) -> Cooldowns:
    return Cooldowns(folder, clock=clock, rng=lambda: 1.0)


def is_on_cooldown(cooldowns: Cooldowns) -> bool:
    try:
        cooldowns.check("Brave")
    except Unavailable:
        return True
    return False


def measure_cooldown_s(cooldowns: Cooldowns, clock: Clock, retry_after_s: float = 0.0) -> float:
    cooldowns.start("Brave", retry_after_s)
    start = clock.now
    while is_on_cooldown(cooldowns):
        clock.now += 10
    return clock.now - start


def test_a_provider_starts_without_a_cooldown(tmp_path: Path, clock: Clock) -> None:
    assert not is_on_cooldown(cooldowns_in(tmp_path, clock))


def test_consecutive_cooldowns_double_up_to_an_hour(tmp_path: Path, clock: Clock) -> None:
    cooldowns = cooldowns_in(tmp_path, clock)
    durations = [measure_cooldown_s(cooldowns, clock) for _ in range(9)]
    assert durations == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]


def test_an_answer_resets_the_backoff(tmp_path: Path, clock: Clock) -> None:
    cooldowns = cooldowns_in(tmp_path, clock)
    measure_cooldown_s(cooldowns, clock)
    cooldowns.clear("Brave")
    assert measure_cooldown_s(cooldowns, clock) == 30


@pytest.mark.slow
def test_retry_after_is_respected_up_to_a_day(tmp_path: Path, clock: Clock) -> None:
    assert measure_cooldown_s(cooldowns_in(tmp_path / "a", clock), clock, 300.0) == 300
    assert measure_cooldown_s(cooldowns_in(tmp_path / "b", clock), clock, 1e12) == 86_400


def test_a_day_without_a_rate_limit_resets_the_backoff(tmp_path: Path, clock: Clock) -> None:
    cooldowns = cooldowns_in(tmp_path, clock)
    for _ in range(5):
        measure_cooldown_s(cooldowns, clock)
    clock.now += 86_400
    assert measure_cooldown_s(cooldowns, clock) == 30


def test_processes_share_cooldowns(tmp_path: Path, clock: Clock) -> None:
    cooldowns_in(tmp_path, clock).start("Brave", 0.0)
    assert is_on_cooldown(cooldowns_in(tmp_path, clock))


def test_other_providers_have_no_cooldown(tmp_path: Path, clock: Clock) -> None:
    cooldowns = cooldowns_in(tmp_path, clock)
    cooldowns.start("Brave", 0.0)
    cooldowns.check("Exa")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"until": "x"}', b"\xff\0"])
def test_a_damaged_file_is_ignored(tmp_path: Path, clock: Clock, content: bytes) -> None:
    (tmp_path / "Brave.json").write_bytes(content)
    cooldowns = cooldowns_in(tmp_path, clock)
    assert not is_on_cooldown(cooldowns)
    cooldowns.start("Brave", 0.0)
    assert is_on_cooldown(cooldowns)


def test_a_cooldown_ends_if_the_clock_is_set_back(tmp_path: Path, clock: Clock) -> None:
    cooldowns = cooldowns_in(tmp_path, clock)
    cooldowns.start("Brave", 0.0)
    clock.now -= 10 * 86_400
    assert not is_on_cooldown(cooldowns)


def test_a_folder_that_is_not_writable_is_ignored(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "file").write_bytes(b"")
    cooldowns = cooldowns_in(tmp_path / "file" / "below", clock)
    cooldowns.start("Brave", 0.0)
    cooldowns.clear("Brave")
    assert not is_on_cooldown(cooldowns)


def test_only_the_owner_can_read_the_folder(tmp_path: Path, clock: Clock) -> None:
    cooldowns_in(tmp_path / "new", clock).start("Brave", 0.0)
    assert os.stat(tmp_path / "new").st_mode & 0o077 == 0
    assert os.stat(tmp_path / "new" / "Brave.json").st_mode & 0o077 == 0
