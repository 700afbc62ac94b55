"""Questions that ask which version of a tool the project requires."""

from __future__ import annotations

import pytest

from rootle.rank.question.parsed import parse_question
from rootle.rank.question.version_question import asks_for_requirement


@pytest.mark.parametrize(
    "text",
    [
        "which node version is needed",
        "what version of python do I need",
        "which version of the jdk is required",
        "what's the minimum ruby version",
        "minimum node version",
        "which Rails versions are supported",
        "What Go version is needed to build it?",
    ],
)
def test_questions_for_a_required_version_are_recognized(text: str) -> None:
    assert asks_for_requirement(text)


@pytest.mark.parametrize(
    "text",
    [
        "which version added the required flag",
        "in which version was python 2 support dropped",
        "what is new in version 5.6.1",
        "where is the schema version checked",
        "which protocol version is used by the client",
        "which go version does the release workflow run on",
        "raise an error if the required schema version is missing",
        "which commit version runs the tests",
        "node version",
    ],
)
def test_other_questions_about_versions_are_not(text: str) -> None:
    assert not asks_for_requirement(text)


def test_a_question_for_a_requirement_is_not_about_the_past() -> None:
    assert parse_question("which version of python is required", str.split).intent != "history"
