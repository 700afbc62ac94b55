"""After disk read errors, nothing is lost, and answers equal those of a new index."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from benchmarks.reliability.fault_injection import NO_FAULTS, FaultInjector, Faults
from benchmarks.reliability.services import McpServer, Place, memory_command
from sample import FILES, QUESTIONS, MakeApp, make_repository, many_files, write

from rootle import App, open_app
from rootle.errors import IndexStorageError, MemoryStorageError, UnreadableIndexError
from rootle.index.local.snapshot_source import SnapshotSource
from rootle.memory.database import open_database, storage_errors
from rootle.serialization.json import to_json
from rootle.types import SearchQuery

_EVERY_READ = Faults(read_errno=errno.EIO)


class FailingReads:
    """Faults in some reads of an index file, which is given by its name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._name = ""
        self._numbers = range(0)
        self._count = 0
        self._read = Path.read_bytes
        monkeypatch.setattr(Path, "read_bytes", lambda path: self._read_or_fail(path))

    def start(self, name: str, numbers: range) -> None:
        """Make the reads with these numbers fail; the next read of the file has the number 1."""
        self._name, self._numbers, self._count = name, numbers, 0

    def stop(self) -> bool:
        """Let all reads succeed again, and return whether one has failed."""
        self._name = ""
        return self._count >= self._numbers.start

    def _read_or_fail(self, path: Path) -> bytes:
        if path.name == self._name:
            self._count += 1
            if self._count in self._numbers:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._read(path)


def _answers(app: App) -> list[Any]:
    found = [to_json(app.search(SearchQuery(question))) for question in QUESTIONS]
    for answer in found:
        assert answer["degraded"] == []
        for name in ("tookMs", "generation", "nextCursor"):
            del answer[name]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["content", "dense.json", "words.json"])
def test_an_update_during_a_read_error_replaces_nothing(
    name: str, tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "repository", {**FILES, **many_files(5)})
    make_app(root).index(rebuild=True)
    # An index gets the file `content` when it is replaced for the first time.
    make_app(root).index(rebuild=True)
    fault = FailingReads(monkeypatch)
    number = 0
    has_failed = True
    while has_failed:
        number += 1
        write(root, "src/edited.py", f"def edited_{number}(): return {number}\n")
        app = make_app(root)
        before = app.status().generation
        fault.start(name, range(number, number + 1))
        with suppress(IndexStorageError):
            app.index()
        has_failed = fault.stop()
        assert app.index().generation >= before  # a new index would start again at 1
        with open_app(root, index_dir=tmp_path / f"new-{number}") as new:
            assert _answers(app) == _answers(new), f"after the failure of read {number}"
        app.close()
    assert number > 1  # at least one read has failed


@pytest.mark.parametrize("name", ["dense.json", "words.json"])
def test_an_outdated_snapshot_is_not_used_if_the_newest_one_cannot_be_read(
    name: str, repository: Path, tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(repository)
    app.index()
    snapshots = SnapshotSource(tmp_path / "index")
    before = snapshots.current().generation
    write(repository, "src/edited.py", "def edited(): ...\n")
    app.index()
    fault = FailingReads(monkeypatch)
    fault.start(name, range(1, 1_000))
    with pytest.raises(UnreadableIndexError, match="check the disk and try again"):
        snapshots.current()
    fault.start(name, range(1, 2))
    assert snapshots.current().generation > before
    snapshots.close()


@pytest.fixture
def injector(tmp_path: Path) -> FaultInjector:
    (tmp_path / "home").mkdir(mode=0o700)
    return FaultInjector(tmp_path, tmp_path / "home")


@pytest.fixture
def place(injector: FaultInjector, tmp_path: Path) -> Place:
    home = tmp_path / "home"
    names = ("CACHE", "CONFIG", "DATA", "STATE")
    folders = {f"XDG_{name}_HOME": os.fspath(home / name.lower()) for name in names}
    root = make_repository(tmp_path / "repository", FILES)
    (tmp_path / "logs").mkdir()
    environment = {**injector.environment, **folders, "HOME": os.fspath(home)}
    return Place(root, home / "index", tmp_path / "logs", environment)


@pytest.fixture
def server(place: Place) -> Iterator[McpServer]:
    server = McpServer(place, 0o077)
    yield server
    server.stop()


def _add(place: Place, fact: str) -> None:
    assert memory_command(place, 0o077, "add", fact).finish()[0] == 0


def _list(place: Place) -> set[str]:
    _, out = memory_command(place, 0o077, "list", "--json").finish()
    return {memory["text"] for memory in json.loads(out)}


@pytest.mark.slow
def test_memories_that_are_stored_after_a_read_error_are_not_lost(
    injector: FaultInjector, place: Place, server: McpServer
) -> None:
    assert server.remember("The first fact is about the oak")
    _add(place, "The second fact is about the birch")
    injector.inject(_EVERY_READ)
    assert server.recall("the birch") is None
    injector.inject(NO_FAULTS)
    # The server still has the database open, so this command must not delete the write-ahead log.
    _add(place, "The third fact is about the elm")
    assert server.remember("The fourth fact is about the ash")
    assert len(_list(place)) == 4


@pytest.mark.slow
def test_an_unreadable_memory_store_is_not_replaced(
    injector: FaultInjector, place: Place, server: McpServer
) -> None:
    _add(place, "The user likes tabs")
    injector.inject(_EVERY_READ)
    command = memory_command(place, 0o077, "list")
    assert command.finish()[0] == 2
    assert len(command.messages.splitlines()) == 1
    assert "check the disk and try again" in command.messages
    assert not server.remember("The user likes spaces")
    injector.inject(NO_FAULTS)
    assert _list(place) == {"The user likes tabs"}


def test_a_locked_memory_store_that_seems_damaged_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memories.db"
    open_database(path).close()
    monkeypatch.setattr("rootle.memory.database._BUSY_TIMEOUT_S", 0.05)
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA locking_mode=EXCLUSIVE")
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(MemoryStorageError, match="the file is unchanged"), storage_errors(path):
            raise error
    assert [file.name for file in tmp_path.glob("*damaged*")] == []
