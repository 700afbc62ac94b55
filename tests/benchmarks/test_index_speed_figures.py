"""Figures of the indexing benchmarks: commits, packages, pictures, revisions, warm queries."""

from __future__ import annotations

from pathlib import Path

from benchmarks.common.git import commit_changes, run_git
from benchmarks.speed.commit_index import format_figures, median_ratio
from benchmarks.speed.dependency_index import CallTime, summarize
from benchmarks.speed.image_trees import format_run, write_tree
from benchmarks.speed.time_travel import change_files, fastest_median, second_branch_size
from benchmarks.speed.warm_queries import time_questions

from rootle import IndexReport
from rootle.types.status import DependencyPackage, DependencyStatus


def test_questions_with_and_without_commits_are_compared_in_pairs() -> None:
    # The ratios are 2, 0.5 and 1.5. The ratio of the medians would be 1.
    assert median_ratio([(2.0, 1.0), (3.0, 6.0), (6.0, 4.0)]) == 1.5


def test_the_figures_of_a_commit_index_are_printed() -> None:
    figures = {
        "commits": 20_000, "first_s": 31.26, "update_s": 0.517, "index_mb": 41.04, "git_mb": 9.0,
        "query_ratio": 1.043,
    }  # fmt: skip
    assert format_figures(figures) == (
        "20,000 commits in 31.3 s, one more in 0.52 s; 41.0 MB (git folder: 9.0 MB)\n"
        "questions about code take 1.04 times as long with commits"
    )


def test_the_packages_and_times_of_a_project_are_summarized() -> None:
    packages = (DependencyPackage("a", "1", files=30), DependencyPackage("b", "2", files=12))
    missing = (DependencyPackage("c", "3"),)
    status = DependencyStatus("", 2_340_000, 1, 0.0, packages, missing, (), ())
    searches = [CallTime(0.011, 0.020), CallTime(0.500, 0.001), CallTime(0.013, 0.009)]
    assert summarize(status, CallTime(4.26, 7.91), CallTime(0.0304, 0.0296), searches) == {
        "packages": 2,
        "not installed": 1,
        "files": 42,
        "MB of the index": 2.3,
        "seconds to index": 4.3,
        "CPU seconds to index": 7.9,
        "ms to list again": 30,
        "CPU ms to list again": 30,
        "ms of a search, with listing": 13,
        "CPU ms of a search": 9,
    }


def test_a_folder_of_icons_is_the_same_in_every_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tree(tmp_path / name, icons=3, pictures=0)
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.*")}
        for root in (tmp_path / "one", tmp_path / "two")
    )
    assert first == second
    names = [path.as_posix() for path in first]
    assert sum(name.startswith("src/module_") for name in names) == 200
    icons = [first[Path(f"icons/icon-{number}.svg")] for number in range(3)]
    assert len(set(icons)) == 3
    assert all(690 < len(icon) < 2_500 for icon in icons)
    assert 700_000 < len(first[Path("icons/sprite.svg")]) < 750_000


def test_an_indexing_run_is_printed_with_its_size_and_skipped_files() -> None:
    report = IndexReport(1, 5, 0, 1_200, 3_400, 0, 0, {"binary": 7, "too large": 1}, 2.0)
    assert format_run("rebuild", 2.04, report, 8_250_000) == (
        "rebuild        2.0 s, 1200 files, 3400 chunks, 8.2 MB, skipped: 7 binary, 1 too large"
    )
    nothing = IndexReport(1, 5, 0, 1_200, 3_400, 0, 0, {}, 2.0)
    assert format_run("rebuild", 2.04, nothing, 0).endswith(", 0.0 MB, skipped: nothing")


def test_the_fastest_round_counts_not_the_fastest_answer() -> None:
    assert fastest_median([(1.0, 9.0, 9.0), (5.0, 4.0, 6.0), (7.0, 7.0, 7.0)]) == 5.0


def test_a_second_branch_is_measured_by_what_it_adds() -> None:
    assert second_branch_size(40_000_000, 43_000_000) == {
        "firstBranchMB": 40.0, "secondBranchMoreMB": 3.0, "secondBranchMoreShare": 0.075
    }  # fmt: skip


def test_a_second_branch_changes_every_fiftieth_text_file(tmp_path: Path) -> None:
    for number in range(101):
        (tmp_path / f"{number:03}.txt").write_text("text\n")
    (tmp_path / "050.txt").write_bytes(b"\0")
    run_git(tmp_path, "init", "-q")
    commit_changes(tmp_path, "first")
    change_files(tmp_path)
    assert run_git(tmp_path, "diff", "--name-only").split() == ["000.txt", "100.txt"]
    assert (tmp_path / "100.txt").read_text() == "text\n\nsecond branch\n"


def test_only_the_questions_after_the_warm_up_are_timed() -> None:
    now = 0.0
    asked = []

    def search(query: str) -> None:
        nonlocal now
        asked.append(query)
        now += len(query) / 1000

    times = time_questions(search, ["warm-up"], ["four", "sevenum"], clock=lambda: now)
    assert [round(time, 6) for time in times] == [4.0, 7.0]
    assert asked == ["warm-up", "four", "sevenum"]
