"""Figures that compare both arms of the agent-loop benchmark, on examples computed by hand."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from agent_loop_zoo import make_workspace
from benchmarks.agent_loop import report
from benchmarks.agent_loop.figures import compare_arms
from benchmarks.agent_loop.session_log import SessionRecord, ToolCall
from benchmarks.agent_loop.tasks import AgentTask

GOOD = ("otter.py:4-6", "otter.py:9-11")


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, AgentTask]:
    return make_workspace(tmp_path, monkeypatch)


def record(
    task: str,
    arm: str,
    chars: int,
    calls: int = 1,
    places: tuple[str, ...] = GOOD,
    player: str = "",
) -> SessionRecord:
    made = tuple(ToolCall("grep", {}, chars, 0.5) for _ in range(calls))
    name = f"{task}.{arm}.{player}"
    return SessionRecord(name, task, arm, player, 100, made, places, bool(places), 10.0)


def test_ratios_compare_means_over_paired_tasks(tasks: dict[str, AgentTask]) -> None:
    records = [
        record("z1", "grep", 900, calls=2),
        record("z1", "rootle", 300),
        record("z2", "grep", 1900),
        record("z2", "rootle", 500),
    ]
    figures = compare_arms(records, tasks)
    assert figures is not None
    characters = figures.measures["characters"]
    # grep: the mean of 100 + 1800 and 100 + 1900; rootle: the mean of 400 and 600.
    assert (characters.grep, characters.rootle) == (1950, 500)
    assert characters.ratio == pytest.approx(500 / 1950)
    assert list(characters.interval) == pytest.approx([400 / 1900, 600 / 2000])
    assert figures.measures["without schemas"].ratio == pytest.approx(400 / 1850)
    assert figures.measures["calls"].ratio == pytest.approx(1 / 1.5)
    assert figures.measures["tool seconds"].grep == 0.75
    assert (figures.success_grep, figures.success_rootle) == (1.0, 1.0)
    assert figures.is_not_inferior


def test_tasks_of_one_arm_are_omitted_and_repetitions_averaged(
    tasks: dict[str, AgentTask],
) -> None:
    records = [
        record("z1", "grep", 100, player="a"),
        record("z1", "grep", 300, player="b"),
        record("z1", "rootle", 100),
        record("z2", "rootle", 9_000),
    ]
    figures = compare_arms(records, tasks)
    assert figures is not None
    assert (figures.tasks, figures.sessions) == (1, 3)
    assert figures.measures["without schemas"].grep == 200
    assert compare_arms(records[:2], tasks) is None


def test_a_lower_success_is_not_called_equal(tasks: dict[str, AgentTask]) -> None:
    records = [
        record("z1", "grep", 100),
        record("z2", "grep", 100),
        record("z1", "rootle", 100),
        record("z2", "rootle", 100, places=()),
    ]
    figures = compare_arms(records, tasks)
    assert figures is not None
    assert (figures.success_grep, figures.success_rootle) == (1.0, 0.5)
    assert figures.success_difference == (-1.0, 0.0)
    assert not figures.is_not_inferior


def test_refused_answers_count_as_reading_but_not_as_calls(tasks: dict[str, AgentTask]) -> None:
    refused = ToolCall("answer", {}, 40, 0.0)
    grep = record("z1", "grep", 100)
    records = [replace(grep, calls=(*grep.calls, refused)), record("z1", "rootle", 100)]
    figures = compare_arms(records, tasks)
    assert figures is not None
    assert figures.measures["without schemas"].grep == 140
    assert figures.measures["calls"].grep == 1


def test_the_report_replays_records_and_rejects_wrong_verdicts(
    tmp_path: Path,
    tasks: dict[str, AgentTask],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = [record("z2", arm, chars) for arm, chars in (("grep", 900), ("rootle", 400))]
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(f"{one.to_line()}\n" for one in records))
    monkeypatch.setattr(report, "read_tasks", lambda: tasks)
    monkeypatch.setattr(
        sys, "argv", ["report", str(path), "--json", str(tmp_path / "figures.json")]
    )
    report.main()
    output = capsys.readouterr().out
    assert "small, explain: 1 tasks, 2 sessions" in output
    assert "ratio 0.50" in output
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["small"]["measures"]["characters"]["rootle"] == 500
    path.write_text(replace(records[0], verdict=False).to_line())
    with pytest.raises(SystemExit, match=r"differ from the tasks: z2\.grep"):
        report.main()
