"""Lines of commit messages are scored for the change that a question asks about."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.history.changes.change_question import parse_change_question
from rootle.history.changes.change_words import Action
from rootle.history.changes.message_evidence import score_line
from rootle.history.changes.subject_weights import WeightedSubject

_WATCHDOG_S = 5  # the calls took much longer when their time was quadratic


@pytest.mark.parametrize("action", [Action.ADDITION, Action.REMOVAL])
def test_a_long_line_is_scored_in_linear_time(action: Action) -> None:
    question = parse_change_question("when did we drop topaz")
    assert question is not None
    subjects = [WeightedSubject(one, 1.0) for one in question.subjects]
    verb = "add" if action is Action.ADDITION else "remove"
    line = f"{verb} {'all, ' * 150_000}for topaz"

    start = process_time()
    assert score_line(action, subjects, line) > 0
    assert process_time() - start < _WATCHDOG_S


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        (
            "when was topaz removed",
            "remove topaz from the codebase",
            "clean up after removal of topaz",
        ),
        ("when did we stop shipping topaz", "Remove topaz", "Ship typed headers"),
        ("why was the removal of topaz reverted", 'Revert "Remove topaz"', "Remove topaz"),
        ("who undid the topaz change", 'Revert "Change topaz"', "Change topaz"),
        ("when did we switch to topaz", "transition to topaz for search", "Bump topaz to v0.4.1"),
        (
            "when did we bump topaz to 1.82",
            "bump topaz from 1.76 to 1.82",
            "bump topaz from 1.82 to 1.87",
        ),
        ("when did we last raise topaz", "chore(topaz): bump from 1.76 to 1.82", "Explain topaz"),
    ],
)
def test_a_message_about_the_change_has_a_higher_score(
    question: str, better: str, worse: str
) -> None:
    asked = parse_change_question(question)
    assert asked is not None
    subjects = [WeightedSubject(one, 1.0) for one in asked.subjects]

    high, low = (score_line(asked.action, subjects, line) for line in (better, worse))

    assert high > 0.5
    assert low < high * 0.9


def test_a_thing_that_became_the_default_was_not_renamed() -> None:
    assert parse_change_question("when did topaz become the default") is None
