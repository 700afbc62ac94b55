"""Sessions of the agent-loop benchmark that commands play, and the committed tasks."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_loop_zoo import make_workspace
from benchmarks.agent_loop import check_tasks, checkouts, report, session
from benchmarks.agent_loop.checkouts import read_task_repositories
from benchmarks.agent_loop.renaming import read_table
from benchmarks.agent_loop.session_log import MAX_CALLS, read_records
from benchmarks.agent_loop.tasks import FOLDER, AgentTask, parse_place, read_tasks
from benchmarks.agent_loop.verdicts import judge
from benchmarks.common.git import run_git

Play = Callable[..., str]


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, AgentTask]:
    return make_workspace(tmp_path, monkeypatch)


@pytest.fixture
def play(
    tmp_path: Path,
    tasks: dict[str, AgentTask],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Play:
    """Return a function that runs one command of a session and returns its output."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["session", str(tmp_path), *map(str, arguments)])
        session.main()
        return capsys.readouterr().out.removesuffix("\n")

    return run


def read_log(tmp_path: Path, name: str) -> list[dict[str, Any]]:
    lines = (tmp_path / f"sessions/{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_session_counts_exactly_what_the_model_sees(tmp_path: Path, play: Play) -> None:
    introduction = play("start", "z1.grep.a")
    assert '"name": "grep"' in introduction
    assert "vectordb" not in introduction
    assert "how fast an otter is against the current" in introduction
    found = play("call", "z1.grep.a", "grep", '{"pattern": "swim"}')
    assert found == "otter.py:4:def swim_upstream(speed: float) -> float:"
    refused = play("call", "z1.grep.a", "grep", "{broken")
    assert refused.startswith("Error: the arguments are not JSON")
    assert play("answer", "z1.grep.a", '{"places": ["otter.py:4-6"]}').startswith("Answer recorded")
    play("collect", tmp_path / "out.jsonl")
    (record,) = read_records([tmp_path / "out.jsonl"])
    assert [call.chars for call in record.calls] == [len(found), len(refused)]
    assert record.calls[0].arguments == {"pattern": "swim"}
    assert (record.task, record.arm, record.player, record.verdict) == ("z1", "grep", "a", True)
    definitions, _, _ = introduction.partition("\n\nYou work in")
    # The introduction contains the definitions as a list with headings, not as one JSON value.
    assert abs(record.introduction_chars - len(definitions)) < 20


def test_the_arm_with_rootle_has_its_tools_and_instructions(tmp_path: Path, play: Play) -> None:
    introduction = play("start", "z1.rootle")
    assert "## Searching this code" in introduction
    assert '"name": "vectordb_search"' in introduction
    query = '{"query": "speed of an otter against the current"}'
    found = play("call", "z1.rootle", "vectordb_search", query)
    assert "otter.py" in found
    play("call", "z1.rootle", "vectordb_read", '{"source": "otter.py:4-6"}')
    # Searches that warm up a new process are not recorded.
    assert [event["event"] for event in read_log(tmp_path, "z1.rootle")] == [
        "start",
        "call",
        "call",
    ]
    assert read_log(tmp_path, "z1.rootle")[1]["chars"] == len(found)


def test_the_arm_with_grep_cannot_search_with_rootle(play: Play) -> None:
    play("start", "z1.grep")
    assert play("call", "z1.grep", "vectordb_search", '{"query": "otter"}') == (
        "Error: unknown tool vectordb_search; available: grep, read, answer"
    )


def test_an_invalid_answer_is_refused_and_counted(tmp_path: Path, play: Play) -> None:
    play("start", "z1.grep")
    for places in ('["otter.py"]', '["a.py:1-61"]', "[]", '["a:1","a:2","a:3"]', '"otter.py:1"'):
        assert play("answer", "z1.grep", places).startswith("Error: ")
    assert play("answer", "z1.grep", '["badger.py:1"]').startswith("Answer recorded")
    play("collect", tmp_path / "out.jsonl")
    (record,) = read_records([tmp_path / "out.jsonl"])
    assert len(record.calls) == 5
    assert not record.verdict


def test_commands_out_of_order_are_errors(play: Play) -> None:
    with pytest.raises(SystemExit, match="has not been started"):
        play("call", "z1.grep", "grep", "{}")
    play("start", "z1.grep")
    with pytest.raises(SystemExit, match="has been started already"):
        play("start", "z1.grep")
    play("answer", "z1.grep", '["otter.py:1"]')
    with pytest.raises(SystemExit, match="is closed"):
        play("call", "z1.grep", "grep", '{"pattern": "a"}')
    with pytest.raises(SystemExit, match="there is no such task"):
        play("start", "z9.grep")
    with pytest.raises(SystemExit, match=r"TASK\.ARM"):
        play("start", "z1.bm25")


def test_calls_are_limited(play: Play) -> None:
    play("start", "z1.grep")
    for _ in range(MAX_CALLS):
        play("call", "z1.grep", "read", '{"path": "badger.py"}')
    assert "calls are used" in play("call", "z1.grep", "read", '{"path": "badger.py"}')


def test_json_is_read_from_standard_input(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play("start", "z1.grep")
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"pattern": "dig"}'))
    assert play("call", "z1.grep", "grep", "-") == "badger.py:1:def dig():"


@pytest.mark.parametrize(
    ("task", "places", "verdict"),
    [
        ("z1", ["otter.py:6-8"], True),
        ("z1", ["./otter.py:5"], True),
        ("z1", ["otter.py:7-8"], False),
        ("z1", ["badger.py:4-6"], False),
        ("z2", ["otter.py:9-11"], False),
        ("z2", ["otter.py:9", "badger.py:2-3"], True),
        ("z2", ["otter.py:1-12"], True),
        ("z2", [], False),
    ],
)
def test_an_answer_must_cite_every_required_place(
    tasks: dict[str, AgentTask], task: str, places: list[str], verdict: bool
) -> None:
    assert judge(tasks[task], places) is verdict


def test_tasks_are_checked_against_the_repositories(
    tmp_path: Path,
    tasks: dict[str, AgentTask],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["check_tasks", str(tmp_path)])
    check_tasks.main()
    assert "small            2" in capsys.readouterr().out
    (tmp_path / "checkouts/zoo/badger.py").unlink()
    with pytest.raises(SystemExit, match="1 problems"):
        check_tasks.main()


def test_repositories_are_exported_and_renamed(
    tmp_path: Path, tasks: dict[str, AgentTask], monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clones/river"
    clone.mkdir(parents=True)
    (clone / "otter.py").write_text("def swim_otter(): ...\n")
    run_git(clone, "init", "-q", "-b", "main")
    run_git(clone, "add", ".")
    run_git(clone, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "First state")
    (tmp_path / "words.json").write_text('{"words": {"otter": "beaver"}, "names": {}}')
    entry = {
        "name": "lake", "size": "large", "language": "python", "revision": "main", "paths": [],
        "url": "https://example.com/river", "clone": "river", "words": "words.json",
    }  # fmt: skip
    (tmp_path / "repositories.json").write_text(json.dumps([entry]))
    listed = read_task_repositories(tmp_path / "repositories.json")
    monkeypatch.setattr(checkouts, "read_task_repositories", lambda: listed)
    monkeypatch.setattr(checkouts, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["checkouts", str(tmp_path)])
    with pytest.raises(SystemExit, match="needs --clones"):
        checkouts.main()
    monkeypatch.setattr(sys, "argv", ["checkouts", str(tmp_path), "--clones", str(clone.parent)])
    checkouts.main()
    assert (tmp_path / "checkouts/lake/beaver.py").read_text() == "def swim_beaver(): ...\n"
    assert (tmp_path / "indexes/lake").is_dir()


def test_committed_tasks_are_complete() -> None:
    tasks = read_tasks()
    repositories = {one.name: one for one in read_task_repositories()}
    for size in ("small", "large"):
        assert sum(task.size == size for task in tasks.values()) >= 30
    assert all(repositories[task.repository].size == task.size for task in tasks.values())
    assert len({task.text for task in tasks.values()}) == len(tasks)
    assert all(span.end_line - span.start_line < 60 for t in tasks.values() for span in t.spans())
    for one in repositories.values():
        if one.words:
            assert len(read_table(FOLDER / one.words).words) > 100


def test_committed_records_replay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["report"])
    if not list(report.RECORDED.rglob("*.jsonl")):
        with pytest.raises(SystemExit, match="no task was done in both arms"):
            report.main()
        return
    report.main()
    assert "ratio" in capsys.readouterr().out


def test_a_malformed_place_is_an_error() -> None:
    for text in ("otter.py", "otter.py:0", "otter.py:9-3", ":3", ""):
        with pytest.raises(ValueError, match="must"):
            parse_place(text)
