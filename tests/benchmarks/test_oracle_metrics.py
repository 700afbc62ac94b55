"""Oracle scores and losses of single questions, compared with values computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.labels import Label
from benchmarks.common.public_questions import parse_question
from benchmarks.quality import oracle_metrics as oracle
from benchmarks.quality.oracle_analysis import (
    ANY_LINE,
    has_indexed_line,
    list_candidates,
    make_report,
    to_label,
)
from label_examples import Place, make_hits, make_label, other_places


def candidates(label: Label, *places: Place, hard: bool = False) -> oracle.Candidates:
    return oracle.Candidates(label, hard, make_hits(*places), is_indexed=True)


def test_an_answer_in_third_place_gains_only_from_a_perfect_order() -> None:
    one = candidates(make_label([("a.py", 10, 20)]), *other_places(2), ("a.py", 15, 30))
    ranks = one.oracle_ranks()
    assert ranks[oracle.ACTUAL] == ranks[oracle.LINES_OF_TEN] == {3}
    assert ranks[oracle.ORDER_OF_TEN] == ranks[oracle.BOTH_OF_ALL] == {1}


def test_other_lines_of_the_right_file_gain_only_from_perfect_lines() -> None:
    one = candidates(make_label([("a.py", 10, 20)]), ("a.py", 21, 30))
    ranks = one.oracle_ranks()
    assert ranks[oracle.ACTUAL] == ranks[oracle.ORDER_OF_ALL] == set()
    assert ranks[oracle.LINES_OF_TEN] == {1}


def test_a_hit_below_the_tenth_place_is_only_a_candidate() -> None:
    one = candidates(make_label([("a.py", 10, 20)]), *other_places(10), ("a.py", 10, 20))
    ranks = one.oracle_ranks()
    assert ranks[oracle.BOTH_OF_TEN] == set()
    assert ranks[oracle.ORDER_OF_ALL] == {1}
    assert one.has_answer
    assert not candidates(make_label([("b.py", 1, 2)]), *other_places(3)).has_answer


def test_two_targets_in_one_file_need_two_hits() -> None:
    label = make_label([("a.py", 1, 5)], [("a.py", 50, 60)])
    losses = oracle.losses_by_kind([candidates(label, ("a.py", 1, 60))])[0]
    assert losses.ndcg == pytest.approx(1 / (1 + 0.6309), abs=1e-3)
    assert losses.by_cause[oracle.NOT_FOUND] == pytest.approx(1 - losses.ndcg)


def test_losses_and_the_actual_score_add_up_to_one() -> None:
    questions = [
        candidates(make_label([("a.py", 1, 9)]), *other_places(1), ("a.py", 1, 9), hard=True),
        candidates(make_label([("a.py", 1, 9)], kind="tests"), ("a.py", 10, 19)),
        candidates(make_label([("a.py", 1, 9)], kind="tests"), *other_places(12), ("a.py", 1, 9)),
        candidates(make_label([("a.py", 1, 9)]), *other_places(4)),
    ]
    every = oracle.losses_by_kind(questions)
    assert [(one.kind, one.questions) for one in every] == [
        ("behaviour", 2), ("tests", 2), ("hard", 1), ("plain", 3), ("all", 4)
    ]  # fmt: skip
    assert [one.ndcg for one in every] == pytest.approx(
        [0.6309 / 2, 0, 0.6309, 0, 0.6309 / 4], abs=1e-4
    )
    for one in every:
        assert one.ndcg + sum(one.by_cause.values()) == pytest.approx(1)
    assert oracle.oracle_scores(questions)[0].hard_hit10 == 1.0


def test_the_report_counts_missing_candidates() -> None:
    found = candidates(make_label([("a.py", 1, 9)]), ("a.py", 1, 9))
    missed = candidates(make_label([("a.py", 1, 9)]), *other_places(2), hard=True)
    report = make_report([found, missed, found, found])
    assert (report["questions"], report["hard"]) == (4, 1)
    assert (report["no_candidate"], report["hard_no_candidate"]) == (0.25, 1.0)


def test_a_public_target_without_lines_is_matched_by_any_line(tmp_path: Path) -> None:
    record = {"query": "q", "relevant": ["lib/a.py"], "secondary": [
        {"path": "lib/b.py", "start_line": 3, "end_line": 4}
    ]}  # fmt: skip
    (tmp_path / "a.py").touch()
    (tmp_path / "b.py").touch()
    label = to_label("repo", parse_question(record, tmp_path, "lib"))
    assert [(span.path, span.start_line, span.end_line) for span in label.spans()] == [
        ("a.py", 0, ANY_LINE), ("b.py", 3, 4)
    ]  # fmt: skip
    one = list_candidates(tmp_path, label, make_hits(("a.py", 700, 760)), is_indexed=True)
    assert not one.is_hard
    assert one.oracle_ranks()[oracle.ACTUAL] == {1}


def test_an_answer_is_indexed_if_a_chunk_has_one_of_its_lines() -> None:
    label = make_label([("a.py", 10, 20)])
    assert has_indexed_line(label, {"a.py": [(1, 5), (20, 30)]})
    assert not has_indexed_line(label, {"a.py": [(1, 9)], "b.py": [(10, 20)]})
