"""The figures and the data of the benchmark with tasks that require two places."""

from __future__ import annotations

from pathlib import Path

from benchmarks.common.labels import Span
from benchmarks.quality.two_places import TwoPlaceTask, examine, group_figures, read_tasks


def test_every_task_has_two_places_and_two_queries() -> None:
    tasks = read_tasks()
    assert len({task.id for task in tasks}) == len(tasks) == 96
    assert {len(task.queries) for task in tasks} == {2}
    assert {task.kind for task in tasks} == {"explain", "change"}
    spans = [span for task in tasks for place in task.places for span in place]
    assert all(1 <= span.start_line <= span.end_line for span in spans)


def test_the_figures_count_answers_that_show_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(f"line {at}" for at in range(1, 21)))
    here, there = (Span("a.py", 2, 5),), (Span("a.py", 10, 11),)
    task = TwoPlaceTask("a-01", "a", "explain", (here, there), ())
    lines = ["2  line 2", "3  line 3", "4  line 4", "also 10-11", "10  line 10", "11  line 11"]
    both = "\n".join(["1. a.py:2-4 (0.90)", *lines])
    one = "\n".join(
        ["Note: not confident: no", "", "1. b.py:1-1 (0.90)", "2. a.py:2-4", *lines[:3]]
    )
    answers = [examine(task, text, tmp_path) for text in (both, one)]
    figures = group_figures(answers)
    assert figures["all"] == figures["one file"] == figures["explain"]
    assert figures["all"]["both"] == 0.5
    assert figures["all"]["any"] == 1.0
    assert figures["all"]["first"] == 0.5
    assert figures["all"]["weak"] == 0.5
    assert set(figures) == {"all", "explain", "one file"}
