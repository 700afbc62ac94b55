"""Processes that are started before it is known what they are to read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample import make_repository

from rootle import indexer
from rootle.ingest import pipeline, worker_process, workers
from rootle.ingest.worker_process import EarlyWorkers


def test_what_nobody_took_ends_and_what_was_taken_goes_on() -> None:
    with EarlyWorkers(2) as early:
        taken = early.take()
        assert taken is not None
        (left,) = early._idle
    assert left.returncode is not None
    assert early.take() is None
    assert taken.poll() is None
    taken.communicate()  # nobody has work for it any more
    assert taken.returncode == 0


def test_an_early_one_ends_with_its_parent() -> None:
    code = (
        "import os\n"
        "from rootle.ingest.worker_process import EarlyWorkers\n"
        "early = EarlyWorkers(1)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    # The worker has the other end of the pipe that is read here: it ends when the worker does.
    done = subprocess.run(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=60, text=True
    )
    assert done.returncode == -9
    assert not done.stderr


def test_where_no_process_can_be_started_a_small_tree_is_indexed_all_the_same(
    repository: Path, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> subprocess.Popen[bytes]:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process, "start_worker", refused)
    monkeypatch.setattr(indexer, "worker_count", lambda: 2)
    assert make_app(repository).index().files_indexed > 0


def test_a_program_with_python_in_it_is_not_started_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    assert EarlyWorkers(2).take() is None


@pytest.mark.parametrize("files", [3, 300])
def test_a_first_index_leaves_no_process_behind(
    files: int, tmp_path: Path, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = worker_process.start_worker

    def noted() -> subprocess.Popen[bytes]:
        started.append(start())
        return started[-1]

    for module in (worker_process, workers):
        monkeypatch.setattr(module, "start_worker", noted)
    for module in (indexer, pipeline):
        monkeypatch.setattr(module, "worker_count", lambda: 2)
    text = "".join(f"def add_{n}(value):\n    return value + {n}\n\n" for n in range(60))
    root = make_repository(tmp_path / "repo", {f"a{n}.py": f"# {n}\n{text}" for n in range(files)})
    app = make_app(root)
    assert app.index().files_indexed == files
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)
    (root / "new.py").write_text("def later(): ...\n")
    app.index()
    assert len(started) == 2  # little changed: nobody was started for it
