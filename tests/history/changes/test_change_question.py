"""Questions about one change, and their subjects."""

from __future__ import annotations

import pytest

from rootle.history.changes.change_question import parse_change_question
from rootle.history.changes.change_words import Action, stem_line


def subjects(question: str) -> list[str]:
    parsed = parse_change_question(question)
    return [] if parsed is None else [one.written for one in parsed.subjects]


@pytest.mark.parametrize(
    ("question", "action"),
    [
        ("when did we drop python 2 support", Action.REMOVAL),
        ("why did they stop using coveralls", Action.REMOVAL),
        ("which commit deprecated the login command", Action.DEPRECATION),
        ("who replaced the deprecated DialTLS", Action.REPLACEMENT),
        ("when was storage renamed to repository", Action.RENAME),
        ("when was the console pool introduced", Action.ADDITION),
    ],
)
def test_the_word_for_the_change_is_recognized(question: str, action: Action) -> None:
    parsed = parse_change_question(question)
    assert parsed is not None
    assert parsed.action is action


@pytest.mark.parametrize(
    "question",
    ["when was the pool resized", "remove the size check", "when was it removed", "retry policy"],
)
def test_other_questions_are_not_about_one_change(question: str) -> None:
    assert parse_change_question(question) is None


def test_a_version_belongs_to_the_name_before_it() -> None:
    assert subjects("when was python 2 removed") == ["python 2"]


def test_a_replacement_has_an_old_and_a_new_thing() -> None:
    parsed = parse_change_question("when did the tool switch from goja to sobek")
    assert parsed is not None
    assert [(one.written, one.is_new) for one in parsed.subjects][1:] == [
        ("goja", False),
        ("sobek", True),
    ]


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("Drop Python 2", True),
        ("Drop Python 2.7", True),
        ("Drop Python 3.2", False),
        ("Drop Python 25", False),
        ("Python needs 2 locks", False),
    ],
)
def test_another_version_is_another_thing(text: str, *, is_in: bool) -> None:
    parsed = parse_change_question("when was python 2 removed")
    assert parsed is not None
    assert parsed.subjects[0].is_in(stem_line(text)) is is_in


@pytest.mark.parametrize("text", ["remove let-env", "Remove letEnv", "remove let_env", "no LetEnv"])
def test_a_name_may_be_written_in_other_styles(text: str) -> None:
    parsed = parse_change_question("when was let-env removed")
    assert parsed is not None
    assert parsed.subjects[0].is_in(stem_line(text))
