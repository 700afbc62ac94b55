"""Figures of `benchmarks.quality.message_evidence`, on a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.quality.message_evidence import (
    FoundFiles,
    MessageIndex,
    collect_terms,
    merge,
    read_commits,
    summarize,
)
from commit_repository import commit_all
from sample import git, write_tree

from rootle.text.stemmer import open_stemmer
from rootle.text.terms import TermTable


@pytest.fixture
def history(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    write_tree(root, {"cart.py": "a = 1\n", "mail.py": "b = 1\n", "old.py": "c = 1\n"})
    git(root, "init")
    commit_all(root, "Start", day=1)
    write_tree(root, {"cart.py": "a = 22\n", "old.py": "c = 22\n"})
    commit_all(root, "Refuse empty baskets\n\nSigned-off-by: Warehouse <w@x.org>", day=2)
    (root / "old.py").unlink()
    commit_all(root, "Remove the warehouse", day=3)
    return root / ".git"


def test_messages_are_read_with_the_files_that_still_exist(history: Path) -> None:
    assert list(read_commits(history, "HEAD")) == [
        ("Refuse empty baskets\n", ["cart.py"]),
        ("Start", ["cart.py", "mail.py"]),
    ]


def test_a_file_is_found_by_the_words_of_its_commits(history: Path) -> None:
    table = TermTable(open_stemmer())
    index = MessageIndex(collect_terms(read_commits(history, "HEAD"), table))
    assert list(index.search(["basket"])) == ["cart.py"]
    scores = index.search(["start"])
    # The commit messages of mail.py have fewer words.
    assert scores["mail.py"] > scores["cart.py"] > 0
    assert not index.search(["warehous"])


def test_a_weight_raises_a_result_that_the_messages_prefer() -> None:
    found = FoundFiles(frozenset({"b"}), ["b", "a"], ["a", "b"], {"a": 1.0, "b": 4.0})
    assert merge(found, 0.0) == ["a", "b"]
    assert merge(found, 0.5) == ["b", "a"]
    report = summarize([found])
    assert report["messages"] == [1.0, 1.0, 1.0, 1.0]
    assert report["rootle"] == [0.0, 1.0, 1.0, 1.0]
    assert report["rootle + 0.05"] == [0.0, 1.0, 1.0, 1.0]
    assert report["rootle + 0.5"][0] == 1.0
