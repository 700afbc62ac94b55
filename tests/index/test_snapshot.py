"""Snapshots: one generation of the database and the derived indexes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sample import MakeApp, write

from rootle.errors import IndexStorageError
from rootle.index.local.database import open_database
from rootle.index.local.manifest import ONLY_ADDED_SINCE, Manifest
from rootle.index.local.snapshot_source import open_snapshot
from rootle.index.remote.replica_state import ReplicaState, dump_state, state_key
from rootle.storage.transaction import write_transaction


def test_files_that_a_replica_lacks_are_the_changed_and_the_removed_ones(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    generation = app.index().generation
    with closing(open_database(tmp_path / "index", create=False)) as connection:
        state = dump_state(ReplicaState("a server", "a-replica", generation))
        with write_transaction(connection):
            Manifest(connection).set_value(state_key("dense"), state)
    write(repository, "src/store/cache.py", "class LruCache: ...\n")
    for path in ("README.md", "docs/guide.md"):
        (repository / path).unlink()
    app.index()
    assert open_snapshot(tmp_path / "index").files_changed_since(generation) == 3


def test_an_interrupted_update_is_not_searched_even_if_an_unfinished_first_index_may_be(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    make_app(repository).index()
    with closing(open_database(tmp_path / "index", create=False)) as connection:
        manifest = Manifest(connection)
        assert manifest.value(ONLY_ADDED_SINCE)
        with write_transaction(connection):
            manifest.increment_generation()
    with pytest.raises(IndexStorageError, match="is not complete"):
        open_snapshot(tmp_path / "index", unfinished=True, tries=1)


def test_the_states_of_all_files_are_read_once_and_do_not_change(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    app.index()
    snapshot = open_snapshot(tmp_path / "index")
    before = {state.path for state in snapshot.all_files()}
    statements: list[str] = []
    snapshot._connection.set_trace_callback(statements.append)
    write(repository, "src/store/added.py", "class Added: ...\n")
    app.index()
    assert {state.path for state in snapshot.all_files()} == before
    assert statements == []
    after = {state.path for state in open_snapshot(tmp_path / "index").all_files()}
    assert after == before | {"src/store/added.py"}
