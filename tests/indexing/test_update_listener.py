"""Subscribers receive events about the updates that other processes write."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle
from polling import TIMEOUT_S
from sample import MakeApp, write

from rootle import App, IndexUpdated

Events = queue.Queue[IndexUpdated]


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    return make_app(repository)


@pytest.fixture
def events(app: App) -> Iterator[Events]:
    received: Events = queue.Queue()
    unsubscribe = app.subscribe(received.put)
    yield received
    unsubscribe()


def _index_elsewhere(app: App, *options: str) -> None:
    outcome = rootle("index", app.root, "--index-dir", app.index_dir, *options)
    assert outcome.code == 0, outcome.err


@pytest.mark.slow
def test_a_subscriber_learns_of_an_update_by_another_process(app: App, events: Events) -> None:
    _index_elsewhere(app)
    first = events.get(timeout=TIMEOUT_S)
    assert "src/net/retry.py" in first.changed
    write(app.root, "src/net/retry.py", "def retry_later(): pass\n", when_s=None)
    (app.root / "docs/guide.md").unlink()

    _index_elsewhere(app)

    event = events.get(timeout=TIMEOUT_S)
    assert event.generation > first.generation
    assert (event.changed, event.removed) == (("src/net/retry.py",), ("docs/guide.md",))


def test_an_update_of_this_process_is_reported_once(app: App, events: Events) -> None:
    app.index()
    write(app.root, "src/net/retry.py", "def retry_later(): pass\n", when_s=None)
    app.search("retry later")
    app.search("retry later")
    assert events.get(timeout=TIMEOUT_S).removed == ()
    assert events.get(timeout=TIMEOUT_S).changed == ("src/net/retry.py",)
    _index_elsewhere(app)  # an index run without a change
    app.search("retry later")
    assert events.empty()


@pytest.mark.slow
def test_updates_are_reported_after_a_rebuild_and_after_the_index_was_deleted(
    app: App, events: Events
) -> None:
    _index_elsewhere(app)
    generation = events.get(timeout=TIMEOUT_S).generation
    _index_elsewhere(app, "--rebuild")
    assert events.get(timeout=TIMEOUT_S).generation > generation
    assert rootle("clear", app.root, "--index-dir", app.index_dir).code == 0
    _index_elsewhere(app)
    assert "src/net/retry.py" in events.get(timeout=TIMEOUT_S).changed


@pytest.mark.slow
def test_without_file_events_an_update_is_reported_at_the_next_search(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise OSError("no inotify")

    monkeypatch.setattr("rootle.indexing.update_listener.FolderWatch", refuse)
    received: list[IndexUpdated] = []
    app.subscribe(received.append)
    _index_elsewhere(app)
    assert received == []
    app.search("retry backoff")
    assert "src/net/retry.py" in received[0].changed


@pytest.mark.slow
def test_a_subscriber_may_search_during_an_event(app: App) -> None:
    found: queue.Queue[str] = queue.Queue()

    def search(event: IndexUpdated) -> None:
        found.put(app.search("retry backoff").results[0].file_path)

    app.subscribe(search)
    _index_elsewhere(app)
    assert found.get(timeout=TIMEOUT_S) == "src/net/retry.py"
