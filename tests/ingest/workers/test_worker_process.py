"""Worker processes: prestarted workers, batches, and the modules that the writing process loads."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import FILES, MakeApp, make_repository, write

from rootle.errors import IndexMissingError, IngestError
from rootle.index.local.writer_lock import writer_lock
from rootle.ingest.workers import scheduler, worker_pool, worker_process
from rootle.ingest.workers.jobs import ReadJob, ReadResult
from rootle.ingest.workers.worker_process import PRESTARTED_MIN_BYTES, PrestartedWorkers

pytestmark = [pytest.mark.prestarted_workers, pytest.mark.slow]


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (worker_process, scheduler):
        monkeypatch.setattr(module, "worker_count", lambda: 2)


@pytest.mark.usefixtures("two_cores")
def test_unused_prestarted_workers_are_ended_and_used_ones_keep_running() -> None:
    early = PrestartedWorkers()
    early.start()
    early.start()  # no effect, because workers are waiting already
    taken = early.take()
    assert taken is not None
    (left,) = early._idle
    early.end()
    assert left.returncode is not None
    assert early.take() is None
    assert taken.poll() is None
    early.start()
    handed = early.hand_over()
    early.end()  # may be called again, for example by another thread
    assert handed.are_waiting()
    handed.end()
    assert not handed.are_waiting()
    taken.communicate()  # closes the input of the worker
    assert taken.returncode == 0


def test_a_prestarted_worker_ends_with_its_parent() -> None:
    code = (
        "import os\n"
        "from rootle.ingest.workers.worker_process import PrestartedWorkers\n"
        "early = PrestartedWorkers()\n"
        "early.start()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    # The worker holds the write end of the pipe, so reading ends when the worker ends.
    done = subprocess.run(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=60, text=True
    )
    assert done.returncode == -9
    assert not done.stderr


@pytest.mark.usefixtures("two_cores")
def test_a_small_tree_is_indexed_if_no_process_can_be_started(
    repository: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> subprocess.Popen[bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process, "start_worker", refuse)
    assert make_app(repository).index().files_indexed > 0


@pytest.mark.usefixtures("two_cores")
def test_a_program_that_embeds_python_is_not_prestarted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> subprocess.Popen[bytes]:
        raise AssertionError("it was started")

    monkeypatch.setattr(worker_process, "start_worker", fail)
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    PrestartedWorkers().start()
    monkeypatch.setattr(sys, "executable", "/opt/bin/python3.13")
    with pytest.raises(AssertionError, match="it was started"):
        PrestartedWorkers().start()


class StartedWorkers(list[subprocess.Popen[bytes]]):
    """All worker processes, and whether the index folder existed when each was started."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[bool] = []

    def have_ended(self) -> bool:
        return all(process.poll() is not None for process in self)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_cores: None) -> StartedWorkers:
    found = StartedWorkers()
    start = worker_process.start_worker

    def start_and_record() -> subprocess.Popen[bytes]:
        found.late.append((tmp_path / "index").exists())
        found.append(start())
        return found[-1]

    for module in (worker_process, worker_pool):
        monkeypatch.setattr(module, "start_worker", start_and_record)
    return found


@pytest.mark.parametrize("method", ["refresh", "index", "search"])
def test_a_first_index_starts_workers_early_and_ends_them_all(
    method: str,
    tmp_path: Path,
    make_app: MakeApp,
    started: StartedWorkers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Fewer files than in normal use are worth the start of workers, so that the test is fast.
    monkeypatch.setattr(scheduler, "_PARALLEL_BYTES", 2 * PRESTARTED_MIN_BYTES)
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(60))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": f"# {n}\n{text}" for n in range(120)})
    app = make_app(root)
    getattr(app, method)(*(["add 7"] if method == "search" else []))
    assert app.status().files == 120
    # A search usually finds an index, so it starts workers only after it has found none.
    assert started.late == [method == "search"] * 2
    assert started.have_ended()
    (root / "new.py").write_text("def later(): ...\n")
    app.index()
    assert len(started) == 2  # one changed file needs no worker
    app.index(rebuild=True)
    assert len(started) == 4
    assert started.have_ended()


