"""The command of the torture test: its options, its number of rounds and its exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.reliability import torture
from benchmarks.reliability.fault_injection import FaultInjectionError
from benchmarks.reliability.random_faults import RandomFaults
from benchmarks.reliability.torture_rounds import RoundResult, TortureOptions

_OPTIONS = TortureOptions(7, "answers", ("none",))


def make_result(*problems: str) -> RoundResult:
    return RoundResult(1, "none", 5, 1, 9, 2, problems, 3.0)


class FakeTorture:
    """Rounds with given results."""

    def __init__(self, results: list[RoundResult]) -> None:
        self._results = iter(results)

    def __enter__(self) -> FakeTorture:
        return self

    def __exit__(self, *_: object) -> None: ...

    def describe_disk(self) -> str:
        return "a disk"

    def run_round(self) -> RoundResult:
        return next(self._results)


def test_a_number_of_rounds_replaces_the_duration() -> None:
    assert len(torture.run_rounds(make_result, 0.0, 3)) == 3


def test_rounds_start_until_the_minutes_are_over() -> None:
    now = 0.0

    def run_round() -> RoundResult:
        nonlocal now
        now += 50
        return make_result()

    # Rounds start after 0, 50 and 100 seconds. The third one lasts longer than the two minutes.
    assert len(torture.run_rounds(run_round, 2.0, None, clock=lambda: now)) == 3


@pytest.mark.parametrize(
    ("results", "code", "bad"),
    [
        ([make_result(), make_result()], 0, 0),
        ([make_result("a crash", "lost memory: x"), make_result()], 1, 1),
    ],
)
def test_a_problem_in_any_round_is_an_error(
    results: list[RoundResult], code: int, bad: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(torture, "Torture", lambda *_: FakeTorture(results))
    assert torture.run(tmp_path, _OPTIONS, 5.0, 2) == code
    output = capsys.readouterr().out
    assert output.startswith("seed 7\na disk\nround 1: none, 5 edits, 1 kills, 9 requests")
    assert output.endswith(
        f"2 rounds, 10 edits, 2 kills, 18 requests, 2 memories: {bad} rounds with problems\n"
    )


def test_faults_that_cannot_be_injected_have_an_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise FaultInjectionError("gcc is missing")

    monkeypatch.setattr(torture, "Torture", fail)
    assert torture.run(tmp_path, _OPTIONS, 5.0, 1) == 2
    assert capsys.readouterr().err == "torture: gcc is missing\n"


def test_an_unknown_fault_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["torture"])
    assert torture.parse_arguments().faults == list(RandomFaults.KINDS)
    monkeypatch.setattr(sys, "argv", ["torture", "--faults", "none,flood"])
    with pytest.raises(SystemExit):
        torture.parse_arguments()
    assert "unknown faults: flood" in capsys.readouterr().err
