"""Questions about the release that first had a change."""

from __future__ import annotations

from pathlib import Path

import pytest
from commit_repository import add_commit, make_history
from sample import MakeApp, git

from rootle import App
from rootle.history.release_questions import rewrite_release_question
from rootle.types import SearchQuery


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("in which version was the lock added?", "when was the lock added"),
        ("since what release did the parser skip comments", "when did the parser skip comments"),
        ("which release dropped python 2", "which commit dropped python 2"),
        (
            "what is the first version that introduced --max-idle",
            "which commit introduced --max-idle",
        ),
        ("which version first supported websockets", "which commit added websockets"),
        ("which releases contain commit 583c314", "583c314"),
        ("has 583c314 been released yet?", "583c314"),
        ("which version of python is required", ""),
        ("which version is parsed first", ""),
        ("in which version was the request sent", ""),
        ("is deadline included", ""),
        ("when was the pool released", ""),
    ],
)
def test_a_question_about_a_release_is_one_about_a_commit(question: str, asked: str) -> None:
    assert rewrite_release_question(question) == asked


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with a commit before the first tag, one between two, and a new one."""
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    git(root, "tag", "v1.0.0")
    add_commit(root, "Add the quokka parser", day=2)
    git(root, "tag", "v1.1.0rc1")
    add_commit(root, "Beta is new", day=3)
    git(root, "tag", "v1.1.0")
    git(root, "tag", "v1.2.0")
    add_commit(root, "Drop the wombat reader", day=4)
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    ["which release introduced the quokka parser", "in which version was {sha} released"],
)
def test_a_note_names_the_first_tag_and_the_first_release(
    question: str, root: Path, make_app: MakeApp
) -> None:
    sha = git(root, "rev-parse", "v1.1.0rc1").strip()

    answer = make_app(root).search(SearchQuery(question.format(sha=sha[:10])))

    found = answer.results[0].commit
    assert found is not None
    assert found.hash == sha
    note = answer.suggestions[0]
    assert note.startswith(
        f"the first tag that contains the first commit, {sha[:12]}, is v1.1.0rc1 of"
    )
    assert "; the first release is v1.1.0 of " in note


@pytest.mark.slow
def test_a_commit_that_is_in_no_release_is_said_to_be_in_none(
    root: Path, make_app: MakeApp
) -> None:
    app: App = make_app(root)
    sha = git(root, "rev-parse", "HEAD").strip()

    answer = app.search(SearchQuery("which version dropped the wombat reader"))

    assert answer.suggestions[0] == f"no tag contains the first commit, {sha[:12]}"
    other = app.search(SearchQuery("which commit dropped the wombat reader"))
    assert not any("tag" in note for note in other.suggestions)
