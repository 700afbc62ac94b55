"""`rootle watch` as a process: signals, kills, hangs and commands from other processes."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle, start_rootle
from forked_process import ForkedProcess
from polling import TIMEOUT_S, wait_until

from rootle import Config, open_app

pytestmark = pytest.mark.slow

Watcher = subprocess.Popen[bytes] | ForkedProcess


@pytest.fixture
def watcher(repository: Path) -> Iterator[Watcher]:
    process = start_rootle("watch", repository, "--json")
    try:
        wait_until(lambda: health_of_watcher(repository) == "fresh", "watching")
        yield process
    finally:
        process.kill()
        process.communicate()


def health_of_watcher(repository: Path) -> str | None:
    with open_app(repository) as app:
        watcher = app.status().watcher
    return watcher.health if watcher else None


def test_ctrl_c_ends_a_watcher_cleanly(repository: Path, watcher: Watcher) -> None:
    (repository / "new.py").write_text("def quagga(): ...\n")
    assert watcher.stdout is not None
    lines = [json.loads(watcher.stdout.readline()) for _ in range(2)]
    assert (lines[1]["changed"], lines[1]["removed"]) == (["new.py"], [])
    assert rootle("search", "quagga", cwd=repository, stdin=b"").out.startswith("new.py")
    watcher.send_signal(signal.SIGINT)
    _, err = watcher.communicate(timeout=TIMEOUT_S)
    assert watcher.returncode == 0
    assert b"Traceback" not in err
    assert health_of_watcher(repository) is None


def test_a_watcher_that_is_indexing_many_files_ends_at_once(repository: Path) -> None:
    for number in range(3_000):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n" * 10)
    process = start_rootle("watch", repository)
    assert process.stderr is not None
    assert b"watching" in process.stderr.readline()
    process.terminate()
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, b"Traceback" in err) == (0, False)
    assert rootle("search", "many_17", cwd=repository).out.startswith("many_17.py")


def test_a_killed_watcher_is_detected_and_each_search_scans_the_folder(
    repository: Path, watcher: Watcher
) -> None:
    watcher.kill()
    watcher.wait()
    status = rootle("status", repository, "--json").data["watcher"]
    assert status["health"] == "gone"
    assert str(watcher.pid) in status["lastError"]
    (repository / "new.py").write_text("def quagga(): ...\n")
    assert rootle("search", "quagga", cwd=repository).out.startswith("new.py")
    assert "gone" in rootle("status", repository).out


def test_searches_do_not_rely_on_a_watcher_that_hangs(
    repository: Path, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.indexing.refresh._MIN_FILES_TO_ASK_WATCHER", 0)
    monkeypatch.setattr("rootle.indexing.watch.watcher_probe._IDLE_TIMEOUT_S", 0.5)
    with open_app(repository, config=Config(stale_check_seconds=0.4)) as app:
        assert app.search("retry_backoff").results
        watcher.send_signal(signal.SIGSTOP)
        try:
            (repository / "new.py").write_text("def quagga(): ...\n")
            wait_until(
                lambda: [r.file_path for r in app.search("quagga").results][:1] == ["new.py"],
                "found by a scan of the folder",
            )
        finally:
            watcher.send_signal(signal.SIGCONT)


def test_changes_are_found_although_a_full_queue_dropped_their_events(
    repository: Path, watcher: Watcher
) -> None:
    # A stopped watcher reads no events, and the system drops those that do not fit into its queue.
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watcher.send_signal(signal.SIGSTOP)
    for number in range(limit // 3 + 500):
        (repository / f"t{number}.tmp").touch()
        (repository / f"t{number}.tmp").unlink()
    (repository / "late.py").write_text("def quagga(): ...\n")
    watcher.send_signal(signal.SIGCONT)
    assert watcher.stdout is not None
    while "late.py" not in json.loads(watcher.stdout.readline())["changed"]:
        pass


def test_a_running_watcher_obeys_commands_from_another_process(
    repository: Path, watcher: Watcher
) -> None:
    assert rootle("watch", repository, "--pause").out == "watcher paused\n"
    (repository / "new.py").write_text("def quagga(): ...\n")
    wait_until(
        lambda: "changed files waiting: 1" in rootle("status", repository).out, "change noticed"
    )
    response = rootle("search", "quagga", "--json", cwd=repository).data
    assert response["degraded"] == ["stale"]
    assert response["staleness"]["changedFiles"] == 1
    assert rootle("watch", repository, "--throttle", "0.1").code == 0
    assert rootle("watch", repository, "--resume", "--json").data == {"watcher": "resumed"}
    assert rootle("search", "quagga", cwd=repository).out.startswith("new.py")


def test_a_command_without_a_running_watcher_is_an_error(repository: Path) -> None:
    outcome = rootle("watch", repository, "--pause")
    assert outcome.code == 2
    assert "no watcher of" in outcome.err


@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_an_exhausted_inotify_limit_is_reported_and_searches_still_work(
    repository: Path, limit: str
) -> None:
    # A user namespace has its own limits.
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
