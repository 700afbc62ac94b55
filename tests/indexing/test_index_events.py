"""The event "index-updated" reaches the subscribers of every process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command import rootle
from polling import wait_until
from sample import FILES, MakeApp, write

from rootle import App, IndexUpdated, SearchQuery


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    return make_app(repository)


def _subscribe(app: App) -> tuple[list[IndexUpdated], Callable[[], None]]:
    received: list[IndexUpdated] = []
    return received, app.subscribe(received.append)


def _index(app: App, *options: str) -> None:
    assert rootle("index", app.root, "--index-dir", app.index_dir, *options).code == 0


def test_the_first_index_of_another_process_is_reported(app: App) -> None:
    events, _ = _subscribe(app)
    _index(app)
    wait_until(lambda: events, "first index")
    assert events[0].changed == tuple(sorted(FILES))
    assert events[0].removed == ()
    assert events[0].generation == app.status().generation


def test_changes_that_another_process_indexes_are_reported_once(app: App) -> None:
    app.index()
    events, _ = _subscribe(app)
    write(app.root, "src/new.py", "okapi = 1\n", when_s=None)
    (app.root / "README.md").unlink()
    _index(app)
    wait_until(lambda: events, "update of another process")
    assert events == [IndexUpdated(app.status().generation, ("src/new.py",), ("README.md",))]
    # The next update of this process reports only its own changes.
    write(app.root, "src/own.py", "quagga = 1\n", when_s=None)
    app.index()
    assert [event.changed for event in events] == [("src/new.py",), ("src/own.py",)]
    assert [event.removed for event in events] == [("README.md",), ()]


def test_an_update_reports_earlier_changes_of_other_processes(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.indexing.events._POLL_INTERVAL_S", 3_600)
    app.index()
    events, _ = _subscribe(app)
    write(app.root, "src/new.py", "okapi = 1\n", when_s=None)
    _index(app)
    write(app.root, "src/own.py", "quagga = 1\n", when_s=None)
    app.index()
    assert [event.changed for event in events] == [("src/new.py", "src/own.py")]


def test_a_rebuild_by_another_process_reports_the_files_with_another_content(app: App) -> None:
    app.index()
    events, _ = _subscribe(app)
    write(app.root, "README.md", "# Other\n", when_s=None)
    _index(app, "--rebuild")
    wait_until(lambda: events, "rebuild")
    assert events[-1].changed == ("README.md",)
    assert events[-1].removed == ()


def test_a_subscriber_may_search(app: App) -> None:
    app.index()
    found: list[str] = []
    app.subscribe(
        lambda _: found.append(app.search(SearchQuery("okapi", limit=1)).results[0].file_path)
    )
    write(app.root, "src/new.py", "okapi = 1\n", when_s=None)
    _index(app)
    wait_until(lambda: found, "search by the subscriber")
    assert set(found) == {"src/new.py"}


def _count_threads() -> int:
    return sum(thread.name == "rootle-index-events" for thread in threading.enumerate())


def test_the_thread_ends_with_the_last_subscription_and_with_the_app(app: App) -> None:
    before = _count_threads()
    events, unsubscribe = _subscribe(app)
    assert _count_threads() == before + 1
    unsubscribe()
    wait_until(lambda: _count_threads() == before, "end of the thread")
    events, _ = _subscribe(app)
    app.close()
    wait_until(lambda: _count_threads() == before, "end of the thread")
    app.index()  # the app can be used again
    assert len(events) == 1
    write(app.root, "src/new.py", "okapi = 1\n", when_s=None)
    _index(app)
    wait_until(lambda: len(events) == 2, "update of another process")
