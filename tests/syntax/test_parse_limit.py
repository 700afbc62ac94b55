"""The limit on the processor time of parsing."""

from __future__ import annotations

from itertools import count

import pytest

from rootle.syntax import symbol_outline
from rootle.syntax.grammars import load_grammar
from rootle.syntax.symbol_outline import parse_tree

_CODE = b"def run(value):\n    return [value, run(value)]\n\n\n" * 500


def test_the_processor_time_is_read_once_while_the_limit_has_not_passed_on_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = count()
    monkeypatch.setattr(symbol_outline, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(symbol_outline, "thread_time", lambda: float(next(reads)))
    assert parse_tree(_CODE, load_grammar("python")) is not None
    assert next(reads) == 1


@pytest.mark.parametrize(("step_s", "is_parsed"), [(0.0, True), (1_000.0, False)])
def test_parsing_stops_after_its_processor_time_and_not_because_other_programs_run(
    monkeypatch: pytest.MonkeyPatch, step_s: float, *, is_parsed: bool
) -> None:
    clock, used = count(step=1_000), count(step=step_s)
    monkeypatch.setattr(symbol_outline, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(symbol_outline, "thread_time", lambda: float(next(used)))
    assert (parse_tree(_CODE, load_grammar("python")) is not None) is is_parsed
