"""Replication in a background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rootle.errors import IndexStorageError
from rootle.index.remote.background_replication import Replicator
from rootle.index.remote.replication import Replication


class _FakeReplication:
    """A replication whose runs wait until they are allowed to end."""

    def __init__(self, *, fails: bool = False) -> None:
        self.target = SimpleNamespace(leg="dense")
        self.fails = fails
        self.runs = 0
        self.has_started = threading.Semaphore(0)
        self.may_end = threading.Semaphore(0)

    def run(self, should_continue: Callable[[], bool], **options: Any) -> None:
        assert should_continue()
        self.runs += 1
        self.has_started.release()
        assert self.may_end.acquire(timeout=60)
        if self.fails:
            raise IndexStorageError("the index is damaged")


def _start(replication: _FakeReplication) -> Replicator:
    replicator = Replicator(cast("Replication", replication))
    replicator.wake()
    assert replication.has_started.acquire(timeout=60)
    return replicator


@pytest.mark.parametrize("fails", [False, True])
def test_each_request_after_a_run_starts_another_run(fails: bool) -> None:
    replication = _FakeReplication(fails=fails)
    replicator = _start(replication)
    replication.may_end.release()
    replicator.wait(60)
    assert replication.runs == 1
    replicator.wake()
    replication.may_end.release()
    replicator.wait(60)
    assert replication.runs == 2


def test_all_requests_during_a_run_start_one_more_run() -> None:
    replication = _FakeReplication()
    replicator = _start(replication)
    for _ in range(3):
        replicator.wake()
    for _ in range(3):
        replication.may_end.release()
    replicator.wait(60)
    assert replication.runs == 2


def test_no_run_starts_after_closing() -> None:
    replication = _FakeReplication()
    replicator = _start(replication)
    replicator.wake()
    replicator.close()
    replication.may_end.release()
    replicator.wait(60)
    replicator.wake()
    assert replication.runs == 1
