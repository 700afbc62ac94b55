"""The cache of texts on disk: lifetime, eviction, damaged files, concurrent processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rootle.web.url_cache import UrlCache

# Fetches twelve keys in turn, each with a text of half a megabyte that depends on the key.
_LOOP = """\
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


def fail_if_called() -> str:
    raise AssertionError("the text is in the cache")


def start_process(folder: Path, turns: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _LOOP, str(folder), str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_a_text_is_computed_once(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path)
    assert cache.fetch("where is it", lambda: "hier: é 🙂") == "hier: é 🙂"
    assert UrlCache(tmp_path).fetch("where is it", fail_if_called) == "hier: é 🙂"


def test_each_key_has_its_own_text(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path)
    cache.fetch("a", lambda: "1")
    assert cache.fetch("b", lambda: "2") == "2"
    assert cache.fetch("a", fail_if_called) == "1"


def test_a_text_is_cached_for_a_day_by_default(tmp_path: Path) -> None:
    clock = Clock()
    cache = UrlCache(tmp_path, clock=clock)
    cache.fetch("a", lambda: "old")
    clock.now += 86_399
    assert cache.fetch("a", fail_if_called) == "old"
    clock.now += 2
    assert cache.fetch("a", lambda: "new") == "new"
    assert cache.fetch("a", fail_if_called) == "new"


def test_a_text_with_a_time_in_the_future_is_ignored(tmp_path: Path) -> None:
    clock = Clock()
    UrlCache(tmp_path, clock=clock).fetch("a", lambda: "old")
    clock.now -= 10
    assert UrlCache(tmp_path, clock=clock).fetch("a", lambda: "new") == "new"


def test_failures_are_not_cached(tmp_path: Path) -> None:
    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        UrlCache(tmp_path).fetch("a", fail)
    assert UrlCache(tmp_path).fetch("a", lambda: "yes") == "yes"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\0", b'{"key": "a", "text": 1}'])
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    cache = UrlCache(tmp_path)
    cache.fetch("a", lambda: "1")
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache.fetch("a", lambda: "2") == "2"
    assert cache.fetch("a", fail_if_called) == "2"


def test_a_folder_that_is_not_writable_disables_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = UrlCache(tmp_path / "file" / "below")
    assert cache.fetch("a", lambda: "1") == "1"
    assert cache.fetch("a", lambda: "2") == "2"


def test_only_the_owner_can_read_the_cache(tmp_path: Path) -> None:
    UrlCache(tmp_path / "new").fetch("a", lambda: "1")
    for path in (tmp_path / "new", *(tmp_path / "new").iterdir()):
        assert os.stat(path).st_mode & 0o077 == 0


def test_the_oldest_texts_are_evicted(tmp_path: Path) -> None:
    cache = UrlCache(tmp_path, max_bytes=100_000)
    for number in range(10):
        cache.fetch(str(number), lambda: "x" * 30_000)
    assert bytes_in(tmp_path) <= 100_000
    assert cache.fetch("9", fail_if_called)
    assert cache.fetch("0", lambda: "again") == "again"


def test_expired_texts_are_deleted(tmp_path: Path) -> None:
    UrlCache(tmp_path, 60).fetch("a", lambda: "1")
    (kept,) = tmp_path.iterdir()
    # The project that stores a text determines the lifetime of the text.
    UrlCache(tmp_path, -1).fetch("secret question", lambda: "2")
    assert list(tmp_path.iterdir()) == [kept]
    assert UrlCache(tmp_path, 60).fetch("a", fail_if_called) == "1"


@pytest.mark.slow
def test_several_processes_can_use_one_cache(tmp_path: Path) -> None:
    processes = [start_process(tmp_path, 60) for _ in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    assert bytes_in(tmp_path) <= 4_000_000


@pytest.mark.slow
def test_a_killed_process_damages_no_entry(tmp_path: Path) -> None:
    for _ in range(4):
        victim = start_process(tmp_path, 1_000_000)
        assert victim.stdout is not None
        for _ in range(9):
            victim.stdout.readline()
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=60)
        other = start_process(tmp_path, 24)
        _, errors = other.communicate(timeout=60)
        assert other.returncode == 0, errors
    assert bytes_in(tmp_path) <= 4_000_000


def test_a_partial_file_of_a_killed_process_is_evicted(tmp_path: Path) -> None:
    partial = tmp_path / "tmp0123.new"
    partial.write_bytes(b"x" * 50_000)
    os.utime(partial, (time.time() - 9, time.time() - 9))
    cache = UrlCache(tmp_path, max_bytes=60_000)
    cache.fetch("a", lambda: "x" * 30_000)
    assert not partial.exists()
    assert cache.fetch("a", fail_if_called)