@pytest.mark.parametrize("method", ["refresh", "index", "search"])
def test_a_first_index_of_little_text_starts_no_workers(
    method: str, repository: Path, make_app: MakeApp, started: StartedWorkers
) -> None:
    write(repository, "node_modules/large.js", "let text = 1;\n" * 100_000)
    (repository / "outside").symlink_to(repository.parent / "large.txt")
    write(repository.parent, "large.txt", "text\n" * 100_000)
    app = make_app(repository)
    getattr(app, method)(*(["when was retry changed"] if method == "search" else []))
    app.index(rebuild=True)
    assert app.status().files == len(FILES)
    assert not started


def test_a_folder_with_many_entries_or_a_large_file_may_have_enough_text(tmp_path: Path) -> None:
    write(tmp_path, "small/a.txt", "x" * 149_999)
    assert not worker_process.has_enough_text(tmp_path)
    write(tmp_path, "b/c/d.txt", "x")
    assert worker_process.has_enough_text(tmp_path)
    for number in range(2_000):
        (tmp_path / "empty" / str(number)).mkdir(parents=True)
    assert worker_process.has_enough_text(tmp_path / "empty")
    assert not worker_process.has_enough_text(tmp_path / "absent")


def test_an_app_that_waits_for_another_writer_ends_its_workers(
    repository: Path, tmp_path: Path, make_app: MakeApp, started: StartedWorkers
) -> None:
    write(repository, "large.txt", "the text of a large file\n" * 8_000)
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


def test_an_aborted_run_ends_its_workers_and_starts_no_other(
    tmp_path: Path, make_app: MakeApp, started: StartedWorkers
) -> None:
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(60))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": f"# {n}\n{text}" for n in range(300)})

    def abort(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_app(root).index(abort)
    assert len(started) == 2
    assert started.have_ended()


def test_prestarted_workers_are_used_for_less_text_than_new_ones(
    tmp_path: Path, make_app: MakeApp, started: StartedWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []

    def run_and_record(jobs: Sequence[ReadJob], *rest: Any) -> Iterator[ReadResult]:
        runs.append(len(jobs))
        return worker_pool.run_jobs(jobs, *rest)

    monkeypatch.setattr(scheduler, "run_jobs", run_and_record)
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
    # Workers that have died do not count as waiting.
    early = PrestartedWorkers()
    early.start()
    assert early.are_waiting()
    for process in started[2:]:
        process.kill()
        process.wait()
    assert not early.are_waiting()
    early.end()


def test_batches_keep_the_order_and_are_smaller_at_the_start_and_toward_the_end() -> None:
    jobs = [ReadJob(f"{n}.py", 1_000 + n % 7 * 9_000, 0, 0, None) for n in range(200)]
    batches = worker_pool._make_batches(jobs, 2)
    assert [job for batch in batches for job in batch] == jobs
    sizes = [sum(job.size for job in batch) for batch in batches]
    assert max(sizes) > 200_000
    assert max(*sizes[:2], *sizes[-2:]) < 64_000
    # Every process gets a batch, even if there is little to read.
    assert len(worker_pool._make_batches([ReadJob("a.py", 5_000, 0, 0, None)] * 31, 4)) >= 4


def test_the_writing_process_loads_no_grammar(tmp_path: Path) -> None:
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(700))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": text for n in range(20)})
    code = (
        "import sys\n"
        "from rootle import open_app\n"
        "from rootle.ingest.workers import scheduler, worker_process\n"
        "scheduler.worker_count = worker_process.worker_count = lambda: 2\n"
        f"report = open_app({str(root)!r}, index_dir={str(tmp_path / 'index')!r}).index()\n"
        "print(report.files_indexed, 'tree_sitter' in sys.modules)\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.split() == ["20", "False"]


def test_no_worker_is_started_if_nothing_can_be_indexed(
    tmp_path: Path, make_app: MakeApp, started: StartedWorkers
) -> None:
    for name in ("absent", "x" * 300):
        with pytest.raises(IngestError):
            make_app(tmp_path / name).refresh()
    with pytest.raises(IndexMissingError):
        make_app(tmp_path, enable_indexing=False).refresh()
    assert not started
