"""The order of merges and of the commits that they merged."""

from __future__ import annotations

from pathlib import Path

import pytest
from commit_repository import DAY_S, add_commit, find_commits, make_history
from sample import OLD_S, MakeApp, git

pytestmark = pytest.mark.slow

TITLE = "Walrus requests are retried after a timeout"
LONGER = "Retry requests of the walrus, such as uploads, after every timeout (see issue 12)"
MERGE = "Merge pull request #7 from ada/topic"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", ("Alpha begins", "Beta is documented"))


def merge_branch(root: Path, *subjects: str) -> str:
    """Commit the subjects on a branch, merge it, and return the hash of the merge."""
    git(root, "switch", "-q", "-c", "topic")
    for day, subject in enumerate(subjects, 2):
        add_commit(root, subject, day=day)
    git(root, "switch", "-q", "main")
    message = f"{MERGE}\n\n{TITLE}"
    git(root, "merge", "-q", "--no-ff", "-m", message, "topic", when_s=OLD_S + 9 * DAY_S)
    git(root, "branch", "-q", "-d", "topic")
    return git(root, "rev-parse", "HEAD").strip()


def find_subjects(root: Path, make_app: MakeApp, question: str) -> list[str]:
    return [one.commit.subject for one in find_commits(make_app(root), question) if one.commit]


def test_a_merge_follows_the_commit_whose_title_it_repeats(root: Path, make_app: MakeApp) -> None:
    merge_branch(root, LONGER)

    found = find_commits(make_app(root), f"in:history {TITLE}")

    assert [one.commit.subject for one in found if one.commit][:2] == [LONGER, MERGE]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_merge_stays_before_commits_that_say_something_else(
    root: Path, make_app: MakeApp
) -> None:
    merge_branch(root, "Gamma has a walrus helper", "Delta stubs out an interface")

    assert find_subjects(root, make_app, f"in:history {TITLE}")[0] == MERGE


def test_a_merge_stays_before_similar_commits_of_other_branches(
    root: Path, make_app: MakeApp
) -> None:
    add_commit(root, LONGER, day=1)
    merge_branch(root, "Delta stubs out an interface")

    assert find_subjects(root, make_app, f"in:history {TITLE}")[:2] == [MERGE, LONGER]
