"""Paired figures of the two arms, with bootstrap intervals over tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.agent_loop.arms import ANSWER
from benchmarks.agent_loop.session_log import SessionRecord
from benchmarks.agent_loop.tasks import AgentTask
from benchmarks.agent_loop.verdicts import judge
from benchmarks.common.statistics import Interval, mean, percentile_interval, resampled_rows

DRAWS: Final = 10_000
# Success with rootle counts as not inferior if the whole interval of the difference (rate with
# rootle minus rate with grep) is above -MARGIN.
MARGIN: Final = 0.1

Measure = Callable[[SessionRecord], float]


def count_chars(record: SessionRecord) -> float:
    """Return the number of characters that the model read: introduction and tool outputs."""
    return record.introduction_chars + count_tool_chars(record)


def count_tool_chars(record: SessionRecord) -> float:
    """Return the number of characters in all tool outputs."""
    return sum(call.chars for call in record.calls)


def count_calls(record: SessionRecord) -> float:
    """Return the number of calls, not counting the answer."""
    return sum(call.tool != ANSWER for call in record.calls)


def sum_tool_seconds(record: SessionRecord) -> float:
    """Return the time of all calls."""
    return sum(call.seconds for call in record.calls)


MEASURES: Final[Mapping[str, Measure]] = {
    "characters": count_chars,
    "without schemas": count_tool_chars,
    "calls": count_calls,
    "tool seconds": sum_tool_seconds,
    "session seconds": lambda record: record.seconds,
}


@dataclass(frozen=True)
class Comparison:
    """A measure in both arms: means per task, and rootle's mean divided by grep's."""

    grep: float
    rootle: float
    ratio: float
    interval: Interval


@dataclass(frozen=True)
class GroupFigures:
    """The figures of a group of tasks that were done in both arms."""

    tasks: int
    sessions: int
    success_grep: float
    success_rootle: float
    success_difference: Interval
    is_not_inferior: bool
    measures: Mapping[str, Comparison]


def rejudge(records: Iterable[SessionRecord], tasks: Mapping[str, AgentTask]) -> list[str]:
    """Return the sessions that the current tasks judge differently from the recorded verdict."""
    return [
        record.session
        for record in records
        if judge(tasks[record.task], list(record.places)) != record.verdict
    ]


def compare_arms(
    records: Iterable[SessionRecord], tasks: Mapping[str, AgentTask]
) -> GroupFigures | None:
    """Return the figures of the tasks with sessions in both arms, or None if there are none.

    Several sessions of a task in one arm are averaged first. Verdicts are computed again.
    """
    arms: dict[str, dict[str, list[SessionRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        arms[record.task][record.arm].append(record)
    paired = [one for _, one in sorted(arms.items()) if one["grep"] and one["rootle"]]
    if not paired:
        return None
    grep, rootle = [one["grep"] for one in paired], [one["rootle"] for one in paired]

    def verdict(record: SessionRecord) -> float:
        return float(judge(tasks[record.task], list(record.places)))

    rows = resampled_rows(len(paired), DRAWS, seed=1)
    success_grep, success_rootle = _average(grep, verdict), _average(rootle, verdict)
    difference = percentile_interval((success_rootle - success_grep)[rows].mean(axis=1))
    return GroupFigures(
        len(paired),
        sum(len(one) for one in [*grep, *rootle]),
        float(success_grep.mean()),
        float(success_rootle.mean()),
        difference,
        difference[0] > -MARGIN,
        {
            name: _compare(_average(grep, measure), _average(rootle, measure), rows)
            for name, measure in MEASURES.items()
        },
    )


def _average(sessions: Sequence[Sequence[SessionRecord]], measure: Measure) -> np.ndarray:
    return np.array([mean(measure(record) for record in one) for one in sessions])


def _compare(grep: np.ndarray, rootle: np.ndarray, rows: np.ndarray) -> Comparison:
    draws = _divide(rootle[rows].mean(axis=1), grep[rows].mean(axis=1))
    ratio = float(_divide(rootle.mean(keepdims=True), grep.mean(keepdims=True))[0])
    return Comparison(float(grep.mean()), float(rootle.mean()), ratio, percentile_interval(draws))


def _divide(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return the quotients, and 1 where both values are 0."""
    both_zero = (values == 0) & (by == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(both_zero, 1.0, values / by)
