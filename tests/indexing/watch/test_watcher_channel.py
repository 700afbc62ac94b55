"""The files through which a watcher and other processes communicate."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rootle.errors import UnavailableError
from rootle.indexing.watch.watcher_channel import WatcherChannel, is_request
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState

STATE = WatcherState(os.getpid(), is_ready=True, committed_at=1.0, generation=3)


def test_a_state_is_read_by_others_until_the_watcher_releases_the_channel(tmp_path: Path) -> None:
    watcher, other = WatcherChannel(tmp_path), WatcherChannel(tmp_path)
    assert (other.read_state(), other.is_watched()) == (None, False)
    watcher.claim()
    watcher.publish(STATE)
    assert (other.read_state(), other.is_watched()) == (STATE, True)
    watcher.release(keep_state=True)
    assert (other.read_state(), other.is_watched()) == (STATE, False)
    watcher.claim()
    watcher.release(keep_state=False)
    assert other.read_state() is None


def test_a_channel_has_at_most_one_watcher(tmp_path: Path) -> None:
    watcher = WatcherChannel(tmp_path)
    watcher.claim()
    watcher.publish(STATE)
    with pytest.raises(UnavailableError, match=f"process {os.getpid()} is already watching"):
        WatcherChannel(tmp_path).claim()
    watcher.release(keep_state=False)


def test_a_command_is_confirmed_by_the_watcher(tmp_path: Path) -> None:
    watcher, other = WatcherChannel(tmp_path), WatcherChannel(tmp_path)
    watcher.claim()
    watcher.publish(STATE)
    command = WatcherCommand(is_paused=True)
    outcomes: list[bool] = []
    sender = threading.Thread(target=lambda: outcomes.append(other.send_command(command, 60)))
    sender.start()
    (request,) = _wait_for_requests(watcher)
    assert watcher.read_command(request) == command
    watcher.complete([request])
    sender.join()
    assert outcomes == [True]
    watcher.release(keep_state=False)


def _wait_for_requests(channel: WatcherChannel) -> list[str]:
    while not (names := [name for name in os.listdir(channel.folder) if is_request(name)]):
        pass
    return names


def test_a_command_that_is_not_confirmed_is_withdrawn(tmp_path: Path) -> None:
    watcher, other = WatcherChannel(tmp_path), WatcherChannel(tmp_path)
    # The call returns at once, because there is no watcher.
    assert not other.send_command(WatcherCommand(is_paused=True), 60)
    watcher.claim()
    watcher.publish(STATE)
    assert not other.send_command(WatcherCommand(is_paused=True), 0.05)
    assert not other.sync(0.05)
    assert not [name for name in os.listdir(watcher.folder) if is_request(name)]
    watcher.release(keep_state=False)


def test_a_probe_contains_no_command(tmp_path: Path) -> None:
    watcher = WatcherChannel(tmp_path)
    watcher.claim()
    probe = watcher.post_probe()
    assert probe is not None
    assert is_request(probe.name)
    assert watcher.read_command(probe.name) is None
    assert watcher.read_command("0-0.request") is None  # the sender has withdrawn the command
    assert probe.exists()
    watcher.release(keep_state=False)


def test_requests_to_an_earlier_watcher_are_dropped(tmp_path: Path) -> None:
    watcher = WatcherChannel(tmp_path)
    watcher.claim()
    probe = watcher.post_probe()
    assert probe is not None
    watcher.release(keep_state=False)
    watcher.claim()
    assert not probe.exists()
    watcher.release(keep_state=False)


def test_a_state_of_another_version_is_ignored(tmp_path: Path) -> None:
    channel = WatcherChannel(tmp_path)
    channel.claim()
    (channel.folder / "state.json").write_text('{"pid": 1, "mood": "good"}')
    assert channel.read_state() is None
    channel.release(keep_state=False)
