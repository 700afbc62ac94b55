"""Plain BM25: the formula, windows of 50 lines, and files that change."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks.common.bm25 import Bm25Index, length_norms, search_windows, split_words, term_scores
from benchmarks.common.git import GitError, run_git, tracked_texts
from benchmarks.common.metrics import Hit


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one short and one long file, a binary and an untracked file."""
    (tmp_path / "long.py").write_text("filler text\n" * 60 + "the badger sleeps\n")
    (tmp_path / "short.py").write_text("badger badger badger\n")
    (tmp_path / "data.bin").write_bytes(b"badger\0badger")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run_git(tmp_path, "add", ".")
    (tmp_path / "new.py").write_text("badger")
    return tmp_path


def test_scores_follow_the_formula() -> None:
    norms = length_norms(np.array([10.0, 30.0]))
    assert norms.tolist() == pytest.approx([1.2 * (0.25 + 0.75 / 2), 1.2 * (0.25 + 0.75 * 1.5)])
    (score,) = term_scores(np.array([3.0]), norms[:1], documents=2)
    expected = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)) * 3 * 2.2 / (3 + 0.75)
    assert score == pytest.approx(expected)


def test_words_are_split_at_case_changes() -> None:
    assert list(split_words("readHTTPBody_2 x")) == ["read", "http", "body", "x"]


def test_only_tracked_text_files_are_read(tree: Path) -> None:
    assert [path for path, _ in tracked_texts(tree)] == ["long.py", "short.py"]


def test_windows_have_fifty_lines_and_the_best_comes_first(tree: Path) -> None:
    (hits,) = search_windows(tree, ["badger"])
    assert hits == (Hit("short.py", ((1, 1),)), Hit("long.py", ((51, 61),)))


def test_each_file_gives_only_its_best_window(tree: Path) -> None:
    index = Bm25Index()
    index.index(tree)
    every = index.search("filler sleeps")
    assert [(one.path, one.start_line) for one in every] == [("long.py", 51), ("long.py", 1)]
    assert index.search("filler sleeps", per_file=True) == every[:1]
    assert index.search("filler sleeps", 1) == every[:1]
    assert index.search("absent") == []


def test_changed_files_are_indexed_again(tree: Path) -> None:
    index = Bm25Index()
    index.index(tree)
    (tree / "short.py").write_text("heron\n")
    index.index(tree)
    assert [one.path for one in index.search("heron")] == ["short.py"]
    assert [one.path for one in index.search("badger")] == ["long.py"]


def test_a_git_error_contains_the_message_of_git(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git log: fatal: not a git repository"):
        run_git(tmp_path, "log")
