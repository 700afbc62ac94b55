"""What is kept on disk, for how long, by how many processes, and how much of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rootle.web.url_cache import UrlCache

# Asks for keys again and again, each with a text that is known by its key and of half a megabyte.
_BUSY = """\
import sys
from pathlib import Path
from rootle.web.url_cache import UrlCache
cache = UrlCache(Path(sys.argv[1]), max_bytes=4_000_000)
for turn in range(int(sys.argv[2])):
    key = str(turn % 12)
    text = cache.fetch(key, lambda: key * 500_000)
    assert text == key * 500_000, f"{key}: {len(text)} characters"
    print(turn, flush=True)
"""


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def never() -> str:
    raise AssertionError("it is in the cache")


def start_busy(folder: Path, turns: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _BUSY, str(folder), str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_text_is_made_once(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path)
    assert cache.fetch("where is it", lambda: "hier: é 🙂") == "hier: é 🙂"
    assert UrlCache(tmp_path).fetch("where is it", never) == "hier: é 🙂"


def test_each_key_has_its_own(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path)
    cache.fetch("a", lambda: "1")
    assert cache.fetch("b", lambda: "2") == "2"
    assert cache.fetch("a", never) == "1"


def test_it_is_kept_for_a_day_where_nobody_says(tmp_path: Path) -> None:
    clock = Clock()
    cache = UrlCache(tmp_path, clock=clock)
    cache.fetch("a", lambda: "old")
    clock.now += 86_399
    assert cache.fetch("a", never) == "old"
    clock.now += 2
    assert cache.fetch("a", lambda: "new") == "new"
    assert cache.fetch("a", never) == "new"


def test_a_text_of_the_future_is_not_believed(tmp_path: Path) -> None:
    clock = Clock()
    UrlCache(tmp_path, clock=clock).fetch("a", lambda: "old")
    clock.now -= 10
    assert UrlCache(tmp_path, clock=clock).fetch("a", lambda: "new") == "new"


def test_what_fails_is_not_kept(tmp_path: Path) -> None:
    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        UrlCache(tmp_path).fetch("a", fail)
    assert UrlCache(tmp_path).fetch("a", lambda: "yes") == "yes"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\0", b'{"key": "a", "text": 1}'])
def test_a_broken_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    cache = UrlCache(tmp_path)
    cache.fetch("a", lambda: "1")
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache.fetch("a", lambda: "2") == "2"
    assert cache.fetch("a", never) == "2"


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = UrlCache(tmp_path / "file" / "below")
    assert cache.fetch("a", lambda: "1") == "1"
    assert cache.fetch("a", lambda: "2") == "2"


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    UrlCache(tmp_path / "new").fetch("a", lambda: "1")
    for path in (tmp_path / "new", *(tmp_path / "new").iterdir()):
        assert os.stat(path).st_mode & 0o077 == 0


def test_the_oldest_go_where_it_is_full(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path, max_bytes=100_000)
    for number in range(10):
        cache.fetch(str(number), lambda: "x" * 30_000)
    assert bytes_in(tmp_path) <= 100_000
    assert cache.fetch("9", never)
    assert cache.fetch("0", lambda: "anew") == "anew"


def test_many_processes_share_it(tmp_path: Path) -> None:
    busy = [start_busy(tmp_path, 60) for _ in range(4)]
    for process in busy:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert bytes_in(tmp_path) <= 4_000_000


def test_a_process_that_is_killed_leaves_nothing_broken(tmp_path: Path) -> None:
    for _ in range(4):
        victim = start_busy(tmp_path, 1_000_000)
        assert victim.stdout is not None
        for _ in range(9):
            victim.stdout.readline()
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=60)
        other = start_busy(tmp_path, 24)
        _, errors = other.communicate(timeout=60)
        assert other.returncode == 0, errors
    assert bytes_in(tmp_path) <= 4_000_000


def test_what_a_killed_process_left_half_written_goes_in_its_turn(tmp_path: Path) -> None:
    half = tmp_path / "tmp0123.new"
    half.write_bytes(b"x" * 50_000)
    os.utime(half, (time.time() - 9, time.time() - 9))
    cache = UrlCache(tmp_path, max_bytes=60_000)
    cache.fetch("a", lambda: "x" * 30_000)
    assert not half.exists()
    assert cache.fetch("a", never)
