"""Adapter commands of other search systems."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.common.adapters import AdapterError, ask_adapter, parse_adapters, parse_answer
from benchmarks.common.metrics import Hit
from benchmarks.peers import fts5_windows, git_grep, plain_bm25
from benchmarks.peers.adapter import Passage, read_windows, split_identifiers
from benchmarks.quality.peer_systems import SYSTEMS

_ROOT = Path(__file__).parents[2]
_ECHO = """
import json, sys
print(json.dumps({"meta": 1}))
for line in sys.stdin:
    query = json.loads(line)["query"]
    result = {"filePath": query, "startLine": 1, "endLine": 2}
    print(json.dumps({"ms": 5, "results": [result] * 12}))
"""


def command(tmp_path: Path, code: str) -> str:
    script = tmp_path / "adapter.py"
    script.write_text(code)
    return f"{sys.executable} {script} {{root}}"


def test_each_query_gets_an_answer_of_ten_hits(tmp_path: Path) -> None:
    answers = ask_adapter(command(tmp_path, _ECHO), tmp_path, ["one", "two"])
    assert [answer.hits[0] for answer in answers] == [Hit("one", ((1, 2),)), Hit("two", ((1, 2),))]
    assert [(len(answer.hits), answer.latency_ms) for answer in answers] == [(10, 5), (10, 5)]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit('broken')", "exit code 1: broken"),
        ("print('hello')", "malformed answer"),
        ("print('{\"ms\": 1}')", "malformed answer"),
        ("print('{\"results\": []}')", "1 answers to 2 questions"),
    ],
)
def test_a_wrong_answer_is_an_error(code: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=message):
        ask_adapter(command(tmp_path, code), tmp_path, ["one", "two"])


def test_a_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="cannot be run"):
        ask_adapter("/no/such/program {root}", tmp_path, ["one"])


def test_an_answer_without_a_time_has_zero_latency() -> None:
    assert parse_answer({"results": []}).latency_ms == 0.0


def test_an_adapter_has_a_name_and_a_command_with_a_root() -> None:
    parser = argparse.ArgumentParser()
    assert parse_adapters(parser, ["x=run --root {root}"], []) == {"x": "run --root {root}"}
    for wrong in ("x=run", "=run {root}", "rootle=run {root}"):
        with pytest.raises(SystemExit):
            parse_adapters(parser, [wrong], ["rootle"])


def test_peers_read_windows_of_50_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x\n" * 51)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    first, second = read_windows(tmp_path)
    assert (first.start_line, first.end_line) == (1, 50)
    assert second == Passage("a.py", 51, 51, "a.py\nx")
    assert split_identifiers("readLine_now") == "read Line now"


def test_git_grep_shows_the_window_with_most_words() -> None:
    # Lines 40 to 89 have three words; no window that starts earlier reaches line 80.
    lines = {"merge": {1, 40}, "words": {2, 60, 200}, "quickly": {80}}
    assert git_grep.best_window("a.py", lines) == Passage("a.py", 40, 89)
    assert git_grep.count_lines(lines) == 6


def test_peers_rank_the_file_with_more_words_first(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def merge(words): ...\n")
    (tmp_path / "b.py").write_text("def split(words): ...\n")
    (tmp_path / "c.py").write_text("def load(): ...\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    searches = {
        "git grep": git_grep.open_search(tmp_path),
        "SQLite FTS5": fts5_windows.open_search(tmp_path),
        "plain BM25": plain_bm25.open_search(tmp_path, per_file=True),
    }
    for name, search in searches.items():
        assert [one.path for one in search("merge words", 5)] == ["a.py", "b.py"], name
        assert [one.path for one in search("merge words", 1)] == ["a.py"], name


@pytest.mark.slow
def test_peers_answer_over_pipes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def merge_words(): ...\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    for system in SYSTEMS:
        if system.name in ("SQLite FTS5", "plain BM25", "git grep"):
            done = subprocess.run(
                system.command(tmp_path, tmp_path).replace("{root}", str(tmp_path)).split(),
                input='{"query": "merge", "topK": 3}\n', capture_output=True, text=True, cwd=_ROOT,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            (result,) = json.loads(done.stdout)["results"]
            assert result["filePath"] == "a.py", system.name


def test_every_peer_has_an_adapter() -> None:
    adapters = {path.stem for path in (_ROOT / "benchmarks/peers").glob("*.py")}
    assert {system.adapter for system in SYSTEMS} == adapters - {"__init__", "adapter"}
    semble = SYSTEMS[0]
    assert semble.python(Path("/envs")) == Path("/envs/semble_search/bin/python")
    assert semble.command(Path("/envs"), Path("/my model")) == (
        "/envs/semble_search/bin/python -m benchmarks.peers.semble_search"
        " --root {root} --model '/my model'"
    )
