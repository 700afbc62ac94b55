"""The state that a watcher publishes, and the warnings about its failures."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rootle.indexing.watch.state_publisher import StatePublisher
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_state import WatcherCommand, WatcherState


@pytest.fixture
def channel(tmp_path: Path) -> WatcherChannel:
    return WatcherChannel(tmp_path)


def test_a_state_contains_the_command_and_the_waiting_files(channel: WatcherChannel) -> None:
    publisher = StatePublisher(channel, lambda message: None)
    publisher.publish(
        WatcherCommand(is_paused=True, min_interval_s=5.0), 3, time.monotonic() - 60, generation=7
    )
    state = channel.read_state()
    assert state is not None
    assert state.waiting_since == pytest.approx(time.time() - 60, abs=5)
    assert state == WatcherState(
        os.getpid(),
        is_ready=False,
        committed_at=None,
        generation=7,
        waiting=3,
        waiting_since=state.waiting_since,
        is_paused=True,
        min_interval_s=5.0,
    )
    publisher.publish(WatcherCommand(), 0, None)
    state = channel.read_state()
    assert state is not None
    assert (state.waiting, state.waiting_since, state.generation) == (0, None, 7)


def test_a_failure_and_a_recovery_are_reported_once(channel: WatcherChannel) -> None:
    warnings: list[str] = []
    publisher = StatePublisher(channel, warnings.append)
    for error in (None, "the disk is full", "the disk is full", None, None):
        publisher.publish(WatcherCommand(), 0, None, error=error)
    assert warnings == ["the watcher failed: the disk is full", "the watcher has recovered"]


def test_another_failure_is_reported_too(channel: WatcherChannel) -> None:
    warnings: list[str] = []
    publisher = StatePublisher(channel, warnings.append)
    for error in ("one", "another"):
        publisher.publish(WatcherCommand(), 0, None, error=error)
    assert warnings == ["the watcher failed: one", "the watcher failed: another"]
