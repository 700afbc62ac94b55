"""The first result of a question about a replacement is the commit that made it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commit_repository import commit_all, find_commits, make_history
from sample import MakeApp, write

pytestmark = pytest.mark.slow

REPLACED = "Remove remaining quartz stuff, replace with basalt."


def find_first(root: Path, make_app: MakeApp, question: str, *messages: str) -> str:
    """Return the subject of the first commit in the answer to a question about these commits."""
    make_history(root, ["Alpha is new"])
    for day, message in enumerate(messages, 1):
        write(root, f"notes_{day}.py", f"text = {message!r}\n")
        commit_all(root, message, day=day)
    first = find_commits(make_app(root), question)[0].commit
    assert first is not None
    return first.subject


@pytest.mark.parametrize(
    "other",
    ["Switch README to format quartz understands", "Change the reader from yaml to quartz"],
)
def test_the_replaced_thing_is_not_the_new_one(
    other: str, tmp_path: Path, make_app: MakeApp
) -> None:
    found = find_first(tmp_path / "repo", make_app, "when did we replace quartz", REPLACED, other)

    assert found == REPLACED


def test_the_place_of_a_replacement_may_follow_the_new_thing(
    tmp_path: Path, make_app: MakeApp
) -> None:
    question = "when did we replace the quartz parser"
    replaced = "Replace the hand-written parser with a generated one in quartz"
    other = "Describe the quartz parser"

    assert find_first(tmp_path / "repo", make_app, question, replaced, other) == replaced


def test_an_arrow_separates_the_old_and_the_new_thing(tmp_path: Path, make_app: MakeApp) -> None:
    question = "when did we switch to Quartz Actions"
    arrow = "CI -> Quartz actions (#19)"

    assert find_first(tmp_path / "repo", make_app, question, arrow, "Quartz Actions") == arrow
