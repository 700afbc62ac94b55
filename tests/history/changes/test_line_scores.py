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
