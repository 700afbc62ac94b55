"""A rotating file: complete lines, limited in size, private, and shared by many processes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import pytest
from command import start_rootle

from rootle.storage.rotating_file import RotatingFile


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state" / "rootle" / "log.jsonl"
    RotatingFile(path).append(b"line\n")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700


def test_a_folder_that_another_process_creates_meanwhile_is_used(tmp_path: Path) -> None:
    path = tmp_path / "rootle" / "log.jsonl"

    class Delayed(RotatingFile):
        def _open(self) -> int:
            try:
                return super()._open()
            finally:
                path.parent.mkdir(exist_ok=True)

    Delayed(path).append(b"line\n")
    assert path.read_bytes() == b"line\n"


def test_the_size_is_limited_and_the_newest_lines_are_kept(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "log.jsonl", max_bytes=10_000)
    for number in range(10_000):
        file.append(b"line %d\n" % number)
    files = sorted(tmp_path.iterdir())
    assert sum(one.stat().st_size for one in files) < 3 * 10_000
    kept = read_lines(files)
    assert kept == [f"line {number}" for number in range(10_000 - len(kept), 10_000)]
    assert sum(len(line) + 1 for line in kept) > 10_000


def test_the_full_files_are_deleted_too(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "log.jsonl", max_bytes=10)
    for _ in range(5):
        file.append(b"a line\n")
    assert len(list(tmp_path.iterdir())) > 1
    (tmp_path / "other.jsonl").write_bytes(b"")
    file.delete()
    assert [one.name for one in tmp_path.iterdir()] == ["other.jsonl"]


@pytest.mark.slow
def test_concurrent_processes_lose_no_line(tmp_path: Path) -> None:
    path, count, each = tmp_path / "log.jsonl", 4, 500
    run_writers(path, count, each, max_bytes=3_000)  # rotated about six times
    files = list(tmp_path.iterdir())
    assert len(files) >= 2
    kept = read_lines(files)
    assert len(kept) == len(set(kept)) > 200
    assert sum(file.stat().st_size for file in files) < 4 * 3_000
    for file in files:
        file.unlink()
    run_writers(path, count, each, max_bytes=1 << 30)
    assert len(read_lines([path])) == count * each


def read_lines(files: Iterable[Path]) -> list[str]:
    return [line for file in files for line in file.read_text().splitlines()]


def run_writers(path: Path, count: int, each: int, *, max_bytes: int) -> None:
    arguments = (str(path), str(each), str(max_bytes))
    writers = [start_rootle(*arguments, str(number), program=_WRITER) for number in range(count)]
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert (writer.returncode, err) == (0, b"")


_WRITER = """
import sys
from pathlib import Path
from rootle.storage.rotating_file import RotatingFile
path, each, max_bytes, name = sys.argv[1:]
file = RotatingFile(Path(path), max_bytes=int(max_bytes))
for number in range(int(each)):
    file.append(f"{name}/{number}\\n".encode())
"""
