"""How long somebody is left alone, for every process that shares the folder."""

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


def rests_in(folder: Path, clock: Clock) -> Cooldowns:
    return Cooldowns(folder, clock=clock, rng=lambda: 1.0)


def is_resting(rests: Cooldowns) -> bool:
    try:
        rests.check("Brave")
    except Unavailable:
        return True
    return False


def pause_of(rests: Cooldowns, clock: Clock, wish_s: float = 0.0) -> float:
    rests.begin("Brave", wish_s)
    start = clock.now
    while is_resting(rests):
        clock.now += 10
    return clock.now - start


def test_nobody_rests_to_begin_with(tmp_path: Path, clock: Clock) -> None:
    assert not is_resting(rests_in(tmp_path, clock))


def test_each_pause_is_longer_up_to_an_hour(tmp_path: Path, clock: Clock) -> None:
    rests = rests_in(tmp_path, clock)
    pauses = [pause_of(rests, clock) for _ in range(9)]
    assert pauses == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]


def test_an_answer_ends_it(tmp_path: Path, clock: Clock) -> None:
    rests = rests_in(tmp_path, clock)
    pause_of(rests, clock)
    rests.end("Brave")
    assert pause_of(rests, clock) == 30


def test_a_longer_wish_is_granted_up_to_a_day(tmp_path: Path, clock: Clock) -> None:
    assert pause_of(rests_in(tmp_path / "a", clock), clock, 300.0) == 300
    assert pause_of(rests_in(tmp_path / "b", clock), clock, 1e12) == 86_400


def test_a_day_in_peace_makes_the_pauses_short_again(tmp_path: Path, clock: Clock) -> None:
    rests = rests_in(tmp_path, clock)
    for _ in range(5):
        pause_of(rests, clock)
    clock.now += 86_400
    assert pause_of(rests, clock) == 30


def test_other_processes_know(tmp_path: Path, clock: Clock) -> None:
    rests_in(tmp_path, clock).begin("Brave", 0.0)
    assert is_resting(rests_in(tmp_path, clock))


def test_others_are_not_held_back(tmp_path: Path, clock: Clock) -> None:
    rests = rests_in(tmp_path, clock)
    rests.begin("Brave", 0.0)
    rests.check("Exa")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"until": "x"}', b"\xff\0"])
def test_a_broken_file_holds_nobody_back(tmp_path: Path, clock: Clock, content: bytes) -> None:
    (tmp_path / "Brave.json").write_bytes(content)
    rests = rests_in(tmp_path, clock)
    assert not is_resting(rests)
    rests.begin("Brave", 0.0)
    assert is_resting(rests)


def test_a_clock_that_was_set_back_holds_nobody_back(tmp_path: Path, clock: Clock) -> None:
    rests = rests_in(tmp_path, clock)
    rests.begin("Brave", 0.0)
    clock.now -= 10 * 86_400
    assert not is_resting(rests)


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "file").write_bytes(b"")
    rests = rests_in(tmp_path / "file" / "below", clock)
    rests.begin("Brave", 0.0)
    rests.end("Brave")
    assert not is_resting(rests)


def test_the_folder_is_the_owners_alone(tmp_path: Path, clock: Clock) -> None:
    rests_in(tmp_path / "new", clock).begin("Brave", 0.0)
    assert os.stat(tmp_path / "new").st_mode & 0o077 == 0
    assert os.stat(tmp_path / "new" / "Brave.json").st_mode & 0o077 == 0
