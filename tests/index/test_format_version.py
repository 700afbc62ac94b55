"""An index of an older format is rebuilt, and an index of a newer format is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rootle.errors import IndexMissingError, IndexStorageError
from rootle.index.format_version import FORMAT_VERSION, must_be_deleted, needs_tables
from rootle.index.local.database import DATABASE_NAME


def write_database(folder: Path, version: int) -> None:
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        connection.execute("CREATE TABLE files (id INTEGER)")
        connection.execute(f"PRAGMA user_version={version}")


def asks_for_tables(folder: Path, *, create: bool) -> bool:
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return needs_tables(connection, folder, create=create)


def test_an_index_of_this_format_is_opened(tmp_path: Path) -> None:
    write_database(tmp_path, FORMAT_VERSION)
    assert not must_be_deleted(tmp_path)
    assert not asks_for_tables(tmp_path, create=False)


def test_an_index_of_an_older_format_is_rebuilt_by_a_writer(tmp_path: Path) -> None:
    write_database(tmp_path, FORMAT_VERSION - 1)
    assert must_be_deleted(tmp_path)
    with pytest.raises(IndexMissingError, match="older version; run `rootle index`"):
        asks_for_tables(tmp_path, create=False)


def test_an_index_of_a_newer_format_is_refused_and_kept(tmp_path: Path) -> None:
    write_database(tmp_path, FORMAT_VERSION + 1)
    assert not must_be_deleted(tmp_path)
    for create in (False, True):
        with pytest.raises(IndexStorageError, match="newer version of rootle"):
            asks_for_tables(tmp_path, create=create)


def test_a_folder_without_a_database_is_started_over(tmp_path: Path) -> None:
    assert must_be_deleted(tmp_path)
    (tmp_path / DATABASE_NAME).touch()
    assert must_be_deleted(tmp_path)
    assert asks_for_tables(tmp_path, create=True)


def test_a_database_that_another_process_has_just_created_is_kept(tmp_path: Path) -> None:
    write_database(tmp_path, 0)
    assert not must_be_deleted(tmp_path)


def test_a_damaged_database_is_kept_until_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"not a database" * 100)
    assert not must_be_deleted(tmp_path)
