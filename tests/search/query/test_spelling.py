"""Correction of misspelled names."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import FILES, MakeApp, make_repository

from rootle.app import App
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.text.similarity.edit_distance import edit_distance

_FILES = {**FILES, "src/users.py": "def getUserById(key):\n    return table[key]\n"}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    return make_app(make_repository(tmp_path / "repo", _FILES))


@pytest.mark.slow
def test_an_unknown_name_is_corrected_to_the_nearest_one(app: App) -> None:
    for typed, meant, path in [
        ("getUserByld", "getUserById", "src/users.py"),  # a lower-case L instead of an upper-case I
        ("getUesrById", "getUserById", "src/users.py"),
        ("retry_backof", "retry_backoff", "src/net/retry.py"),
        ("RetyrPolicy", "RetryPolicy", "src/net/retry.py"),
        ("who calls valdateToken", "validateToken", "src/auth/token.ts"),
        ("where is password.hash_pasword() used", "hash_password", "src/auth/password.rs"),
        ("EvictOldets", "evict_oldest", "src/store/cache.py"),
    ]:
        response = app.search(typed, explain=True)
        assert response.results[0].file_path == path, typed
        assert any(f'showing results for "{meant}"' in note for note in response.suggestions)
        assert response.interpretation is not None
        assert list(response.interpretation.corrected.values()) == [meant]


@pytest.mark.slow
def test_known_short_and_quoted_names_and_error_messages_are_not_corrected(app: App) -> None:
    for text in [
        "retry_backoff",
        "retry",
        "popitem",  # used but not defined
        "who calls argon()",
        "ftch",
        '"getUserByld"',
        "TypeError: getUserByld is not a function",
        "how long to wait before the next attempt",
        "Return the seconds to wait before the next try. def retry_backof(attempt)",  # a guess
        "UnheardOfThing",
        "where is WeRetryBackoff defined",  # another word
        "where is RareBackoff",
    ]:
        response = app.search(text, explain=True)
        assert response.interpretation is not None
        assert response.interpretation.corrected == {}, text
        assert not any("showing results for" in note for note in response.suggestions)


def test_known_names_do_not_cause_a_fuzzy_search(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def must_not_run(*_: object) -> None:
        raise AssertionError("the index was searched for similar names")

    monkeypatch.setattr(EmbeddedSparse, "near_definers", must_not_run)
    assert app.search("who calls validateToken and retry_backoff").results


def test_the_distance_counts_typing_errors() -> None:
    assert edit_distance("retry", "retry", 5) == 0
    assert edit_distance("retry", "rerty", 5) == 1
    assert edit_distance("retry", "retr", 5) == edit_distance("retr", "retry", 5) == 1
    assert edit_distance("getuserbyld", "getuserbyid", 5) < 1
    assert edit_distance("", "abc", 5) == 3
    assert edit_distance("retry", "retri", 5) == edit_distance("pool", "paol", 5) == 1
