"""Commits of other branches, as of releases, are listed for a range and can be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from commit_repository import add_commit, commit_all, find_commits, make_history, subjects_of
from sample import MakeApp, git, write

from rootle import App
from rootle.errors import SourceError
from rootle.tools.definitions.vectordb_read import vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", ["Alpha gets the zebra", "Beta gets the zebra"])


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    return app


@pytest.fixture
def side(root: Path) -> str:
    """Add a commit to another branch, and return its hash."""
    git(root, "checkout", "-q", "-b", "side")
    sha = add_commit(root, "Theta gets the zebra", day=7)
    git(root, "checkout", "-q", "main")
    add_commit(root, "Kappa gets the zebra", day=8)
    return sha


def test_commits_of_another_branch_are_listed_and_can_be_read(
    app: App, root: Path, side: str
) -> None:
    for question in ("main..side", "what changed between main and side"):
        answer = app.search(SearchQuery(question))
        assert [one.file_path for one in answer.results] == [f"git:{side}"]
        assert answer.suggestions == (
            "1 commit",
            "1 of them is not in the history of HEAD, or not indexed, so only its message is "
            "listed",
        )
    # A range with three dots contains the commits that only one of the two branches has.
    assert subjects_of(app, "main...side") == {"Kappa gets the zebra", "Theta gets the zebra"}
    text = search_folder(app)("main..side")
    assert f"{side[:12]}" in text
    place = answer.results[0].file_path
    for reference in (place, f"{side[:12]}#message", side, f"{side[:12]}:1-5"):
        assert "Theta gets the zebra" in "\n".join(app.read(reference).lines)
    assert "Theta gets the zebra" in vectordb_read(app)(side[:12])


def test_commits_of_another_branch_cannot_be_filtered(app: App, side: str) -> None:
    answer = app.search(SearchQuery("main..side author:ada"))
    assert answer.results == ()
    note = "not listed: 1 commit of this range, not in the history of HEAD, or not indexed"
    assert answer.suggestions == ("0 commits", note)
    answer = app.search(SearchQuery("main..side", file_paths=("theta.py",)))
    assert answer.suggestions == ("0 commits", note)


def test_commits_of_another_branch_that_changed_only_ignored_or_other_files_are_not_listed(
    make_app: MakeApp, root: Path
) -> None:
    git(root, "checkout", "-q", "-b", "side")
    write(root, "lib/made.log", "secret\n")
    git(root, "add", "-f", "lib/made.log")
    commit_all(root, "Add a made file", day=7)
    write(root, "lib/pool.py", "size = 1\n")
    wanted = commit_all(root, "Add the pool", day=8)
    add_commit(root, "Theta gets the zebra", day=9)
    git(root, "checkout", "-q", "main")
    write(root, ".gitignore", "*.log\n")
    write(root, "lib/main.py", "size = 2\n")
    commit_all(root, "Ignore made files", day=10)

    assert subjects_of(make_app(root), "main..side") == {"Add the pool", "Theta gets the zebra"}
    below: App = make_app(root / "lib")
    assert [one.file_path for one in find_commits(below, "main..side")] == [f"git:{wanted}"]
    assert "Add the pool" in "\n".join(below.read(wanted).lines)


def test_a_commit_of_another_branch_is_found_by_its_hash_and_its_tag(
    app: App, root: Path, side: str
) -> None:
    git(root, "tag", "v1.0.1", side)
    note = (
        "this commit is not in the history of HEAD, or not indexed, so only its message is listed"
    )

    for question in (side[:8], f"what changed in {side[:8]}"):
        found = app.search(SearchQuery(question))
        assert [one.file_path for one in found.results] == [f"git:{side}"]
        assert found.suggestions == (note,)
    found = app.search(SearchQuery("when was v1.0.1 released"))
    assert [one.file_path for one in found.results] == [f"git:{side}"]
    assert found.suggestions == ("the tag v1.0.1 is on this commit", note)


def test_a_branch_and_a_tag_are_shown_as_their_commit(
    app: App, root: Path, side: str, tmp_path: Path, make_app: MakeApp
) -> None:
    git(root, "tag", "v1.0.1", side)
    git(root, "clone", "-q", str(root), str(tmp_path / "clone"))
    clone: App = make_app(tmp_path / "clone")

    git(tmp_path / "clone", "remote", "add", "mirror", str(root))
    git(tmp_path / "clone", "fetch", "-q", "mirror")

    for reader, name in ((app, "side"), (clone, "side"), (clone, "origin/side")):
        passage = reader.read(name)
        assert passage.source == side
        assert passage.note == f"{name} is a branch; this is its newest commit"
    assert app.read("v1.0.1").note == "v1.0.1 is a tag of this commit"
    assert "Theta gets the zebra" in "\n".join(app.read("side#theta.py").lines)
    with pytest.raises(SourceError, match="nothing does not exist here"):
        app.read("nothing")


def test_the_merges_of_another_branch_are_listed_and_counted(root: Path, app: App) -> None:
    git(root, "checkout", "-q", "-b", "fix")
    add_commit(root, "Fixed the zebra", day=7)
    git(root, "checkout", "-q", "-b", "release", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge the fix", "fix")
    git(root, "checkout", "-q", "main")

    answer = app.search(SearchQuery("main..release"))

    assert {it.commit.subject for it in answer.results if it.commit} == {
        "Fixed the zebra",
        "Merge the fix",
    }
    assert answer.suggestions[0] == "2 commits"


def test_a_branch_that_only_the_remote_repository_has_is_known(
    root: Path, side: str, tmp_path: Path, make_app: MakeApp
) -> None:
    clone = tmp_path / "clone"
    git(root, "clone", "-q", str(root), str(clone))
    app: App = make_app(clone)

    for question in ("main..side", "what changed between main and side"):
        answer = app.search(SearchQuery(question))
        assert [one.file_path for one in answer.results] == [f"git:{side}"]
    found = app.search(SearchQuery("theta"), at="side")
    assert found.revision is not None
    assert found.revision.hash == side

    # Another remote repository has another branch with this name.
    git(clone, "update-ref", "refs/remotes/fork/side", "HEAD")
    unclear = app.search(SearchQuery("main..side"))
    assert any('no commit, tag or branch is named "side"' in it for it in unclear.suggestions)
