"""Atomic replacement of small JSON files."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rootle.storage.atomic_json import read_json, write_json


def test_an_object_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "state.json"
    write_json(path, {"a": 1, "b": ["ü", None]})
    assert read_json(path) == {"a": 1, "b": ["ü", None]}


def test_a_missing_file_reads_as_an_empty_object(tmp_path: Path) -> None:
    assert read_json(tmp_path / "missing.json") == {}
    assert read_json(tmp_path) == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b"\xff\0", b"[" * 100_000])
def test_a_damaged_file_reads_as_an_empty_object_and_is_deleted(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    assert read_json(path) == {}
    assert not path.exists()


def test_a_failed_write_keeps_the_old_file_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_json(tmp_path / "folder", {"a": 1})
    assert read_json(path) == {"a": 1}
    assert sorted(os.listdir(tmp_path)) == ["folder", "state.json"]


def test_a_file_is_readable_by_its_owner_only_unless_requested(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        write_json(tmp_path / "private.json", {})
        write_json(tmp_path / "public.json", {}, mode=0o644)
    finally:
        os.umask(previous)
    assert (tmp_path / "private.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "public.json").stat().st_mode & 0o777 == 0o644


@pytest.mark.slow
def test_a_reader_never_sees_a_partial_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"n": [0] * 10_000})
    has_ended = threading.Event()

    def rewrite() -> None:
        for number in range(200):
            write_json(path, {"n": [number] * 10_000})
        has_ended.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    reads = 0
    while not has_ended.is_set():
        numbers = read_json(path)["n"]
        assert len(numbers) == 10_000
        assert len(set(numbers)) == 1
        reads += 1
    writer.join()
    assert reads
