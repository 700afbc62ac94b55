"""Questions in words accept every usual name of a tag, such as "svelte@5.56.9"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commit_repository import add_commit, make_history, subjects_of
from sample import MakeApp, git
from shared_apps import shared_app

from rootle import App
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

NAMES = ("pool@5.1.0", "@org/pool@5.1.0", "release/pool#1", "v1.0@rc", "5.x", "pool@5.1.0~1")
SUBJECTS = ("Alpha gets the zebra", "Beta gets the zebra", "Gamma gets the zebra")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", SUBJECTS)


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    return app


def add_tag(root: Path, name: str) -> None:
    """Add a tag so that the name is the second commit."""
    base = name.removesuffix("~1")
    git(root, "tag", base, "HEAD" if base != name else "HEAD~1")


def build_tagged(root: Path, name: str) -> None:
    make_history(root, SUBJECTS)
    add_tag(root, name)


@pytest.fixture
def tagged(name: str) -> Iterator[App]:
    with shared_app(build_tagged, name) as app:
        yield app


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "question",
    [
        "what changed since NAME",
        "commits since NAME",
        "what changed after the tag NAME?",
        "what changed in the zebra since NAME",
        "what changed between NAME and HEAD",
        "changes from NAME to HEAD",
        "what changed in gamma.py since NAME",
        "what changed between NAME and HEAD in gamma.py",
        "NAME..HEAD",
        "NAME..",
    ],
)
def test_the_commits_since_a_tag_are_found(question: str, name: str, tagged: App) -> None:
    assert subjects_of(tagged, question.replace("NAME", name)) == {SUBJECTS[2]}


@pytest.mark.parametrize("name", NAMES)
def test_the_commits_before_a_tag_are_found(name: str, tagged: App) -> None:
    assert subjects_of(tagged, f"what changed before {name}") == set(SUBJECTS[:2])


@pytest.mark.parametrize("name", NAMES)
def test_the_commits_of_an_author_since_a_tag_are_found(name: str, app: App, root: Path) -> None:
    add_tag(root, name)
    add_commit(root, "Delta gets the zebra", day=8)
    app.index_history()

    answer = app.search(SearchQuery(f"what did Ada change since {name}"))

    found = [one.commit.subject for one in answer.results if one.commit]
    assert found == ["Delta gets the zebra", SUBJECTS[2]]


def test_a_word_with_a_digit_that_is_no_revision_is_searched(app: App) -> None:
    answer = app.search(SearchQuery("what changed in the zebra since 2nd@zoo"))

    assert {one.commit.subject for one in answer.results if one.commit} == set(SUBJECTS)
