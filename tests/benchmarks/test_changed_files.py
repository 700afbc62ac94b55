"""Questions made from commit histories: their text, their files, recall and its upper bounds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benchmarks.common.git import run_git
from benchmarks.common.repositories import Repository
from benchmarks.history.changed_files import RepositoryResult, format_summary, summarize_splits
from benchmarks.history.commit_log import Commit, added_files, changed_files, read_commits
from benchmarks.history.commit_messages import question_text
from benchmarks.history.commit_questions import (
    CommitQuestion,
    is_target,
    is_test,
    names_target,
    recent_commits,
    select_questions,
    suitable_commits,
)
from benchmarks.history.oracle_recall import CommitTargets, TargetFile, analyze, format_report
from benchmarks.history.recall_scores import (
    QuestionRanks,
    Scores,
    compare,
    file_ranks,
    score_questions,
    summarize,
)
from benchmarks.history.work_trees import check_out, missing_files, open_tree


@pytest.mark.parametrize(
    ("subject", "body", "text"),
    [
        ("fix(parser): Handle empty arrays (#12)", "", "parser: Handle empty arrays"),
        ("fix: Handle empty arrays", "", "Handle empty arrays"),
        ("parser: Handle empty arrays", "", "parser: Handle empty arrays"),
        (
            "Handle empty arrays",
            "Fixes #4\n\nThe reader stopped at the first bracket, see https://a.b/c.\n\nLater text",
            "Handle empty arrays. The reader stopped at the first bracket",
        ),
        ("Handle empty arrays", "Handles empty arrays now", "Handle empty arrays"),
        ("Handle empty arrays", "Signed-off-by: Ada <a@b.c>", "Handle empty arrays"),
        ("Handle arrays, reported by Ada Lovelace", "", "Handle arrays"),
    ],
)
def test_a_question_is_the_message_without_links_and_credits(
    subject: str, body: str, text: str
) -> None:
    assert question_text(subject, body) == text


def test_a_long_question_ends_at_a_word() -> None:
    text = question_text("word " * 100, "")
    assert len(text) < 400
    assert text.endswith("word")


def commit(
    subject: str, *, people: str = "Ada\na@b.c", parents: int = 1, time_s: int = 0
) -> Commit:
    return Commit("0" * 40, ("1" * 40,) * parents, people, time_s, subject, "")


def test_bots_merges_and_chores_give_no_questions() -> None:
    kept = commit("Resolve relative imports before caching modules")
    commits = [
        kept,
        commit("Resolve relative imports before caching modules", people="dependabot[bot]"),
        commit("Resolve relative imports before caching modules", parents=2),
        commit("Bump the version of the importer module cache"),
        commit("Fix typo in comments about relative imports"),
        commit("Fix imports"),
    ]
    assert list(suitable_commits(commits)) == [kept]


def test_recent_commits_reach_further_back_in_short_histories() -> None:
    year = 365 * 86_400
    commits = [commit("", time_s=10 * year - number * year) for number in range(10)]
    assert recent_commits(commits, limit=0) == commits[:5]
    assert recent_commits(commits, limit=1) == commits
    assert recent_commits([], limit=5) == []


def test_targets_are_source_files_and_documents() -> None:
    for path in ("src/a.py", "docs/guide.md", "Makefile"):
        assert is_target(path), path
    for path in ("CHANGELOG.md", ".github/ci.yml", "a.lock", "vendor/a.py", "image.png"):
        assert not is_target(path), path
    assert is_test("tests/a.py")
    assert is_test("src/parser_test.go")
    assert not is_test("src/latest.py")


def test_a_question_may_name_its_target() -> None:
    question = CommitQuestion("c", "p", "Speed up Walk.py in the cache", ("src/walk.py",))
    assert names_target(question)
    assert not names_target(CommitQuestion("c", "p", "Speed up walk", ("src/walk.py",)))


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of three commits, one per minute."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", "-b", "main", str(clone)], check=True)

    def save(minute: int, message: str, **files: str) -> None:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2024-01-01T00:0{minute}:00Z")
        for name, text in files.items():
            (clone / f"{name}.py").write_text(text)
        run_git(clone, "add", ".")
        run_git(clone, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", message)

    save(0, "First state of reader and writer modules", reader="one\n", writer="one\n")
    save(1, "Skip blank lines between numbered records", reader="one\ntwo\n", new="x\n")
    save(2, "Flush buffered output after every record", writer="two\n", reader="three\n")
    return clone


def test_commits_become_questions_about_files_of_their_parent(history: Path) -> None:
    first, second = select_questions(history, "HEAD", limit=2)
    assert (first.text, first.files) == (
        "Skip blank lines between numbered records", ("reader.py",)
    )  # fmt: skip
    assert second.files == ("reader.py", "writer.py")
    assert second.parent == first.commit
    assert added_files(history, first.parent, first.commit) == {"new.py"}
    assert dict(changed_files(history, second.parent, second.commit)) == {
        "reader.py": 3, "writer.py": 2
    }  # fmt: skip
    assert len(read_commits(history, "HEAD")) == 3


def test_a_tree_contains_the_parent_and_the_clone_does_not_change(
    history: Path, tmp_path: Path
) -> None:
    question = select_questions(history, "HEAD", limit=2)[0]
    tree = open_tree(history, tmp_path / "work/tree")
    check_out(tree, question.parent)
    assert sorted(path.name for path in tree.glob("*.py")) == ["reader.py", "writer.py"]
    check_out(tree, question.commit)
    assert (tree / "new.py").exists()
    assert missing_files(tree) == []
    assert run_git(history, "status", "--porcelain") == ""


def test_file_ranks_count_repeated_results() -> None:
    assert file_ranks(["b", "x", "a"], ["a", "a", "b"]) == [3, None, 1]


def make_ranks(*ranks: int | None, tests: tuple[bool, ...] = ()) -> QuestionRanks:
    files = tuple(f"f{number}" for number in range(len(ranks)))
    return QuestionRanks("c", "t", files, tests or (False,) * len(ranks), False, {"rootle": ranks})


def test_scores_are_means_over_questions() -> None:
    scores = score_questions([make_ranks(1, None), make_ranks(4), make_ranks(None)], "rootle")
    assert scores.recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert scores.hit1 == pytest.approx(1 / 3)
    assert scores.mrr == pytest.approx((1 + 1 / 4 + 0) / 3)


def test_recall_without_tests_ignores_test_files() -> None:
    mixed = make_ranks(None, 2, tests=(True, False))
    assert score_questions([mixed], "rootle").source_recall == 1.0
    only_tests = make_ranks(3, tests=(True,))
    assert score_questions([only_tests], "rootle").source_recall is None
    assert score_questions([mixed, only_tests], "rootle").source_recall == 1.0


def test_the_ratio_compares_means_over_the_same_repositories() -> None:
    comparison = compare([(0.6, 0.3), (0.4, 0.2), (0.5, None)])
    assert comparison.ratio == pytest.approx(2.0)
    assert comparison.ratio_interval == pytest.approx((2.0, 2.0))
    assert comparison.interval == pytest.approx((0.4, 0.6))
    assert compare([(0.5, 0.0)]).ratio is None
    assert compare([]).interval == (0.0, 0.0)


def test_a_system_is_averaged_over_the_repositories_it_answered() -> None:
    rows = [
        {"rootle": Scores(0.8, None, 1.0, 1.0), "bm25": Scores(0.4, None, 0.5, 0.5)},
        {"rootle": Scores(0.4, 0.6, 0.0, 0.5), "bm25": Scores(0.2, 0.3, 0.5, 0.5)},
    ]
    summary = summarize([*rows, {"bm25": Scores(0.0, 0.0, 0.0, 0.0)}], "rootle")
    assert summary.repositories == 2
    assert summary.scores.recall == pytest.approx(0.6)
    assert summary.scores.source_recall == 0.6
    assert (summary.scores.hit1, summary.scores.mrr) == (0.5, 0.75)
    assert summary.recall.ratio == pytest.approx(2.0)
    text = format_summary(summary, "rootle").splitlines()
    assert text[0].endswith("recall@10 0.400 to 0.800, 2.00 x bm25 (2.00 to 2.00)")
    assert "x bm25" not in format_summary(summary, "bm25")


def test_two_splits_are_also_summarized_together() -> None:
    def result(split: str, recall: float) -> RepositoryResult:
        scores = Scores(recall, None, 0.0, 0.0)
        repository = Repository("demo", "c", "u", "r", split)
        return RepositoryResult(repository, (), {"rootle": scores, "bm25": scores}, 1.0)

    summaries = summarize_splits([result("train", 0.2), result("held-out", 0.4)])
    assert {
        split: systems["rootle"].scores.recall for split, systems in summaries.items()
    } == pytest.approx({"train": 0.2, "held-out": 0.4, "all": 0.3})
    assert list(summarize_splits([result("train", 0.2)])) == ["train"]


def targets(*files: tuple[str, float, dict[str, int | None]]) -> CommitTargets:
    return CommitTargets(
        tuple(TargetFile(path, is_test(path), overlap, ranks) for path, overlap, ranks in files),
        added_files=1,
    )


def system_ranks(rootle: int | None, bm25: int | None) -> dict[str, int | None]:
    return {"rootle": rootle, "bm25": bm25, "bm25 windows": bm25}


def test_upper_bounds_of_recall() -> None:
    found = [
        [targets(("a.py", 0.5, system_ranks(1, 12)), ("test_a.py", 0.0, system_ranks(30, None)))],
        [targets(("b.py", 1.0, system_ranks(2, 1)))],
    ]
    report = analyze(found)
    assert report["recall"] == {"rootle": 0.75, "bm25": 0.5, "bm25 windows": 0.5}
    assert list(report["upper_bounds"].values()) == [0.75, 1.0, 0.75, 0.75]
    assert report["wanted"] == pytest.approx(0.65)
    assert report["unreachable_repositories"] == 1
    assert (report["answered_by_baseline"], report["added_files"]) == (0.5, 2)
    tests = report["groups"][0]
    assert (tests["share"], tests["rootle"], tests["candidates"]) == (pytest.approx(1 / 3), 0, 1)
    shares = {group["name"]: group["share"] for group in report["groups"]}
    assert shares == pytest.approx({
        "tests": 1 / 3, "other files": 2 / 3, "no word of the commit": 1 / 3,
        "up to a quarter of its words": 0, "up to half": 1 / 3, "more than half": 1 / 3,
    })  # fmt: skip
    assert f"{'rootle':44} recall@10 0.750  1.00 x" in format_report(report)
    assert f"{'bm25':44} recall@10 0.500  1.50 x" in format_report(report)
