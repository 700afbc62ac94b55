"""Scores that are chances, and answers that say when they are unlikely to be one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample import make_repository

_NOWHERE = "which keychain entry stores the kubernetes cluster certificate of the payment gateway"


def test_scores_are_chances_that_never_rise(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    for question in ("retry backoff", "RetryPolicy", _NOWHERE):
        scores = [result.score for result in app.search(question).results]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
    sure = app.search("RetryPolicy").results[0].score
    assert sure > 2 * app.search(_NOWHERE).results[0].score


def test_an_unlikely_answer_says_so_in_words(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    response = app.search(_NOWHERE)
    assert response.confident is False
    doubt = response.suggestions[-1]
    assert doubt.startswith("not confident:")
    assert '"keychain"' in doubt
    known = app.search("RetryPolicy")
    assert known.confident is True
    assert not any("not confident" in said for said in known.suggestions)


def test_what_is_quoted_needs_no_chance(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    response = app.search('"class RetryPolicy"')
    assert response.results
    assert response.confident is None
