"""A question for the release of a version is answered with the commit that has its tag."""

from __future__ import annotations

from pathlib import Path

import pytest
from commit_repository import add_commit, commit_all, make_history
from sample import MakeApp, git, write

from rootle import App
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    for day, version in enumerate(("0.9.0", "0.10.0", "0.10.1"), start=1):
        write(root, "version.py", f"VERSION = '{version}'\n")
        commit_all(root, f"Bump versions for release of {version}", day=day)
        git(root, "tag", f"v{version}")
        add_commit(root, f"Beta mentions v0.10.0 released after {version}", day=day)
    return root


@pytest.mark.parametrize(
    "question",
    [
        "when was v0.10.0 released",
        "when was version 0.10.0 released?",
        "when did 0.10.0 come out",
        "who tagged v0.10.0",
        "in:history which commit was released as v0.10.0",
    ],
)
def test_the_commit_with_the_tag_of_the_version_is_listed(
    question: str, root: Path, make_app: MakeApp
) -> None:
    answer = make_app(root).search(SearchQuery(question))

    found = [one.commit.subject for one in answer.results if one.commit]
    assert found == ["Bump versions for release of 0.10.0"]
    assert answer.suggestions[0] == "the tag v0.10.0 is on this commit"


def test_the_commit_of_a_tag_is_listed_if_it_is_not_indexed(root: Path, make_app: MakeApp) -> None:
    app: App = make_app(root, max_history_commits=2)

    answer = app.search(SearchQuery("when was v0.9.0 released"))

    found = [one.commit.subject for one in answer.results if one.commit]
    assert found == ["Bump versions for release of 0.9.0"]
    assert answer.suggestions[0] == "the tag v0.9.0 is on this commit"

    filtered = app.search(SearchQuery("when was v0.9.0 released author:ada"))

    sha = git(root, "rev-parse", "v0.9.0").strip()[:12]
    note = filtered.suggestions[0]
    assert note.startswith(f"the tag v0.9.0 is on a commit that is not indexed: {sha} ")
    assert note.endswith("Ada: Bump versions for release of 0.9.0")


def test_a_version_without_a_tag_is_said_to_have_none(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root).search(SearchQuery("when was v3.0.0 released"))

    assert 'no tag is named "v3.0.0"; the question was searched as words' in answer.suggestions


def test_the_release_of_something_else_is_searched_as_words(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root).search(SearchQuery("when was lock2 released"))

    assert not [note for note in answer.suggestions if "tag" in note]


@pytest.mark.parametrize(
    "question",
    [
        "what changed in release 0.10.0",
        "what changed in v0.10.0?",
        "changes in version v0.10.0",
        "in:history commits in 0.10.0",
    ],
)
def test_the_new_commits_of_a_version_are_listed(
    question: str, root: Path, make_app: MakeApp
) -> None:
    git(root, "tag", "v0.10.0-rc1", "v0.9.0")
    git(root, "tag", "pool@0.9.5", "v0.10.0~1")

    answer = make_app(root).search(SearchQuery(question))

    found = [one.commit.subject for one in answer.results if one.commit]
    assert found == [
        "Bump versions for release of 0.10.0",
        "Beta mentions v0.10.0 released after 0.9.0",
    ]
    assert answer.suggestions[0] == "commits in v0.10.0, not in v0.9.0, the version before it"
    assert answer.suggestions[1] == "2 commits"


def test_all_commits_are_new_in_the_first_version(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root).search(SearchQuery("what changed in release 0.9.0"))

    found = [one.commit.subject for one in answer.results if one.commit]
    assert found == ["Bump versions for release of 0.9.0", "Alpha is new"]
    assert answer.suggestions[0] == "commits in v0.9.0, up to the first version"


def test_a_release_without_a_tag_is_said_to_have_none(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root).search(SearchQuery("what changed in release 3.0.0"))

    assert 'no tag is named "3.0.0"; the question was searched as words' in answer.suggestions


def test_the_changes_of_a_place_in_a_version_are_listed(root: Path, make_app: MakeApp) -> None:
    app: App = make_app(root)

    for question in (
        "what changed in beta.py in v0.10.1",
        "what changed in beta.py in release 0.10.1",
        "what changed in beta with version 0.10.1",
    ):
        answer = app.search(SearchQuery(question))
        found = [one.commit.subject for one in answer.results if one.commit]
        assert found == ["Beta mentions v0.10.0 released after 0.10.0"]
        assert answer.suggestions[1] == "1 of them is between v0.10.0 and v0.10.1"

    unknown = app.search(SearchQuery("what changed in beta.py in v0.99.0"))
    assert 'no tag is named "v0.99.0"; the question was searched as words' in unknown.suggestions


@pytest.mark.parametrize(
    "question", ["what changed in 0.10.0", "what changed in release-0.10.0-stable"]
)
def test_a_tag_may_have_other_text_around_its_version(
    question: str, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "other", ["Alpha is new"])
    git(root, "tag", "release-0.9.0-stable")
    add_commit(root, "Beta is new", day=1)
    git(root, "tag", "release-0.10.0-stable")

    answer = make_app(root).search(SearchQuery(question))

    assert [one.commit.subject for one in answer.results if one.commit] == ["Beta is new"]
    assert answer.suggestions[0].startswith("commits in release-0.10.0-stable, not in release-0.9")


def test_the_commits_of_only_one_branch_are_listed(root: Path, make_app: MakeApp) -> None:
    git(root, "checkout", "-q", "-b", "fixes-1.x")
    add_commit(root, "Beta is fixed", day=9)
    add_commit(root, "Gamma is fixed", day=10)
    git(root, "checkout", "-q", "-")
    git(root, "cherry-pick", "fixes-1.x")

    answer = make_app(root).search(SearchQuery("which fixes are on fixes-1.x but not on HEAD~0"))

    assert [one.commit.subject for one in answer.results if one.commit] == ["Beta is fixed"]
    note = "left out: 1 commit whose changes HEAD~0 has in other commits"
    assert note in answer.suggestions


@pytest.mark.parametrize("name", ["@shop/cart", "cart"])
def test_a_package_of_a_monorepo_is_named_without_its_path(
    name: str, root: Path, make_app: MakeApp
) -> None:
    write(root, "packages/cart/package.json", '{"name": "@shop/cart"}\n')
    write(root, "packages/cart/src/total.js", "export const total = 1\n")
    write(root, "packages/till/package.json", '{"name": "@shop/till"}\n')
    commit_all(root, "Add the packages", day=9)
    write(root, "packages/till/src/open.js", "export const open = 1\n")
    commit_all(root, "Open the till", day=10)

    answer = make_app(root).search(SearchQuery(f"what changed in {name} since v0.10.1"))

    assert [one.commit.subject for one in answer.results if one.commit] == ["Add the packages"]
