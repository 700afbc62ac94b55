"""An index that is kept fresh: real processes, real git, real kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import rootle, start_rootle
from sample import MakeApp

from rootle import App, IndexUpdated
from rootle.errors import ConfigError, UnavailableError
from rootle.indexing.watch.watch_service import WatchService

_PATIENCE_S = 60.0  # for what is certain to come, on a machine however busy


def until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of a condition."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    pytest.fail(f"it did not happen: {what}")


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    return make_app(repository, watch_debounce_ms=50)


@pytest.fixture
def events(app: App) -> list[IndexUpdated]:
    found: list[IndexUpdated] = []
    app.subscribe(found.append)
    return found


@pytest.fixture
def live(app: App, events: list[IndexUpdated]) -> Iterator[WatchService]:
    with app.watch() as watching:
        until(lambda: watching.is_ready, "ready")
        events.clear()
        yield watching


def test_a_saved_file_a_moved_folder_and_a_deleted_file_are_followed(
    repository: Path, live: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "src/net/new.py").write_text("def quagga(): ...\n")
    until(lambda: events, "new file")
    assert (events[-1].changed, events[-1].removed) == (("src/net/new.py",), ())
    draft = repository / "src/net/new.py~"
    draft.write_text("def okapi(): ...\n")
    draft.rename(repository / "src/net/new.py")
    until(lambda: len(events) == 2, "saved by a rename")
    assert events[-1].changed == ("src/net/new.py",)
    (repository / "src/net").rename(repository / "src/wire")
    until(lambda: "src/wire/new.py" in events[-1].changed, "moved folder")
    assert "src/net/new.py" in events[-1].removed
    (repository / "src/wire/new.py").write_text("def quokka(): ...\n")
    until(lambda: events[-1].changed == ("src/wire/new.py",), "written in the moved folder")
    (repository / "src/wire/new.py").unlink()
    until(lambda: events[-1].removed == ("src/wire/new.py",), "deleted")
    generations = [event.generation for event in events]
    assert generations == sorted(set(generations))


def test_files_in_new_folders_are_found_however_deep(
    repository: Path, live: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "x/y/z").mkdir(parents=True)
    (repository / "x/y/z/deep.py").write_text("def quagga(): ...\n")
    until(lambda: events, "new file")
    (repository / "x/y/z/more.py").write_text("def okapi(): ...\n")
    until(lambda: events[-1].changed == ("x/y/z/more.py",), "another one")


def test_a_change_of_the_ignore_rules_is_obeyed(
    repository: Path, live: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / "note.secretive").write_text("quagga\n")
    until(lambda: events, "new file")
    (repository / ".rootleignore").write_text("*.secretive\n")
    until(lambda: any("note.secretive" in event.removed for event in events), "left out")
    (repository / ".rootleignore").unlink()
    until(lambda: "note.secretive" in events[-1].changed, "back again")


def test_a_branch_switch_is_one_batch(
    repository: Path, live: WatchService, events: list[IndexUpdated], app: App
) -> None:
    git(repository, "checkout", "-qb", "many")
    for number in range(600):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "many")
    until(lambda: sum(len(event.changed) for event in events) >= 600, "all indexed")
    until(lambda: not live.waiting, "quiet")
    events.clear()
    git(repository, "checkout", "-q", "main")
    until(lambda: events, "switched")
    assert len(events[0].removed) == 600
    until(lambda: not live.waiting, "quiet")
    assert len(events) == 1
    assert app.search("many_17").staleness is None


def test_what_tools_write_is_not_even_watched(repository: Path, live: WatchService) -> None:
    folders = live._watcher.folders
    for name in ("node_modules/left/pad", "__pycache__", ".git/objects"):
        (repository / name).mkdir(parents=True, exist_ok=True)
    live._watcher.renew()
    assert live._watcher.folders == folders


def test_a_file_tracked_in_an_ignored_folder_is_watched(
    repository: Path, live: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / ".gitignore").write_text("out/\n")
    (repository / "out").mkdir()
    (repository / "out/kept.py").write_text("def quagga(): ...\n")
    git(repository, "add", "-f", "out/kept.py")
    until(lambda: any("out/kept.py" in event.changed for event in events), "tracked")
    until(lambda: "out" in live._watcher.folders, "watched")
    until(lambda: not live.waiting, "quiet")
    (repository / "out/kept.py").write_text("def okapi(): ...\n")
    until(lambda: events[-1].changed == ("out/kept.py",), "changed")


def test_a_name_that_is_no_utf8_does_not_make_it_deaf(
    repository: Path, live: WatchService, events: list[IndexUpdated]
) -> None:
    (repository / os.fsdecode(b"gr\xfc\xdfe.py")).write_text("def quagga(): ...\n")
    until(lambda: events, "found by a look at everything")
    until(lambda: not live.waiting, "quiet")
    (repository / "plain.py").write_text("def okapi(): ...\n")
    until(lambda: "plain.py" in events[-1].changed, "still hears")


def test_an_answer_says_how_stale_it_is_while_indexing_is_paused(
    repository: Path, live: WatchService, app: App, make_app: MakeApp
) -> None:
    other = make_app(repository)  # another process would do the same: they speak through files
    assert other.pause_indexing()
    (repository / "new.py").write_text("def quagga(): ...\n")
    until(lambda: app.buffered_index_operations == 1, "heard")
    for asked in (app, other):
        response = asked.search("quagga")
        assert response.degraded == ("stale",)
        assert response.staleness is not None
        assert response.staleness.changed_files == 1
        assert response.staleness.age_seconds < _PATIENCE_S
    status = app.status().watcher
    assert status is not None
    assert (status.health, status.waiting) == ("paused", 1)
    assert app.resume_indexing()
    assert app.search("quagga").results[0].file_path == "new.py"
    assert other.search("quagga").staleness is None


def test_slowed_indexing_keeps_its_distance(
    repository: Path, live: WatchService, app: App, events: list[IndexUpdated]
) -> None:
    assert app.throttle_indexing(3600)
    (repository / "one.py").write_text("def quagga(): ...\n")
    until(lambda: app.buffered_index_operations == 1, "heard")
    assert app.search("quagga").staleness is not None
    assert not events
    assert app.resume_indexing()
    until(lambda: events, "made good")


def test_a_subscriber_that_fails_is_reported_and_the_others_are_told(
    repository: Path,
    live: WatchService,
    app: App,
    events: list[IndexUpdated],
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[IndexUpdated] = []

    def broken(event: IndexUpdated) -> None:
        raise ValueError("no room for this")

    app.subscribe(broken)
    end = app.subscribe(seen.append)
    (repository / "one.py").write_text("def quagga(): ...\n")
    until(lambda: seen, "told")
    assert "no room for this" in caplog.text
    end()
    end()
    (repository / "two.py").write_text("def okapi(): ...\n")
    until(lambda: len(events) == 2, "told again")
    assert len(seen) == 1


def test_there_is_one_watcher_of_an_index(
    repository: Path, live: WatchService, make_app: MakeApp
) -> None:
    with pytest.raises(UnavailableError, match=f"process {os.getpid()} watches"):
        make_app(repository).watch()


def test_read_only_mode_writes_nothing_and_says_how_stale_it_is(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    make_app(repository).index()
    reader = make_app(repository, enable_indexing=False)
    before = snapshot_of(tmp_path / "index")
    assert reader.search("retry_backoff").staleness is None
    (repository / "new.py").write_text("def quagga(): ...\n")
    response = reader.search("quagga")
    assert response.staleness is not None
    assert response.staleness.changed_files == 1
    assert reader.status().pending == 1
    for write in (reader.index, reader.clear, reader.watch):
        with pytest.raises(ConfigError, match="enableIndexing"):
            write()
    assert snapshot_of(tmp_path / "index") == before
    make_app(repository).index()  # which somebody else may do
    assert reader.search("quagga").results[0].file_path == "new.py"
    assert reader.search("quagga").staleness is None


def test_a_library_is_not_held_up_by_much_that_changed(
    repository: Path, app: App, events: list[IndexUpdated]
) -> None:
    app.index()
    for number in range(300):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n")
    response = app.search("many_17")
    assert response.staleness is not None
    assert response.staleness.changed_files == 300
    until(lambda: any(len(event.changed) == 300 for event in events), "in the background")
    assert until(lambda: app.search("many_17").staleness is None, "fresh")


# With processes of their own.


@pytest.fixture
def watching(repository: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = start_rootle("watch", repository, "--json")
    try:
        until(lambda: health(repository) == "fresh", "watching")
        yield process
    finally:
        process.kill()
        process.communicate()


def health(repository: Path) -> str | None:
    status = rootle("status", repository, "--json")
    watcher = status.data["watcher"] if status.out else None
    return watcher and watcher["health"]


def test_ctrl_c_ends_a_watcher_cleanly(repository: Path, watching: subprocess.Popen[bytes]) -> None:
    (repository / "new.py").write_text("def quagga(): ...\n")
    assert watching.stdout is not None
    lines = [json.loads(watching.stdout.readline()) for _ in range(2)]
    assert (lines[1]["changed"], lines[1]["removed"]) == (["new.py"], [])
    assert rootle("search", "quagga", cwd=repository, stdin=b"").out.startswith("new.py")
    watching.send_signal(signal.SIGINT)
    _, err = watching.communicate(timeout=_PATIENCE_S)
    assert watching.returncode == 0
    assert b"Traceback" not in err
    assert health(repository) is None


def test_a_watcher_that_indexes_much_ends_at_once_too(repository: Path) -> None:
    for number in range(3_000):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n" * 50)
    process = start_rootle("watch", repository)
    assert process.stderr is not None
    assert b"watching" in process.stderr.readline()
    process.terminate()
    _, err = process.communicate(timeout=_PATIENCE_S)
    assert (process.returncode, b"Traceback" in err) == (0, False)
    assert rootle("search", "many_17", cwd=repository).out.startswith("many_17.py")


def test_a_killed_watcher_is_noticed_and_questions_look_for_themselves(
    repository: Path, watching: subprocess.Popen[bytes]
) -> None:
    watching.kill()
    watching.wait()
    status = rootle("status", repository, "--json").data["watcher"]
    assert status["health"] == "gone"
    assert str(watching.pid) in status["lastError"]
    (repository / "new.py").write_text("def quagga(): ...\n")
    assert rootle("search", "quagga", cwd=repository).out.startswith("new.py")
    assert "gone" in rootle("status", repository).out


def test_a_watcher_that_hangs_is_not_believed(
    repository: Path, watching: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.indexing.refresh._FILES_LOOKED_AT", 0)
    monkeypatch.setattr("rootle.indexing.refresh._REFRESH_SHARE", 0)
    monkeypatch.setattr("rootle.indexing.watch.watcher_probe._SILENCE_S", 0.5)
    from rootle import Config, open_app

    with open_app(repository, config=Config(stale_check_seconds=0.4)) as app:
        assert app.search("retry_backoff").results
        watching.send_signal(signal.SIGSTOP)
        try:
            (repository / "new.py").write_text("def quagga(): ...\n")
            until(
                lambda: [r.file_path for r in app.search("quagga").results][:1] == ["new.py"],
                "found by a look at the folder",
            )
        finally:
            watching.send_signal(signal.SIGCONT)


def test_events_lost_in_a_full_queue_are_made_good(
    repository: Path, watching: subprocess.Popen[bytes]
) -> None:
    """Nobody reads while it is stopped, and the system drops what does not fit its queue."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watching.send_signal(signal.SIGSTOP)
    for number in range(limit // 3 + 500):
        (repository / f"t{number}.tmp").touch()
        (repository / f"t{number}.tmp").unlink()
    (repository / "late.py").write_text("def quagga(): ...\n")
    watching.send_signal(signal.SIGCONT)
    assert watching.stdout is not None
    while "late.py" not in json.loads(watching.stdout.readline())["changed"]:
        pass


def test_a_running_watcher_is_told_to_pause(
    repository: Path, watching: subprocess.Popen[bytes]
) -> None:
    assert rootle("watch", repository, "--pause").out == "watcher paused\n"
    (repository / "new.py").write_text("def quagga(): ...\n")
    until(lambda: "1 files wait" in rootle("status", repository).out, "heard")
    response = rootle("search", "quagga", "--json", cwd=repository).data
    assert response["degraded"] == ["stale"]
    assert response["staleness"]["changedFiles"] == 1
    assert rootle("watch", repository, "--slow", "0.1").code == 0
    assert rootle("watch", repository, "--resume", "--json").data == {"watcher": "resumed"}
    assert rootle("search", "quagga", cwd=repository).out.startswith("new.py")


def test_without_a_watcher_there_is_nobody_to_pause(repository: Path) -> None:
    outcome = rootle("watch", repository, "--pause")
    assert outcome.code == 2
    assert "no `rootle watch` runs" in outcome.err


@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_a_system_that_watches_no_more_says_so_and_questions_still_work(
    repository: Path, limit: str
) -> None:
    """In a namespace of its own, whose limits are those of nobody else."""
    wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    wrapper += [f'echo 2 >/proc/sys/user/{limit}; exec "$@"', "sh"]
    if limit.endswith("instances"):
        wrapper[-2] = wrapper[-2].replace("echo 2", "echo 0")
    if subprocess.run([*wrapper, "true"]).returncode:
        pytest.fail("needs user namespaces: sysctl kernel.unprivileged_userns_clone=1")
    outcome = rootle("watch", repository, wrapper=wrapper)
    assert outcome.code == 2
    assert "fs.inotify" in outcome.err
    assert rootle("search", "retry_backoff", cwd=repository).code == 0
    status = rootle("status", repository, "--json").data["watcher"]
    assert "fs.inotify" in status["lastError"]


def snapshot_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file with its size and the time of its last change."""
    return {
        os.fspath(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }
