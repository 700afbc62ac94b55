"""Calibrated scores and messages about low confidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample import make_repository

_NOWHERE = "which keychain entry stores the kubernetes cluster certificate of the payment gateway"


@pytest.mark.slow
def test_scores_are_probabilities_in_descending_order(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    for question in ("retry backoff", "RetryPolicy", _NOWHERE):
        scores = [result.score for result in app.search(question).results]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
    sure = app.search("RetryPolicy").results[0].score
    assert sure > 2 * app.search(_NOWHERE).results[0].score


def test_an_answer_with_low_confidence_has_a_message(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    response = app.search(_NOWHERE)
    assert response.confident is False
    message = response.suggestions[-1]
    assert message.startswith("not confident:")
    assert '"keychain"' in message
    known = app.search("RetryPolicy")
    assert known.confident is True
    assert not any("not confident" in said for said in known.suggestions)


def test_an_answer_to_an_exact_phrase_has_no_confidence(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    response = app.search('"class RetryPolicy"')
    assert response.results
    assert response.confident is None
