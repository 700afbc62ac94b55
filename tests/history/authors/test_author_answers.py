"""Searches for the commits of an author in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from commit_repository import DAY_S, commit_all, find_commits, make_history, read_pages
from sample import OLD_S, MakeApp, write

from rootle import App
from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    for day, (author, path, subject) in enumerate(
        [
            ("Grace Hopper <grace@x.org>", "src/lock.py", "Add the lock"),
            ("Grace Hopper <grace@x.org>", "src/retry.py", "Retry twice"),
            ("Graceland <land@x.org>", "src/retry.py", "Retry three times"),
            ("Grace Hopper <grace@x.org>", "src/lock.py", "Release the lock"),
            ("Grace Hopper <grace@x.org>", "docs/lock.md", "Describe the lock"),
        ],
        start=1,
    ):
        write(root, path, f"def work():\n    first_step()\n    return {'1' * day}\n")
        commit_all(root, subject, day=day, author=author)
    return root


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    app.index_history()
    return app


def subjects(answer: SearchResponse) -> list[str]:
    return [one.commit.subject for one in answer.results if one.commit]


def test_all_commits_of_the_author_are_listed_with_what_the_question_means(app: App) -> None:
    pages = read_pages(app, "commits by Grace", 3)

    found = [subject for page in pages for subject in subjects(page)]
    assert found == ["Describe the lock", "Release the lock", "Retry twice", "Add the lock"]
    note = 'searched as in:history author:"Grace Hopper <grace@x.org>"'
    assert pages[0].suggestions[0] == f"{note}: commits by Grace Hopper <grace@x.org>"
    assert pages[0].suggestions[1].startswith("4 commits")


def test_the_first_commit_of_the_author_is_first(app: App) -> None:
    assert subjects(app.search(SearchQuery("first commit by Grace Hopper")))[0] == "Add the lock"


@pytest.mark.parametrize(
    "question", ["the last 2 commits of Grace Hopper", "Grace Hopper's last two commits"]
)
def test_a_question_for_the_last_commits_lists_as_many_as_it_says(app: App, question: str) -> None:
    assert subjects(app.search(question)) == ["Describe the lock", "Release the lock"]


def test_the_rest_of_the_question_narrows_the_commits(app: App) -> None:
    in_folder = app.search(SearchQuery("what did Grace Hopper change in src"))
    assert subjects(in_folder) == ["Release the lock", "Retry twice", "Add the lock"]
    date = f"@{OLD_S + 3 * DAY_S}"
    later = app.search(SearchQuery(f"commits by Grace Hopper since:{date}"))
    assert subjects(later) == ["Describe the lock", "Release the lock"]
    by_words = app.search(SearchQuery("commits by grace@x.org about retrying"))
    assert subjects(by_words)[0] == "Retry twice"
    assert not {"Retry three times", "Alpha is new"}.intersection(subjects(by_words))


def test_an_unknown_name_is_searched_as_words_without_a_note(app: App) -> None:
    for question in ("changes by default", "commits by Linus", "the lock is written by hand"):
        answer = app.search(SearchQuery(question))
        assert not any("searched as" in note for note in answer.suggestions)


def test_a_later_page_of_the_commits_of_an_author_can_be_asked_for_in_words(app: App) -> None:
    answer = app.search(SearchQuery('in:history author:"Grace Hopper" from:3', limit=2))
    assert subjects(answer) == ["Retry twice", "Add the lock"]


def test_the_main_author_of_a_file_is_named(app: App) -> None:
    for question in ("who wrote most of src/retry.py", "who are the main authors of src/lock.py"):
        answer = app.search(SearchQuery(question))
        assert "Grace Hopper" in answer.suggestions[0]
        assert "counted by commits" in answer.suggestions[0]
    assert "Graceland 1" in app.search(SearchQuery("who wrote most of src/retry.py")).suggestions[0]
    assert find_commits(app, "who wrote most of src/lock.py")


def test_a_question_that_names_no_author_does_not_read_the_states_of_all_commits(
    root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_app(root).index_history()

    def fail(snapshot: Snapshot) -> Sequence[FileState]:
        raise AssertionError(f"{snapshot.folder}: the states of all commits were read")

    monkeypatch.setattr(Snapshot, "all_files", fail)
    answer = make_app(root).search(SearchQuery("why did Maria remove the lock"))

    assert subjects(answer)
