"""Memories in search responses: selection, and behavior with a slow or failing store."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import indexed_repository, write

from rootle.app import App
from rootle.errors import UnavailableError
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.serialization.markdown import response_as_markdown
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.types import Memory, SearchQuery

LONG_TIMEOUT_MS = 60_000  # so long that a busy machine does not look like a failing store
BACKOFF = "src/net/retry.py must stay free of side effects"


@pytest.fixture
def app(make_app: Any) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository()
    app: App = make_app(root, index_dir=index_dir, memory_timeout_ms=LONG_TIMEOUT_MS)
    return app


@pytest.fixture
def own_app(repository: Path, make_app: Any) -> App:
    """Return an app whose folder the test may change."""
    app: App = make_app(repository, memory_timeout_ms=LONG_TIMEOUT_MS)
    app.index()
    return app


def texts_of(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def test_a_memory_about_a_result_is_shown(app: App) -> None:
    app.memory.remember(BACKOFF)
    app.memory.remember("The user likes tabs")
    response = app.search("how long to wait before the next attempt")
    assert response.results[0].file_path == "src/net/retry.py"
    assert texts_of(response.memories) == [BACKOFF]
    assert response.degraded == ()


def test_a_memory_that_fits_the_question_is_shown(app: App) -> None:
    fact = "Passwords are hashed with argon, since bcrypt was too slow on the phones"
    app.memory.remember(fact)
    assert texts_of(app.search("why are passwords hashed with argon").memories) == [fact]


def test_a_memory_that_only_shares_a_word_is_not_shown(app: App) -> None:
    app.memory.remember("The next release goes out on Thursday")
    assert app.search("how long to wait before the next attempt").memories == ()


def test_a_memory_about_another_project_is_not_shown(
    app: App, make_app: Any, tmp_path: Path
) -> None:
    app.memory.remember(BACKOFF)
    write(tmp_path / "other", "src/net/retry.py", (app.root / "src/net/retry.py").read_text())
    other = make_app(
        tmp_path / "other", index_dir=tmp_path / "other-index", memory_timeout_ms=LONG_TIMEOUT_MS
    )
    response = other.search("retry must stay free of side effects")
    assert response.results
    assert response.memories == ()
    assert other.memory.recall("side effects") == []
    assert app.memory.recall("side effects")


def test_a_memory_is_possibly_stale_after_its_file_has_changed(own_app: App) -> None:
    own_app.memory.remember(BACKOFF)
    text = (own_app.root / "src/net/retry.py").read_text()
    write(own_app.root, "src/net/retry.py", f"{text}\n# changed\n")
    (memory,) = own_app.search("how long to wait before the next attempt").memories
    assert memory.possibly_stale


def test_a_cached_answer_has_current_memories(app: App) -> None:
    question = "how long to wait before the next attempt"
    assert app.search(question).memories == ()
    app.memory.remember(BACKOFF)
    assert texts_of(app.search(question).memories) == [BACKOFF]
    app.memory.forget([one.id for one in app.memory.list_memories()])
    assert app.search(question).memories == ()


def test_only_the_first_page_has_memories(app: App) -> None:
    app.memory.remember(BACKOFF)
    first = app.search(SearchQuery("retry", limit=1))
    assert first.memories
    assert first.next_cursor is not None
    assert app.search(SearchQuery("retry", limit=1, cursor=first.next_cursor)).memories == ()


@pytest.mark.parametrize("settings", [{"include_memories": False}, {"memory_store": ""}])
def test_memories_can_be_switched_off(app: App, make_app: Any, settings: dict[str, Any]) -> None:
    app.memory.remember(BACKOFF)
    other = make_app(app.root, **settings)
    assert other.search("how long to wait before the next attempt").memories == ()


def test_a_failing_store_is_reported_as_degraded(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise UnavailableError("no answer")

    app.memory.remember(BACKOFF)
    monkeypatch.setattr(app.memory.store, "search", fail)
    response = app.search("how long to wait before the next attempt")
    assert response.results
    assert response.degraded == ("memory",)


def test_a_damaged_store_is_reported_as_degraded(app: App, home: Path) -> None:
    app.memory.remember(BACKOFF)
    app.memory.close()
    (home / "data" / "rootle" / "memories.db").write_bytes(b"no database at all" * 500)
    response = app.search("how long to wait before the next attempt")
    assert response.results
    assert response.degraded == ("memory",)
    assert list((home / "data" / "rootle").glob("*.damaged-*"))


@pytest.fixture
def hanging_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the topics requested from a store that never answers."""
    released = threading.Event()
    topics: list[str] = []

    def hang(_: Any, topic: str, *__: Any, **___: Any) -> list[Memory]:
        topics.append(topic)
        released.wait(60)
        return []

    monkeypatch.setattr(EmbeddedMemory, "search", hang)
    yield topics
    released.set()


@pytest.mark.slow
def test_a_hanging_store_is_soon_skipped(
    repository: Path, make_app: Any, hanging_store: list[str]
) -> None:
    app = make_app(repository, memory_timeout_ms=20)
    app.memory.remember(BACKOFF)
    responses = [app.search(f"redirects {at}") for at in range(12)]
    assert all(response.results for response in responses)
    assert all(response.degraded == ("memory",) for response in responses)
    assert 3 <= len(hanging_store) < 12


def test_the_store_is_not_opened_without_memories(
    app: App, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def must_not_run(*_: Any) -> Any:
        raise AssertionError("the store was opened")

    monkeypatch.setattr("rootle.memory.sqlite_store.open_database", must_not_run)
    monkeypatch.setattr("rootle.memory.user_memory.UserMemory.find_relevant", must_not_run)
    assert app.search("how long to wait before the next attempt").results
    assert not list((home / "data").glob("*"))


def test_memories_and_results_together_fit_a_budget(app: App) -> None:
    app.memory.remember(f"{BACKOFF}, {'because callers retry it and ' * 30}so keep it pure")
    question = "how long to wait before the next attempt"
    shown = []
    for budget in (20, 100, 300, 6_000):
        response = app.search(question, budget=budget)
        if response.results:
            assert len(response_as_markdown(response)) <= budget * CHARS_PER_TOKEN
        shown.append(bool(response.memories))
    assert shown == [False, False, False, True]
