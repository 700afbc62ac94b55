"""Complete runs of the benchmarks over tiny repositories: printed output and reports."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.common.git import run_git
from benchmarks.history import changed_files, oracle_recall
from benchmarks.quality import (
    answer_reading,
    candidate_lists,
    check_labels,
    clone_repos,
    labelled_questions,
    oracle_analysis,
    public_benchmark,
    score_calibration,
    system_comparison,
)
from benchmarks.speed import corpora
from zoo_repository import make_zoo

pytestmark = pytest.mark.slow

Run = Callable[..., str]

_OTTERS_FIRST = """
import json, sys
for line in sys.stdin:
    result = {"filePath": "otter.py", "startLine": 1, "endLine": 3}
    print(json.dumps({"ms": 7, "results": [result]}))
"""


@pytest.fixture(autouse=True)
def _restore_log_level() -> Iterator[None]:
    """Restore the log level, which benchmarks of histories change and tests of warnings need."""
    logger = logging.getLogger("rootle")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the main function of a module and returns its output."""

    def call(main: Callable[[], None], *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
        main()
        return capsys.readouterr().out

    return call


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a tiny repository with labels, a history and a public benchmark."""
    make_zoo(tmp_path, monkeypatch)
    return tmp_path


def adapter(folder: Path) -> str:
    (folder / "adapter.py").write_text(_OTTERS_FIRST)
    return f"otters={sys.executable} {folder / 'adapter.py'} {{root}}"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_the_public_benchmark_scores_rootle_and_adapters(zoo: Path, run: Run) -> None:
    output = run(
        public_benchmark.main, zoo / "bench", zoo / "checkouts", "--json", zoo / "out.json",
        "--adapter", adapter(zoo),
    )  # fmt: skip
    report = read(zoo / "out.json")
    assert report["summary"]["ndcg"] == 1.0
    (row,) = report["repositories"]  # the other repository has no checkout
    assert (row["name"], row["questions"], row["hit1"], row["skipped_text"]) == ("zoo", 3, 1.0, 0.0)
    other = report["others"]["otters"]["summary"]
    assert other["ndcg"] == pytest.approx(1 / 3)
    assert (other["hit1"], other["ms"]) == (pytest.approx(1 / 3), 7)
    assert "mean               otters, 1 repos    NDCG@10 0.333" in output


def test_a_benchmark_without_checkouts_fails(zoo: Path, run: Run) -> None:
    with pytest.raises(SystemExit, match="none of the repositories was found"):
        run(public_benchmark.main, zoo / "bench", zoo / "nothing")


def test_labeled_questions_are_scored_with_verdicts(zoo: Path, run: Run) -> None:
    output = run(
        labelled_questions.main, zoo / "checkouts", "--json", zoo / "out.json",
        "--indexes", zoo / "indexes", "--adapter", adapter(zoo),
    )  # fmt: skip
    report = read(zoo / "out.json")
    assert report["rootle"]["span_ndcg"] == 1.0
    assert report["rootle"]["answerable_refused"] in (0.0, 1.0)
    assert report["otters"]["span_ndcg"] == 0.0
    assert report["otters"]["unanswerable_recognized"] == 0.0  # adapters give no verdict
    assert "zoo          rootle     NDCG@10 by span 1.000" in output
    assert (zoo / "indexes/zoo").is_dir()


def test_a_split_without_labels_is_an_error(zoo: Path, run: Run) -> None:
    with pytest.raises(SystemExit, match="none of the repositories was found"):
        run(labelled_questions.main, zoo / "checkouts", "--split", "test")


def test_labels_are_checked_and_listed(zoo: Path, run: Run) -> None:
    output = run(check_labels.main, zoo / "checkouts", "--list")
    assert "0.67" in output or "1.00" in output
    assert "all          1 questions, 0 hard; 1 behaviour" in output
    (zoo / "checkouts/zoo/badger.py").unlink()
    with pytest.raises(SystemExit, match="1 problems"):
        run(check_labels.main, zoo / "checkouts")


def test_oracles_are_computed_for_labels_and_the_public_benchmark(zoo: Path, run: Run) -> None:
    output = run(oracle_analysis.main, zoo / "checkouts", "--json", zoo / "out.json")
    report = read(zoo / "out.json")
    assert report["rootle"]["oracles"][0]["ndcg"] == 1.0
    assert (report["rootle"]["not_indexed"], report["rootle"]["no_candidate"]) == (0.0, 0.0)
    assert report["bm25"]["questions"] == 1
    assert "the index has no line of the answer to 0.0%" in output
    output = run(oracle_analysis.main, zoo / "checkouts", "--bench", zoo / "bench", "--only", "zoo")
    assert "of 3 questions" in output


def test_the_depth_of_the_first_answer_is_measured_in_every_list(zoo: Path, run: Run) -> None:
    output = run(candidate_lists.main, zoo / "checkouts", "--json", zoo / "out.json")
    report = read(zoo / "out.json")
    assert report["text"]["lines 10"] == report["any list"]["file 10"] == 1.0
    assert output.startswith("1 questions")


def test_the_calibration_of_scores_is_measured_and_drawn(zoo: Path, run: Run) -> None:
    output = run(
        score_calibration.main, zoo / "checkouts", "--split", "tune", "--json", zoo / "out.json",
        "--svg", zoo / "out.svg",
    )  # fmt: skip
    bins = read(zoo / "out.json")
    results = sum(one["results"] for one in bins)
    assert results >= 3
    assert sum(one["results"] * one["precision"] for one in bins) == pytest.approx(1)
    assert f"of {results} results" in output.splitlines()[-1]
    assert (zoo / "out.svg").read_text().count("<circle") == len(bins)


def test_the_characters_before_an_answer_are_counted(zoo: Path, run: Run) -> None:
    queries = zoo / "queries.jsonl"
    queries.write_text('{"id": "zoo-1", "query": "quagga"}\n')
    arguments = ("--lines", "2", "--queries", queries)
    for line in run(answer_reading.main, zoo / "checkouts", *arguments).splitlines():
        assert re.match(r"(user|queries) +1 questions  in view [01]\.000  median +\S+ char", line)


def test_systems_are_compared_from_the_cache(zoo: Path, run: Run) -> None:
    page = zoo / "page.md"
    begin, end = system_comparison.BEGIN, system_comparison.END
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    arguments = [zoo / "checkouts", "--answers", zoo / "answers", "--write", page]
    output = run(system_comparison.main, *arguments, "--only", "rootle")
    assert "**Labels, tune split** (1 repositories)" in output
    assert "| **rootle** | 1.000 (1.000–1.000) |" in output
    assert page.read_text() == f"before\n{begin}\n\n{output.rstrip()}\n\n{end}\nafter\n"
    assert run(system_comparison.main, *arguments, "--only", "none") == output


def test_changed_files_of_a_history_are_found(zoo: Path, run: Run) -> None:
    output = run(
        changed_files.main, zoo / "checkouts", zoo / "work", "--json", zoo / "out.json",
        "--adapter", adapter(zoo),
    )  # fmt: skip
    report = read(zoo / "out.json")
    assert (report["questions"], report["files_per_question"], report["names_target"]) == (1, 1, 0)
    for system in ("rootle", "bm25", "otters"):
        assert report["summary"]["held-out"][system]["scores"]["hit1"] == 1.0, system
    assert "1 questions, 1.0 files each; 0% name a target file" in output
    with pytest.raises(SystemExit, match="no questions could be asked"):
        run(changed_files.main, zoo / "nothing", zoo / "work")
    with pytest.raises(SystemExit, match="not in the list: park"):
        run(changed_files.main, zoo / "checkouts", zoo / "work", "--only", "park")


def test_upper_bounds_of_a_history_are_printed(zoo: Path, run: Run) -> None:
    output = run(oracle_recall.main, zoo / "checkouts", zoo / "work", "--json", zoo / "out.json")
    report = read(zoo / "out.json")
    assert report["recall"] == {"rootle": 1.0, "bm25": 1.0, "bm25 windows": 1.0}
    assert (report["commits"], report["files"], report["added_files"]) == (1, 1, 0)
    assert "1 commits, 1 files, at most 1 per commit; 0 more files were added" in output
    assert f"{'wanted: 1.3 x bm25':44} recall@10 1.300" in output


def test_repositories_are_checked_out_once(zoo: Path, run: Run) -> None:
    arguments = [zoo / "labels", zoo / "new", "--from", zoo / "checkouts"]
    revision = read(zoo / "labels/repositories.json")[0]["revision"]
    assert run(clone_repos.main, *arguments) == f"{'zoo':18} at {revision[:12]}\n"
    assert (zoo / "new/zoo/heron.py").exists()
    assert run(clone_repos.main, *arguments) == f"{'zoo':18} exists at {revision[:12]}\n"
    run_git(zoo / "new/zoo", "checkout", "-q", "HEAD^")
    with pytest.raises(SystemExit, match="1 of 1 repositories could not be checked out"):
        run(clone_repos.main, *arguments)
    with pytest.raises(SystemExit, match="not in the list: park"):
        run(clone_repos.main, *arguments, "--only", "park")


def test_a_missing_revision_is_replaced_only_on_request(zoo: Path, run: Run) -> None:
    listing = zoo / "labels/repositories.json"
    listing.write_text(listing.read_text().replace(read(listing)[0]["revision"], "1" * 40))
    arguments = [zoo / "labels", zoo / "new", "--from", zoo / "checkouts"]
    with pytest.raises(SystemExit, match="1 of 1"):
        run(clone_repos.main, *arguments)
    assert "INSTEAD OF the pinned 111111111111" in run(clone_repos.main, *arguments, "--latest")
    listing.write_text(listing.read_text().replace('"zoo"', '"lost"').replace("/zoo", "/lost"))
    with pytest.raises(SystemExit, match="1 of 1"):
        run(clone_repos.main, zoo / "labels", zoo / "new", "--from", zoo / "checkouts")


def test_corpora_are_built_at_the_requested_scale(tmp_path: Path, run: Run) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(8):
        text = "".join(f"int value_{number}_{row};\n" for row in range(5_000))
        (tree / f"{number}.c").write_text(text)
        (tree / f"{number}.py").write_text(f"value_{number} = 1\n" * 20)
    (tree / "tiny.c").write_text("int a;\n")
    arguments = [tmp_path / "out", tree, "--scale", "0.002"]
    lines = run(corpora.main, *arguments).splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "small: 17 files", "c100: 1 files", "c1000: 13 files"
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="exists; delete it to rebuild it"):
        run(corpora.main, *arguments, "--only", "small")
    with pytest.raises(SystemExit):
        run(corpora.main, *arguments, "--only", "c10")
