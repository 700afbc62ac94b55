"""Recording and comparing the answers of two versions of rootle."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from benchmarks.regression.compare_answers import (
    QUESTIONS,
    differences,
    main,
    read_recording,
    report,
)
from benchmarks.regression.normalization import Normalizer
from benchmarks.regression.record_answers import Checkout, make_query, record

OLD_ANSWER: Mapping[str, Any] = {
    "textQuery": "f",
    "results": [{"filePath": "a.py", "score": 0.5, "copies": ["b.py"]}],
    "nextCursor": "abc",
    "generation": 3,
    "tookMs": 12.5,
    "understood": {"intent": "search"},
}


def test_renamed_fields_are_not_a_difference(tmp_path: Path) -> None:
    new_answer = {
        **OLD_ANSWER,
        "results": [{"filePath": "a.py", "score": 0.5, "duplicates": ["b.py"]}],
        "interpretation": {"intent": "search"},
    }
    del new_answer["understood"]
    normalizer = Normalizer(tmp_path)
    assert normalizer.answer(OLD_ANSWER) == normalizer.answer(new_answer)
    assert normalizer.answer(OLD_ANSWER)["results"][0]["duplicates"] == ["b.py"]


def test_times_generations_and_the_text_of_cursors_are_ignored(tmp_path: Path) -> None:
    later = {**OLD_ANSWER, "nextCursor": "xyz", "generation": 9, "tookMs": 1.0}
    last_page = {**OLD_ANSWER, "nextCursor": None}
    normalizer = Normalizer(tmp_path)
    assert normalizer.answer(OLD_ANSWER) == normalizer.answer(later)
    assert normalizer.answer(OLD_ANSWER) != normalizer.answer(last_page)


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ('no "fo" here; showing results for "foo"', ["fo", "foo"]),
        ('"fo" not found; showing results for "foo" instead', ["fo", "foo"]),
        ("excludes 3 matching files, such as src/a.py", ["3", "src/a.py"]),
        ("run `rootle index` in a folder with text files", ["rootle index"]),
        ("nothing matches: try and/or e.g. broader keywords", []),
    ],
)
def test_a_message_is_compared_by_its_values(
    tmp_path: Path, sentence: str, values: list[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    assert Normalizer(tmp_path).values(sentence) == values


def test_the_number_of_days_is_ignored_in_messages(tmp_path: Path) -> None:
    sentence = "minRecencyDays 47.1138 excludes 10 matching files"
    assert Normalizer(tmp_path, 47.113841).values(sentence) == ["10"]
    assert Normalizer(tmp_path).values(sentence) == ["10", "47.1138"]


def test_a_date_becomes_the_number_of_days_since_then() -> None:
    now_s = datetime(2026, 3, 11, 12, tzinfo=UTC).timestamp()
    question = {"tree": "t", "kind": "k", "text": "x", "since": "2026-03-01", "limit": 2}
    assert make_query(question, now_s) == {"textQuery": "x", "limit": 2, "minRecencyDays": 10.5}


def test_printed_results_are_compared_verbatim_and_notes_by_value(tmp_path: Path) -> None:
    output = 'understood as: "foo" for "fo"\na.py:3-4  0.57  def f\n  3  def f():\n\n'
    lines = list(Normalizer(tmp_path).lines(output))
    assert lines == [["fo", "foo"], "a.py:3-4  0.57  def f", "  3  def f():", ""]


def test_fenced_lines_of_markdown_are_compared_verbatim(tmp_path: Path) -> None:
    output = "No results found.\n## a.md:1-2, 5-6\n````text\n1  ```\n…\n````\nthe end\n"
    lines = list(Normalizer(tmp_path).lines(output))
    assert lines == [[], "## a.md:1-2, 5-6", "````text", "1  ```", "…", "````", []]


def test_colored_results_are_compared_with_their_colors(tmp_path: Path) -> None:
    head = "\x1b[1;36ma.py:3-4\x1b[0m  0.57"
    assert list(Normalizer(tmp_path).lines(head)) == [head]


def test_every_difference_is_reported_with_its_place() -> None:
    old = {"pages": [{"score": 0.5, "path": "a"}, {"score": 0.25}], "same": [1]}
    new = {"pages": [{"score": 0.4, "path": "a"}], "same": [1], "more": True}
    assert list(differences(old, new)) == [
        ("pages[0].score", 0.5, 0.4),
        ("pages[1]", {"score": 0.25}, None),
        ("more", None, True),
    ]
    assert not list(differences(old, old))


def test_the_report_shows_the_differences_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    question = json.dumps({"tree": "t", "kind": "name", "text": "foo"})
    old, new = ({question: {"plain": [{"score": score}]}} for score in (0.5, 0.25))
    assert report(old, new, 5) == 1
    assert capsys.readouterr().out.splitlines() == [
        't, name: "foo"',
        "  plain[0].score",
        "    - 0.5",
        "    + 0.25",
        "1 and 1 questions: 1 with differences",
        "       1 plain.score",
    ]
    assert report(old, old, 5) == 0
    assert report(old, {}, 5) == 1
    assert report({}, {}, 5) == 1


def test_two_hundred_questions_cover_two_trees() -> None:
    entries = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    questions = [json.dumps(entry) for entry in entries if "text" in entry]
    trees = {entry["tree"]: entry["commit"] for entry in entries if "commit" in entry}
    assert len(set(questions)) == len(questions) >= 200
    assert len(trees) == 2
    assert {entry["tree"] for entry in entries} == set(trees)
    assert sum("flags" in entry for entry in entries) >= 20


def test_an_unknown_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"no questions about {tmp_path.name}"):
        main(["record", sys.executable, str(tmp_path), "--out", str(tmp_path / "out")])


@pytest.mark.slow
def test_a_changed_file_changes_a_recording(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    (tree / "retry.py").write_text("def compute_backoff(attempt):\n    return 2**attempt\n")
    (tree / "notes.md").write_text("# Backoff\n\nHow long a retry waits.\n")
    questions = [
        {"tree": "tree", "kind": "page", "text": "backoff", "limit": 1, "pages": 3},
        {"tree": "tree", "kind": "terminal", "text": "compute_backof", "flags": ["--explain"]},
        {"tree": "tree", "kind": "refused", "text": "backoff", "limit": 0, "flags": ["--json"]},
    ]

    def recording(name: str, asked: Sequence[Any]) -> Mapping[str, Any]:
        checkout = Checkout(sys.executable, tree, tmp_path / "index", tmp_path / "home")
        lines = [json.dumps(line) for line in record(checkout, asked)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        return read_recording(tmp_path / name)

    before = recording("before", questions)
    pages, misspelt, refused = before.values()
    assert [page["results"][0]["filePath"] for page in pages["plain"]] == ["retry.py", "notes.md"]
    assert [page["hasNextPage"] for page in pages["plain"]] == [True, False]
    assert misspelt["plain"][0]["suggestions"] == [["compute_backof", "compute_backoff"]]
    assert misspelt["terminal"]["output"][0] == ["compute_backof", "compute_backoff"]
    assert (refused["terminal"]["exitCode"], refused["plain"][0]["error"]) == (2, ["0", "1", "50"])

    (tree / "notes.md").write_text("# Backoff\n\nHow long a retry sleeps.\n")
    after = recording("after", questions[:1])
    places = [place for place, _, _ in differences(pages, *after.values())]
    assert "plain[1].results[0].snippet" in places
    assert "plain[0].results[0].snippet" not in places
