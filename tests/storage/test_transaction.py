"""Write transactions commit or roll back as a whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rootle.storage.transaction import write_transaction


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "test.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
        yield connection


def read_numbers(tmp_path: Path) -> list[int]:
    with closing(sqlite3.connect(tmp_path / "test.db")) as other:
        return [number for (number,) in other.execute("SELECT n FROM numbers ORDER BY n")]


def test_a_block_is_committed_at_its_end(connection: sqlite3.Connection, tmp_path: Path) -> None:
    with write_transaction(connection):
        connection.execute("INSERT INTO numbers VALUES (1)")
        assert read_numbers(tmp_path) == []
    assert read_numbers(tmp_path) == [1]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_raises_is_rolled_back(
    connection: sqlite3.Connection, tmp_path: Path, error: type[BaseException]
) -> None:
    def fail() -> None:
        connection.execute("INSERT INTO numbers VALUES (1)")
        raise error

    with pytest.raises(error), write_transaction(connection):
        fail()
    with write_transaction(connection):
        connection.execute("INSERT INTO numbers VALUES (2)")
    assert read_numbers(tmp_path) == [2]


def test_two_connections_do_not_write_at_once(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "test.db", isolation_level=None, timeout=0)) as other:
        with (
            write_transaction(connection),
            pytest.raises(sqlite3.OperationalError, match="locked"),
            write_transaction(other),
        ):
            pass
        with write_transaction(other):
            other.execute("INSERT INTO numbers VALUES (3)")
    assert read_numbers(tmp_path) == [3]
