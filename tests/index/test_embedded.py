"""The embedded indexes and the database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rootle.errors import IndexMissingError, IndexStorageError, UnavailableError
from rootle.index.local.database import open_database, storage_errors
from rootle.index.local.docstore import DocStore, compress_text
from rootle.index.local.manifest import Manifest
from rootle.index.local.vector_matrix import matrix_files
from rootle.index.local.vector_matrix.reader import EmbeddedDense
from rootle.index.local.vector_matrix.writer import DenseWriter
from rootle.index.local.writer_lock import writer_lock
from rootle.index.reader import FileState
from rootle.storage.quantization import quantize
from rootle.storage.transaction import write_transaction

_RNG = np.random.default_rng(11)


def _rows(count: int) -> list[bytes]:
    return [row.tobytes() for row in quantize(_RNG.normal(size=(count, 32)).astype(np.float32))]


def test_the_scan_is_exact_and_ordered(tmp_path: Path) -> None:
    vectors = quantize(_RNG.normal(size=(500, 32)).astype(np.float32))
    writer = DenseWriter(tmp_path, 32)
    for number, row in enumerate(vectors):
        writer.add(number + 1, number // 10, row.tobytes())
    writer.commit(1)
    question = _RNG.normal(size=32).astype(np.float32)
    asked = quantize(question[None, :])[0].astype(np.float64)
    exact = vectors.astype(np.float64) @ asked
    exact /= np.linalg.norm(vectors.astype(np.float64), axis=1) * np.linalg.norm(asked)
    found = EmbeddedDense(tmp_path).query(question, 20)
    assert found.ids.tolist() == (np.argsort(-exact)[:20] + 1).tolist()
    assert np.allclose(found.scores, np.sort(exact)[::-1][:20], atol=1e-5)
    scan = EmbeddedDense(tmp_path).nearest(question, 20).scan
    assert scan is not None
    assert np.allclose(scan, exact, atol=1e-5)
    some = EmbeddedDense(tmp_path).query(question, 20, files={3, 7})
    assert set(some.ids.tolist()) == {*range(31, 41), *range(71, 81)}


def test_new_readers_do_not_find_removed_rows_and_open_readers_do(tmp_path: Path) -> None:
    writer = DenseWriter(tmp_path, 32)
    for number, row in enumerate(_rows(2_000)):
        writer.add(number, number % 4, row)
    writer.commit(1)
    reader = EmbeddedDense(tmp_path)
    question = _RNG.normal(size=32).astype(np.float32)
    before = reader.query(question, 2_000).ids.tolist()
    writer = DenseWriter(tmp_path, 32)
    writer.remove_files({0, 1, 2})  # enough removed rows to trigger a rewrite of the live rows
    writer.commit(2)
    assert reader.query(question, 2_000).ids.tolist() == before
    now = EmbeddedDense(tmp_path)
    assert now.generation == 2
    assert sorted(now.query(question, 2_000).ids.tolist()) == list(range(3, 2_000, 4))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "dense.json",
        "heads-2.bin",
        "rows-2.bin",
        "tails-2.bin",
    ]


def test_rows_of_an_interrupted_run_are_ignored(tmp_path: Path) -> None:
    writer = DenseWriter(tmp_path, 32)
    for number, row in enumerate(_rows(10)):
        writer.add(number, 1, row)
    writer.commit(1)
    cut_short = DenseWriter(tmp_path, 32)
    for number, row in enumerate(_rows(9_000)):
        cut_short.add(number + 100, 2, row)
    assert len(EmbeddedDense(tmp_path).chunk_ids) == 10
    after = DenseWriter(tmp_path, 32)
    after.add(50, 3, _rows(1)[0])
    after.commit(2)
    assert EmbeddedDense(tmp_path).chunk_ids.tolist() == [*range(10), 50]


def test_an_empty_matrix_returns_no_hits(tmp_path: Path) -> None:
    DenseWriter(tmp_path, 32).commit(1)
    found = EmbeddedDense(tmp_path).query(np.ones(32, np.float32), 5)
    assert found.ids.tolist() == []
    assert matrix_files.stored_generation(tmp_path, 32) == 1
    assert matrix_files.stored_generation(tmp_path / "nowhere", 32) is None


def _write_rows(folder: Path, *chunk_ids: int) -> None:
    writer = DenseWriter(folder, 32)
    for chunk_id, row in zip(chunk_ids, _rows(len(chunk_ids)), strict=True):
        writer.add(chunk_id, 1, row)
    writer.commit(1)


def test_rows_are_not_kept_after_a_matrix_is_discarded(tmp_path: Path) -> None:
    _write_rows(tmp_path, 1, 2)
    matrix_files.discard(tmp_path)
    assert matrix_files.stored_generation(tmp_path, 32) is None
    _write_rows(tmp_path, 3)
    assert EmbeddedDense(tmp_path).chunk_ids.tolist() == [3]


def test_a_matrix_of_another_format_or_with_missing_rows_is_not_used(tmp_path: Path) -> None:
    _write_rows(tmp_path, 1, 2)
    state = tmp_path / "dense.json"
    text = state.read_text()
    data = json.loads(text)
    state.write_text(json.dumps({**data, "format": data["format"] + 1}))
    assert matrix_files.stored_generation(tmp_path, 32) is None
    state.write_text(text)
    assert matrix_files.stored_generation(tmp_path, 32) == 1
    (heads,) = tmp_path.glob("heads-*.bin")
    heads.write_bytes(heads.read_bytes()[:-1])
    with pytest.raises(IndexStorageError, match="damaged"):
        matrix_files.read_state(tmp_path)


def test_stored_texts_are_returned_unchanged(tmp_path: Path) -> None:
    connection = open_database(tmp_path, create=True)
    store = DocStore(connection)
    texts = [
        "",
        "a",
        "one\r\ntwo\n",
        "zwölf 重试 \U0001f600",
        "half a pair: \ud83d",
        "x\n" * 300_000,
    ]
    with write_transaction(connection):
        for file_id, text in enumerate(texts, start=1):
            store.replace(file_id, compress_text(text), [], 1)
    assert [store.text(file_id) for file_id in range(1, len(texts) + 1)] == texts
    connection.close()


def test_a_transaction_is_atomic(tmp_path: Path) -> None:
    connection = open_database(tmp_path, create=True)
    manifest = Manifest(connection)

    def write_half() -> None:
        with write_transaction(connection):
            manifest.increment_generation()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert manifest.generation() == 0
    connection.close()


def test_chunk_ids_are_never_reused(tmp_path: Path) -> None:
    connection = open_database(tmp_path, create=True)
    store = DocStore(connection)
    with write_transaction(connection):
        first = store.replace(1, compress_text("a"), [_chunk()], 1)
        store.remove(1, 2)
        second = store.replace(1, compress_text("b"), [_chunk()], 3)
    assert second.start > first.start
    assert store.count() == 1
    assert store.known_vectors(9, [77]) == {77: b"\1" * 4}
    connection.close()


def _chunk() -> Any:
    from types import SimpleNamespace

    return SimpleNamespace(
        start_line=1, end_line=1, start=0, end=1, symbols=("x",), scope="", key=77, vector=b"\1" * 4
    )


def test_the_manifest_stores_file_names_that_are_not_utf_8(tmp_path: Path) -> None:
    connection = open_database(tmp_path, create=True)
    manifest = Manifest(connection)
    path = b"caf\xe9\n.py".decode("utf-8", "surrogateescape")
    state = FileState(0, path, 1, 2, 3, b"x", None, "python", "utf-8", 1, 0, None, True, 1)
    with write_transaction(connection):
        file_id = manifest.put(state)
    assert manifest.files_by_id([file_id, 999])[file_id].path == path
    changed, removed = manifest.list_changes_since(0)
    assert ([s.path for s in changed], removed) == ([path], [])
    with write_transaction(connection):
        manifest.remove(file_id, 2)
    assert manifest.list_changes_since(1) == ([], [file_id])
    connection.close()


def test_a_locked_database_is_not_reported_as_damaged(tmp_path: Path) -> None:
    open_database(tmp_path, create=True).close()
    path = tmp_path / "rootle.db"
    with closing(sqlite3.connect(path)) as writer, closing(sqlite3.connect(path)) as other:
        writer.execute("BEGIN IMMEDIATE")
        other.execute("PRAGMA busy_timeout = 0")
        with (
            pytest.raises(IndexStorageError, match="another process has locked the index at"),
            storage_errors(tmp_path),
        ):
            other.execute("BEGIN IMMEDIATE")


def test_a_missing_database_is_created_only_on_request(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="rootle index"):
        open_database(tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_held_lock_raises_an_error_after_the_timeout(tmp_path: Path) -> None:
    waits: list[str] = []
    with (
        writer_lock(tmp_path, 0, lambda: None),
        pytest.raises(UnavailableError, match="another rootle process"),
        writer_lock(tmp_path, 0.01, lambda: waits.append("waiting")),
    ):
        pass
    assert waits == ["waiting"]
    with writer_lock(tmp_path, 0, lambda: waits.append("again")):
        assert waits == ["waiting"]


def test_scores_of_selected_rows_equal_those_of_a_full_scan(tmp_path: Path) -> None:
    writer = DenseWriter(tmp_path, 32)
    for number, row in enumerate(_rows(200)):
        writer.add(number + 1, number // 10, row)
    writer.commit(1)
    writer = DenseWriter(tmp_path, 32)
    writer.remove_files([3])
    writer.commit(2)
    index = EmbeddedDense(tmp_path)
    assert index.count == 190  # the deleted rows do not count
    question = _RNG.normal(size=32).astype(np.float32)
    rows = np.array([0, 7, 35, 199])
    some = index.score_rows(question, rows)
    assert np.allclose(some, index.scores(question)[rows], atol=1e-6, equal_nan=True)
    assert np.isnan(some).tolist() == [False, False, True, False]  # the third row is deleted


def _make_graded_vectors(count: int, dimensions: int = 64) -> NDArray[np.float32]:
    """Return vectors with decreasing variance per dimension, like those of the shipped model."""
    scale = 1 / np.sqrt(1 + np.arange(dimensions))
    return (_RNG.normal(size=(count, dimensions)) * scale).astype(np.float32)


@pytest.mark.slow
def test_a_large_matrix_returns_nearly_all_nearest_rows_with_exact_cosines(
    tmp_path: Path,
) -> None:
    writer = DenseWriter(tmp_path, 64)
    for number, row in enumerate(quantize(_make_graded_vectors(20_000))):
        writer.add(number + 1, number // 10, row.tobytes())
    writer.commit(1)
    writer = DenseWriter(tmp_path, 64)
    writer.remove_files(range(0, 2_000, 50))
    writer.commit(2)
    quick, thorough = EmbeddedDense(tmp_path, many_rows=1), EmbeddedDense(tmp_path, many_rows=10**9)
    assert quick.is_large
    assert not thorough.is_large
    shares = []
    for question in _make_graded_vectors(20):
        found, exact = quick.query(question, 100), thorough.query(question, 100)
        assert len(found.ids) == len(exact.ids) == 100
        true = dict(zip(exact.ids.tolist(), exact.scores.tolist(), strict=True))
        both = [
            (at, s) for at, s in zip(found.ids.tolist(), found.scores, strict=True) if at in true
        ]
        assert all(abs(true[at] - score) < 1e-6 for at, score in both)
        assert found.ids[:5].tolist() == exact.ids[:5].tolist()
        guesses = quick.nearest(question, 100).scan
        assert guesses is not None
        alive = ~np.isnan(guesses)
        assert alive.tolist() == (~np.isnan(thorough.scores(question))).tolist()
        together = np.corrcoef(guesses[alive], thorough.scores(question)[alive])[0, 1]
        assert together > 0.9
        shares.append(len(both) / 100)
        few = quick.query(question, 20, files={3, 7, 50})  # file 50 was removed
        assert set(few.ids.tolist()) == {*range(31, 41), *range(71, 81)}
    assert np.mean(shares) > 0.97


def test_vectors_with_little_norm_in_their_first_half_are_scanned_completely(
    tmp_path: Path,
) -> None:
    writer = DenseWriter(tmp_path, 32)
    for number, row in enumerate(_rows(500)):
        writer.add(number + 1, 1, row)
    writer.commit(1)
    assert not EmbeddedDense(tmp_path, many_rows=1).is_large
