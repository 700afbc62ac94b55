"""What the limits are made of: each step of the ladder, areas under a curve, both readings."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def label(*targets: Sequence[tuple[str, int, int]], kind: str = "behaviour") -> Any:
    labels = module("benchmarks.common.labels")
    spans = tuple(tuple(labels.Span(*span) for span in target) for target in targets)
    return labels.Label("repo", "a question", kind, spans)


def asked(wanted: Any, *found: tuple[str, int, int], hard: bool = False) -> Any:
    quality = module("benchmarks.quality.public_benchmark")
    results = tuple(quality.Found(path, ((start, end),)) for path, start, end in found)
    return module("benchmarks.quality.oracle_metrics").Asked(wanted, hard, results, is_indexed=True)


def elsewhere(count: int) -> list[tuple[str, int, int]]:
    return [(f"other{number}.py", 1, 9) for number in range(count)]


def test_an_answer_in_third_place_gains_by_order_alone() -> None:
    one = asked(label([("a.py", 10, 20)]), *elsewhere(2), ("a.py", 15, 30))
    ladder = module("benchmarks.quality.oracle_metrics")
    ranks = one.ranks()
    assert ranks[ladder.AS_IT_IS] == ranks[ladder.LINES_OF_TEN] == {3}
    assert ranks[ladder.ORDER_OF_TEN] == ranks[ladder.BOTH_OF_ALL] == {1}


def test_other_lines_of_the_right_file_gain_by_lines_alone() -> None:
    one = asked(label([("a.py", 10, 20)]), ("a.py", 21, 30))
    ladder = module("benchmarks.quality.oracle_metrics")
    ranks = one.ranks()
    assert ranks[ladder.AS_IT_IS] == ranks[ladder.ORDER_OF_ALL] == set()
    assert ranks[ladder.LINES_OF_TEN] == {1}


def test_what_stands_below_the_tenth_place_is_a_candidate_only() -> None:
    one = asked(label([("a.py", 10, 20)]), *elsewhere(10), ("a.py", 10, 20))
    ladder = module("benchmarks.quality.oracle_metrics")
    ranks = one.ranks()
    assert ranks[ladder.BOTH_OF_TEN] == set()
    assert ranks[ladder.ORDER_OF_ALL] == {1}
    assert one.is_candidate
    assert not asked(label([("b.py", 1, 2)]), *elsewhere(3)).is_candidate


def test_two_targets_in_one_file_are_met_by_two_results_or_not_at_all() -> None:
    wanted = label([("a.py", 1, 5)], [("a.py", 50, 60)])
    (losses,) = module("benchmarks.quality.oracle_metrics").losses_by_kind(
        [asked(wanted, ("a.py", 1, 60))]
    )[:1]
    assert losses.ndcg == pytest.approx(1 / (1 + 0.6309), abs=1e-3)
    assert losses.by_cause[module("benchmarks.quality.oracle_metrics").NOT_FOUND] == pytest.approx(
        1 - losses.ndcg
    )


def test_losses_and_what_is_reached_add_up_to_one() -> None:
    questions = [
        asked(label([("a.py", 1, 9)]), *elsewhere(1), ("a.py", 1, 9), hard=True),
        asked(label([("a.py", 1, 9)], kind="tests"), ("a.py", 10, 19)),
        asked(label([("a.py", 1, 9)], kind="tests"), *elsewhere(12), ("a.py", 1, 9)),
        asked(label([("a.py", 1, 9)]), *elsewhere(4)),
    ]
    every = module("benchmarks.quality.oracle_metrics").losses_by_kind(questions)
    assert [(one.kind, one.questions) for one in every] == [
        ("behaviour", 2), ("tests", 2), ("hard", 1), ("plain", 3), ("all", 4)
    ]  # fmt: skip
    for one in every:
        assert one.ndcg + sum(one.by_cause.values()) == pytest.approx(1)
    assert module("benchmarks.quality.oracle_metrics").ladder_of(questions)[0].hard_hit == 1.0


def test_a_target_of_the_benchmark_without_lines_is_met_by_any(tmp_path: Path) -> None:
    limits = module("benchmarks.quality.oracle_analysis")
    question = {"query": "q", "relevant": ["lib/a.py"], "secondary": [
        {"path": "lib/b.py", "start_line": 3, "end_line": 4}
    ]}  # fmt: skip
    (tmp_path / "a.py").touch()
    (tmp_path / "b.py").touch()
    made = limits.bench_label("repo", question, tmp_path, "lib")
    spans = [(span.path, span.start_line, span.end_line) for (span,) in made.targets]
    assert spans == [("a.py", 0, limits.ANY_LINE), ("b.py", 3, 4)]
    found = asked(made, ("a.py", 700, 760))
    assert limits.asked_of(tmp_path, made, found.found, is_indexed=True).ranks()["as it is"] == {1}


def said(chance: float, *, has_answer: bool, is_answered: bool = False) -> Any:
    return module("benchmarks.quality.abstention").Said("repo", chance, has_answer, is_answered)


def test_an_area_is_the_share_of_pairs_in_the_right_order() -> None:
    numpy, telling = module("numpy"), module("benchmarks.quality.abstention")
    assert telling.auc(numpy.array([0.9, 0.5]), numpy.array([0.5, 0.1])) == pytest.approx(0.875)


def test_the_area_that_a_point_asks_for() -> None:
    telling = module("benchmarks.quality.abstention")
    assert telling.auc_for(0.5, 0.5) == pytest.approx(0.5)
    assert telling.auc_for(0.80, 0.05) == pytest.approx(0.961, abs=1e-3)


def test_who_knows_hits_alone_refuses_by_lot() -> None:
    telling = module("benchmarks.quality.abstention")
    assert telling.told_by_hits(0.8, 0.05) == pytest.approx(0.25)
    assert telling.told_by_hits(0.99, 0.05) == telling.told_by_hits(1.0, 0.05) == 1.0


def test_thresholds_come_from_the_tune_part() -> None:
    telling = module("benchmarks.quality.abstention")
    tune = [said(at / 100, has_answer=True, is_answered=True) for at in range(101)]
    part = [
        said(0.01, has_answer=True),  # its answer was not shown
        said(0.9, has_answer=True, is_answered=True),
        said(0.04, has_answer=False),
        said(0.5, has_answer=False),
    ]
    every, answered = (telling.row_of(name, part, tune) for name in telling.GROUPS)
    assert every["atTuneThresholds"][0] == {"refused": 0.5, "recognised": 0.5}
    assert answered["atTuneThresholds"][0] == {"refused": 0.0, "recognised": 0.5}
    assert (answered["kept"], answered["auc"]) == (1, 1.0)


def test_what_a_second_reading_adds_and_drops() -> None:
    reading = module("benchmarks.quality.annotation_agreement").Reading(
        label([("a.py", 1, 9), ("b.py", 1, 9)]), label([("a.py", 1, 9), ("c.py", 1, 9)])
    )
    assert (reading.is_changed, reading.added, reading.dropped) == (True, 1, 1)


def test_a_reader_answers_with_the_best_place_of_each_target_first() -> None:
    wanted = label([("a.py", 1, 9), ("b.py", 1, 9)], [("c.py", 1, 9)])
    answer = module("benchmarks.quality.annotation_agreement").answer_of(wanted)
    assert [one.path for one in answer.results] == ["a.py", "c.py", "b.py"]


def commit(*files: tuple[str, float, dict[str, int | None]]) -> Any:
    limits = module("benchmarks.history.oracle_recall")
    return limits.Commit(
        tuple(limits.Wanted(path, "test" in path, shared, ranks) for path, shared, ranks in files),
        added=1,
    )


def ranks(rootle: int | None, bm25: int | None) -> dict[str, int | None]:
    return {"rootle": rootle, "bm25": bm25, "bm25 windows": bm25}


def test_ceilings_of_a_history() -> None:
    limits = module("benchmarks.history.oracle_recall")
    found = [
        [commit(("a.py", 0.5, ranks(1, 12)), ("test_a.py", 0.0, ranks(30, None)))],
        [commit(("b.py", 1.0, ranks(2, 1)))],
    ]
    report = limits.limits_of(found)
    assert report["recall"] == {"rootle": 0.75, "bm25": 0.5, "bm25 windows": 0.5}
    assert list(report["ceilings"].values()) == [0.75, 1.0, 0.75, 0.75]
    assert (report["outOfReach"], report["answeredByFloor"], report["addedFiles"]) == (1, 0.5, 2)
    tests = report["shares"][0]
    assert (tests["share"], tests["rootle"], tests["candidates"]) == (pytest.approx(1 / 3), 0, 1)
