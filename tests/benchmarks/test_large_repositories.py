"""Figures on large repositories: the recorded queries, and when an answer counts as shown."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.common.labels import LARGE_LABELS, LabeledRepository, parse_labels, read_labels
from benchmarks.common.repositories import read_repositories
from benchmarks.quality.agent_queries import USER, read_queries
from benchmarks.quality.large_repositories import LARGE_QUERIES, score_voice, summarize_groups

from rootle import open_app


def test_large_labels_have_one_recorded_query_per_question() -> None:
    repositories = read_repositories(LARGE_LABELS / "repositories.json")
    counts = {one.name: len(read_labels(one.name, LARGE_LABELS)) for one in repositories}
    assert set(counts.values()) == {25}
    assert sorted(one.split for one in repositories) == ["test"] * 4 + ["tune"] * 4
    expected = {f"{name}-{line}" for name, count in counts.items() for line in range(1, count + 1)}
    assert set(read_queries(LARGE_QUERIES)) == expected


def test_scores_say_whether_the_first_result_shows_the_answer(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    body = "".join(f"    total += {number}\n" for number in range(70))
    (root / "retry.py").write_text(f"def backoff_after_failure():\n    total = 0\n{body}")
    (root / "other.py").write_text("def draw_circle(radius):\n    return radius * 2\n")
    rows = [
        {"query": "backoff after failure", "kind": "behaviour",
         "targets": [[{"path": "retry.py", "lines": "1-2"}]]},
        {"query": "draw circle of a radius", "kind": "behaviour",
         "targets": [[{"path": "retry.py", "lines": "1-2"}]]},
        {"query": "pay by card", "kind": "none", "targets": []},
    ]  # fmt: skip
    labels = parse_labels("demo", "".join(json.dumps(row) + "\n" for row in rows))
    repository = LabeledRepository("demo", "tune", root, tuple(labels))
    asked = [(label, label.query) for label in labels]
    with open_app(root, index_dir=tmp_path / "index") as app:
        app.index()
        scores = list(score_voice(app, repository, USER, asked, lines=1))
    assert [one.file_first for one in scores] == [True, False, False]
    assert [one.lines_first for one in scores] == [True, False, False]
    assert scores[0].in_tool
    figures = summarize_groups(scores)
    assert figures["user"]["questions"] == 2
    assert figures["user"]["file"] == figures["user behaviour"]["lines"] == 0.5
    assert "user none" not in figures
