"""Processes that are started before it is known what they are to read."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import make_repository

from rootle.errors import IndexMissingError, IngestError
from rootle.index.local.writer_lock import writer_lock
from rootle.ingest.workers import scheduler, worker_pool, worker_process
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker_process import PrestartedWorkers

pytestmark = pytest.mark.prestarted_workers


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (worker_process, scheduler):
        monkeypatch.setattr(module, "worker_count", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_what_nobody_took_ends_and_what_was_taken_goes_on() -> None:
    early = PrestartedWorkers()
    early.start()
    early.start()  # they wait already
    taken = early.take()
    assert taken is not None
    (left,) = early._idle
    early.end()
    assert left.returncode is not None
    assert early.take() is None
    assert taken.poll() is None
    early.start()
    handed = early.hand_over()
    early.end()  # by another thread, say, that waits for this one
    assert handed.are_waiting()
    handed.end()
    assert not handed.are_waiting()
    taken.communicate()  # nobody has work for it any more
    assert taken.returncode == 0


def test_an_early_one_ends_with_its_parent() -> None:
    code = (
        "import os\n"
        "from rootle.ingest.workers.worker_process import PrestartedWorkers\n"
        "early = PrestartedWorkers()\n"
        "early.start()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    # The worker has the other end of the pipe that is read here: it ends when the worker does.
    done = subprocess.run(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=60, text=True
    )
    assert done.returncode == -9
    assert not done.stderr


@pytest.mark.usefixtures("two_cores")
def test_where_no_process_can_be_started_a_small_tree_is_indexed_all_the_same(
    repository: Path, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> subprocess.Popen[bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process, "start_worker", refused)
    assert make_app(repository).index().files_indexed > 0


@pytest.mark.usefixtures("two_cores")
def test_a_program_with_python_in_it_is_not_started_early(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> subprocess.Popen[bytes]:
        raise AssertionError("it was started")

    monkeypatch.setattr(worker_process, "start_worker", wrong)
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    PrestartedWorkers().start()
    monkeypatch.setattr(sys, "executable", "/opt/bin/python3.13")
    with pytest.raises(AssertionError, match="it was started"):
        PrestartedWorkers().start()


class Started(list[subprocess.Popen[bytes]]):
    """Every process that was started to read files, and whether there was an index folder then."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[bool] = []

    def have_ended(self) -> bool:
        return all(process.poll() is not None for process in self)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_cores: None) -> Started:
    found = Started()
    start = worker_process.start_worker

    def noted() -> subprocess.Popen[bytes]:
        found.late.append((tmp_path / "index").exists())
        found.append(start())
        return found[-1]

    for module in (worker_process, worker_pool):
        monkeypatch.setattr(module, "start_worker", noted)
    return found


@pytest.mark.parametrize("way", ["refresh", "index", "search"])
@pytest.mark.parametrize("files", [3, 300])
def test_a_first_index_starts_processes_at_once_and_leaves_none_behind(
    way: str, files: int, tmp_path: Path, make_app, started: Started
) -> None:
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(60))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": f"# {n}\n{text}" for n in range(files)})
    app = make_app(root)
    getattr(app, way)(*(["add 7"] if way == "search" else []))
    assert app.status().files == files
    # A program that asks may have had an index for long; only then it is worth a look.
    assert started.late == [way == "search"] * 2
    assert started.have_ended()
    (root / "new.py").write_text("def later(): ...\n")
    app.index()
    assert len(started) == 2  # little changed: nobody was started for it
    app.index(rebuild=True)
    assert len(started) == 4
    assert started.have_ended()


def test_whoever_waits_for_another_writer_keeps_no_processes(
    repository: Path, tmp_path: Path, make_app, started: Started
) -> None:
    notices: list[str] = []
    app = make_app(repository, notices=notices)
    waiting = threading.Thread(target=app.index)
    with writer_lock(tmp_path / "index", 0, lambda: None):
        waiting.start()
        deadline = time.monotonic() + 60
        while not notices and time.monotonic() < deadline:
            time.sleep(0.01)
        assert notices == ["waiting for another rootle process that is indexing this folder"]
        assert len(started) == 2
        assert started.have_ended()
    waiting.join(60)
    assert app.status().files > 0
    assert started.have_ended()


def test_processes_that_wait_are_used_for_less_than_new_ones_are_started_for(
    tmp_path: Path, make_app, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []

    def noted(jobs: Sequence[ReadJob], *rest: Any) -> Iterator[ReadResult]:
        runs.append(len(jobs))
        return worker_pool.run_jobs(jobs, *rest)

    monkeypatch.setattr(scheduler, "run_jobs", noted)
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(60))
    names = [f"a{n}.py" for n in range(100)]
    root = make_repository(tmp_path / "repo", dict.fromkeys(names, text))
    app = make_app(root)
    app.index()
    assert runs == [100]
    for name in names:
        (root / name).write_text(f"# changed\n{text}")
    assert app.index().files_indexed == 100
    assert runs == [100]
    assert len(started) == 2
    # What ended by itself cannot be meant to be used.
    early = PrestartedWorkers()
    early.start()
    assert early.are_waiting()
    for process in started[2:]:
        process.kill()
        process.wait()
    assert not early.are_waiting()
    early.end()


def test_batches_keep_the_order_and_get_smaller_towards_the_end() -> None:
    jobs = [ReadJob(f"{n}.py", 1_000 + n % 7 * 9_000, 0, 0, None) for n in range(200)]
    batches = worker_pool._make_batches(jobs, 2)
    assert [job for batch in batches for job in batch] == jobs
    sizes = [sum(job.size for job in batch) for batch in batches]
    assert max(sizes) == sizes[0] > 200_000
    assert max(sizes[-2:]) < 64_000
    # Of what is just worth several processes each gets a part.
    assert len(worker_pool._make_batches([ReadJob("a.py", 5_000, 0, 0, None)] * 31, 4)) >= 4


def test_the_process_that_writes_loads_no_grammar(tmp_path: Path) -> None:
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(700))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": text for n in range(30)})
    code = (
        "import sys\n"
        "from rootle import open_app\n"
        "from rootle.ingest.workers import scheduler, worker_process\n"
        "scheduler.worker_count = worker_process.worker_count = lambda: 2\n"
        f"report = open_app({str(root)!r}, index_dir={str(tmp_path / 'index')!r}).index()\n"
        "print(report.files_indexed, 'tree_sitter' in sys.modules)\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.split() == ["30", "False"]


def test_nobody_is_started_where_nothing_can_be_indexed(
    tmp_path: Path, make_app, started: Started
) -> None:
    for name in ("absent", "x" * 300):
        with pytest.raises(IngestError):
            make_app(tmp_path / name).refresh()
    with pytest.raises(IndexMissingError):
        make_app(tmp_path, enable_indexing=False).refresh()
    assert not started
