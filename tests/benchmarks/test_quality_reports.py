"""Calibration bins, agreement of annotators, snippets, translations and label problems."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from benchmarks.common.labels import LabeledRepository
from benchmarks.common.metrics import Answer
from benchmarks.quality.annotation_agreement import (
    Reading,
    make_answer,
    measure_agreement,
    summarize_changes,
)
from benchmarks.quality.answer_reading import (
    AnswerReading,
    chars_until_in_view,
    summarize_readings,
)
from benchmarks.quality.check_labels import find_problems, label_problems
from benchmarks.quality.label_scores import score_answers
from benchmarks.quality.score_calibration import bin_results, brier_score, draw_diagram
from benchmarks.quality.translated_questions import format_table, parse_questions
from label_examples import make_hits, make_label


def test_results_are_binned_by_tenths_of_the_score() -> None:
    bins = bin_results([(0.05, False), (0.81, True), (0.89, False), (1.0, True)])
    assert [(one.results, one.precision) for one in bins] == [(1, 0.0), (2, 0.5), (1, 1.0)]
    assert [one.mean_score for one in bins] == pytest.approx([0.05, 0.85, 1.0])


def test_the_brier_score_is_the_mean_squared_error() -> None:
    assert brier_score([(0.9, True), (0.4, False)]) == pytest.approx((0.01 + 0.16) / 2)


def test_the_diagram_has_one_dot_per_bin() -> None:
    svg = draw_diagram(bin_results([(0.5, True), (0.95, True)]))
    assert svg.count("<circle") == 2
    assert 'cx="200.0" cy="40.0"' in svg  # the bin at 0.5, in which every result is correct


def test_a_second_annotation_adds_and_drops_spans() -> None:
    changed = Reading(
        make_label([("a.py", 1, 9), ("b.py", 1, 9)]), make_label([("a.py", 1, 9), ("c.py", 1, 9)])
    )
    assert (changed.is_changed, changed.added_spans, changed.dropped_spans) == (True, 1, 1)
    swapped = Reading(
        make_label([("a.py", 1, 9), ("b.py", 1, 9)]), make_label([("b.py", 1, 9), ("a.py", 1, 9)])
    )
    assert not swapped.is_changed
    assert summarize_changes([changed, swapped, changed]) == {
        "questions": 3, "changed": 2, "added": 2, "dropped": 2
    }  # fmt: skip


def test_an_annotator_answers_with_the_best_span_of_each_target_first() -> None:
    label = make_label([("a.py", 1, 9), ("b.py", 1, 9)], [("c.py", 1, 9)])
    assert [hit.path for hit in make_answer(label).hits] == ["a.py", "c.py", "b.py"]


def test_annotators_are_scored_like_a_system(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n" * 30)
    first, second = make_label([("a.py", 1, 9)]), make_label([("a.py", 20, 25)])
    figures = measure_agreement(
        score_answers(tmp_path, [first, second], [make_answer(first), make_answer(first)])
    )
    assert (figures.questions, figures.ndcg, figures.hit1, figures.hit10) == (2, 0.5, 0.5, 0.5)


ANSWER = """\
Note: it may be elsewhere

1. b.py:2-3 def other (0.90)
2  return 12345
3  return 67890

2. a.py:2-4 def first (0.80)
2      x
 …  3-3 left out
4

3. a.py:5-9 (0.10)

Folder: /tmp"""


def test_an_answer_is_in_view_when_its_lines_were_printed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def first():\n    x\n    return 12345\n\n    y\n")
    two = chars_until_in_view(ANSWER, tmp_path, make_label([("a.py", 2, 2)]).spans(), 3)
    assert two == ANSWER.index("     x") + len("     x") + 1
    assert chars_until_in_view(ANSWER, tmp_path, make_label([("a.py", 2, 3)]).spans(), 1) == two
    assert (
        chars_until_in_view(ANSWER, tmp_path, make_label([("a.py", 2, 3)]).spans(), 2) == math.inf
    )
    assert (
        chars_until_in_view(ANSWER, tmp_path, make_label([("a.py", 3, 3)]).spans(), 1) == math.inf
    )
    assert chars_until_in_view(ANSWER, tmp_path, make_label([("a.py", 2, 5)]).spans(), 1) == two


def test_readings_are_summarized_with_answers_out_of_view() -> None:
    found = summarize_readings(
        [AnswerReading(100, 900), AnswerReading(300, 500), AnswerReading(math.inf, 100)]
    )
    assert found.questions == 3
    assert found.in_view == pytest.approx(2 / 3)
    assert (found.median_chars, found.mean_total) == (300, 500)


def test_each_original_is_asked_once_in_english() -> None:
    records = [
        {"repository": "one", "language": language, "query": text, "of": "where"}
        for language, text in (("de", "wo"), ("es", "dónde"))
    ]
    text = "\n".join(map(json.dumps, records))
    assert [(one.language, one.query, one.original) for one in parse_questions(text)["one"]] == [
        ("en", "where", "where"),
        ("de", "wo", "where"),
        ("es", "dónde", "where"),
    ]


def test_translations_are_averaged_by_language() -> None:
    hits = {(language, used): [used, False] for language in ("en", "de", "es", "zh", "ja")
            for used in (False, True)}  # fmt: skip
    lines = format_table(hits).splitlines()
    assert lines[2] == "de                 0.000  0.500"
    assert len(lines) == 6


def test_problems_of_labels_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n" * 100)
    assert label_problems(make_label([("a.py", 1, 60)]), tmp_path) == []
    assert label_problems(make_label([("a.py", 1, 61)]), tmp_path) == [
        "a.py:1-61: longer than 60 lines"
    ]
    assert label_problems(make_label([("a.py", 99, 101)]), tmp_path) == [
        "a.py:99-101: the file has 100 lines"
    ]
    assert label_problems(make_label([("b.py", 1, 2)]), tmp_path) == ["b.py:1-2: no such file"]
    assert len(label_problems(make_label([("a.py", 1, 2)], kind="none"), tmp_path)) == 1
    assert len(label_problems(make_label(kind="other"), tmp_path)) == 2


def test_a_question_that_occurs_twice_is_a_problem(tmp_path: Path) -> None:
    label = make_label(kind="none")
    repository = LabeledRepository("repo", "tune", tmp_path, (label, label))
    assert find_problems(repository, set()) == [(label, "duplicate question")]
    assert find_problems(repository, {label.query}) == [(label, "duplicate question")] * 2


def test_an_answer_contains_its_hits() -> None:
    assert Answer(make_hits(("a.py", 1, 2))).hits[0].ranges == ((1, 2),)
