"""A watch service in this process follows changes to real files and git repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import Any

import pytest
from polling import TIMEOUT_S, wait_until
from sample import MakeApp

from rootle import App, IndexUpdated
from rootle.errors import QueryError, UnavailableError
from rootle.indexing.watch import debounce
from rootle.indexing.watch.file_notifications import FileWatcher
from rootle.indexing.watch.watch_service import WatchService
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_state import WatcherCommand

pytestmark = pytest.mark.slow


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    return make_app(repository, watch_debounce_ms=50)


@pytest.fixture
def events(app: App) -> list[IndexUpdated]:
    received: list[IndexUpdated] = []
    app.subscribe(received.append)
    return received


@pytest.fixture
def service(app: App, events: list[IndexUpdated]) -> Iterator[WatchService]:
    with app.watch() as service:
        wait_until(lambda: service.is_ready, "ready")
        events.clear()
        yield service


def test_a_saved_file_a_moved_folder_and_a_deleted_file_are_followed(
    repository: Path, service: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "src/net/new.py").write_text("def quagga(): ...\n")
    wait_until(lambda: events, "new file")
    assert (events[-1].changed, events[-1].removed) == (("src/net/new.py",), ())
    draft = repository / "src/net/new.py~"
    draft.write_text("def okapi(): ...\n")
    draft.rename(repository / "src/net/new.py")
    wait_until(lambda: len(events) == 2, "saved by a rename")
    assert events[-1].changed == ("src/net/new.py",)
    (repository / "src/net").rename(repository / "src/wire")
    wait_until(lambda: "src/wire/new.py" in events[-1].changed, "moved folder")
    assert "src/net/new.py" in events[-1].removed
    (repository / "src/wire/new.py").write_text("def quokka(): ...\n")
    wait_until(lambda: events[-1].changed == ("src/wire/new.py",), "written in the moved folder")
    (repository / "src/wire/new.py").unlink()
    wait_until(lambda: events[-1].removed == ("src/wire/new.py",), "deleted")
    generations = [event.generation for event in events]
    assert generations == sorted(set(generations))


def test_files_in_new_folders_are_found_at_any_depth(
    repository: Path, service: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "x/y/z").mkdir(parents=True)
    (repository / "x/y/z/deep.py").write_text("def quagga(): ...\n")
    wait_until(lambda: events, "new file")
    (repository / "x/y/z/more.py").write_text("def okapi(): ...\n")
    wait_until(lambda: events[-1].changed == ("x/y/z/more.py",), "another file")


def test_a_change_to_the_ignore_rules_takes_effect(
    repository: Path, service: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "note.secretive").write_text("quagga\n")
    wait_until(lambda: events, "new file")
    (repository / ".rootleignore").write_text("*.secretive\n")
    wait_until(lambda: any("note.secretive" in event.removed for event in events), "excluded")
    (repository / ".rootleignore").unlink()
    wait_until(lambda: "note.secretive" in events[-1].changed, "included again")


def test_a_write_that_causes_no_event_is_found_by_a_periodic_rescan(
    repository: Path, app: App, events: list[IndexUpdated], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PERIODIC_RESCAN_S", 0.5)
    monkeypatch.setattr(debounce, "PERIODIC_RESCAN_FACTOR", 1)
    path = repository / "mapped.py"
    path.write_text("def quagga(): ...\n")
    with app.watch() as service, path.open("r+b") as file, mmap(file.fileno(), 0) as mapped:
        wait_until(lambda: service.is_ready, "ready")
        events.clear()
        mapped[4:10] = b"donkey"
        mapped.flush()
        wait_until(lambda: events, "found")
        assert events[-1].changed == ("mapped.py",)


def test_a_command_sent_while_the_watched_folders_change_is_obeyed(
    repository: Path, service: WatchService, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, refresh = WatcherChannel(app.index_dir), FileWatcher.refresh
    sent: list[Path | None] = []

    def refresh_without_the_event(self: FileWatcher, *arguments: Any) -> None:
        self.close()
        if not sent:
            sent.append(channel._post(WatcherCommand(is_paused=True)))
        refresh(self, *arguments)

    monkeypatch.setattr(FileWatcher, "refresh", refresh_without_the_event)
    (repository / ".rootleignore").write_text("*.secretive\n")
    wait_until(lambda: sent and sent[0] is not None and not sent[0].exists(), "completed")
    state = channel.read_state()
    assert state is not None
    assert state.is_paused


def test_a_branch_switch_is_one_batch(
    repository: Path, service: WatchService, events: list[IndexUpdated], app: App
) -> None:
    git(repository, "checkout", "-qb", "many")
    for number in range(600):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "many")
    wait_until(lambda: sum(len(event.changed) for event in events) >= 600, "all indexed")
    wait_until(lambda: not service.waiting, "idle")
    events.clear()
    git(repository, "checkout", "-q", "main")
    wait_until(lambda: events, "switched")
    assert len(events[0].removed) == 600
    wait_until(lambda: not service.waiting, "idle")
    assert len(events) == 1
    assert app.search("many_17").staleness is None


def test_tool_folders_are_not_watched(repository: Path, service: WatchService) -> None:
    folders = service._watcher.folders
    for name in ("node_modules/left/pad", "__pycache__", ".git/objects"):
        (repository / name).mkdir(parents=True, exist_ok=True)
    service._watcher.refresh()
    assert service._watcher.folders == folders


def test_a_file_tracked_in_an_ignored_folder_is_watched(
    repository: Path, service: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / ".gitignore").write_text("out/\n")
    (repository / "out").mkdir()
    (repository / "out/kept.py").write_text("def quagga(): ...\n")
    git(repository, "add", "-f", "out/kept.py")
    wait_until(lambda: any("out/kept.py" in event.changed for event in events), "tracked")
    wait_until(lambda: "out" in service._watcher.folders, "watched")
    wait_until(lambda: not service.waiting, "idle")
    (repository / "out/kept.py").write_text("def okapi(): ...\n")
    wait_until(lambda: events[-1].changed == ("out/kept.py",), "changed")


def test_changes_are_followed_after_a_file_name_that_is_not_utf8(
    repository: Path, service: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / os.fsdecode(b"gr\xfc\xdfe.py")).write_text("def quagga(): ...\n")
    wait_until(lambda: events, "found by a rescan")
    wait_until(lambda: not service.waiting, "idle")
    (repository / "plain.py").write_text("def okapi(): ...\n")
    wait_until(lambda: "plain.py" in events[-1].changed, "next change")


def test_a_response_reports_its_staleness_while_indexing_is_paused(
    repository: Path, service: WatchService, app: App, make_app: MakeApp
) -> None:
    # It communicates with the watcher through files, like another process.
    other = make_app(repository)
    assert other.pause_indexing()
    (repository / "new.py").write_text("def quagga(): ...\n")
    wait_until(lambda: app.buffered_index_operations == 1, "change noticed")
    for searcher in (app, other):
        response = searcher.search("quagga")
        assert response.degraded == ("stale",)
        assert response.staleness is not None
        assert response.staleness.changed_files == 1
        assert response.staleness.age_seconds < TIMEOUT_S
    status = app.status().watcher
    assert status is not None
    assert (status.health, status.waiting) == ("paused", 1)
    assert app.resume_indexing()
    assert app.search("quagga").results[0].file_path == "new.py"
    assert other.search("quagga").staleness is None


def test_throttled_indexing_waits_for_the_minimum_interval(
    repository: Path, service: WatchService, app: App, events: list[IndexUpdated]
) -> None:
    assert app.throttle_indexing(3600)
    (repository / "one.py").write_text("def quagga(): ...\n")
    wait_until(lambda: app.buffered_index_operations == 1, "change noticed")
    assert app.search("quagga").staleness is not None
    status = app.status().watcher
    assert status is not None
    assert (status.health, status.min_interval_seconds) == ("throttled", 3600)
    assert not events
    assert app.resume_indexing()
    wait_until(lambda: events, "indexed after resuming")


def test_a_subscriber_that_raises_is_logged_and_the_others_are_called(
    repository: Path,
    service: WatchService,
    app: App,
    events: list[IndexUpdated],
    caplog: pytest.LogCaptureFixture,
) -> None:
    received: list[IndexUpdated] = []

    def fail(event: IndexUpdated) -> None:
        raise ValueError("no room for this")

    app.subscribe(fail)
    unsubscribe = app.subscribe(received.append)
    (repository / "one.py").write_text("def quagga(): ...\n")
    wait_until(lambda: received, "event")
    assert "no room for this" in caplog.text
    unsubscribe()
    unsubscribe()
    (repository / "two.py").write_text("def okapi(): ...\n")
    wait_until(lambda: len(events) == 2, "second event")
    assert len(received) == 1


def test_an_index_has_at_most_one_watcher(
    repository: Path, service: WatchService, make_app: MakeApp
) -> None:
    with pytest.raises(UnavailableError, match=f"process {os.getpid()} is already watching"):
        make_app(repository).watch()


def test_an_index_that_is_deleted_while_a_watcher_runs_is_created_again(
    repository: Path, make_app: MakeApp
) -> None:
    other = make_app(repository)
    app = make_app(repository)
    with app.watch():
        assert app.search("retry backoff").results
        assert other.clear()
        assert app.search("retry backoff").results
        assert other.clear()
        assert other.search("retry backoff").results
        other.clear()
    assert make_app(repository).search("retry backoff").results


@pytest.mark.parametrize("interval", [float("inf"), float("nan"), 1e300, -1, "10", None, True])
def test_an_invalid_interval_is_refused(interval: Any, repository: Path, make_app: MakeApp) -> None:
    with pytest.raises(QueryError, match="min_interval_s is"):
        make_app(repository).throttle_indexing(interval)
