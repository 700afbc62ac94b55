"""Several processes share one index: none fails or damages it, and each sees a consistent state."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from command import rootle, start_rootle
from sample import FILES, MakeApp, make_repository, many_files, write

from rootle import open_app
from rootle.config.fields import Config
from rootle.ingest.workers import scheduler

pytestmark = pytest.mark.slow

Answers = Callable[..., list[Any]]


def test_processes_that_index_a_folder_concurrently_produce_the_same_index(
    tmp_path: Path, answers: Answers
) -> None:
    root = make_repository(tmp_path / "repo", {**FILES, **many_files(30)})
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    assert rootle("index", root, "--index-dir", alone).code == 0
    processes = [start_rootle("index", root, "--index-dir", shared) for _ in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
        assert set(errors.decode().splitlines()) <= {
            "rootle: waiting for another rootle process that is indexing this folder"
        }
    assert answers(root, shared) == answers(root, alone)


def test_concurrent_first_searches_all_succeed(repository: Path, tmp_path: Path) -> None:
    index_dir = tmp_path / "index"
    command = ("search", "retry_backoff", "--json", "--root", repository, "--index-dir", index_dir)
    processes = [start_rootle(*command) for _ in range(3)]
    for process in processes:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
        assert json.loads(out)["results"][0]["filePath"] == "src/net/retry.py"


# A program that repeats one query and prints the snippets of each response.
_SEARCH_REPEATEDLY = """
import json, sys
from rootle import Config, open_app
root, index_dir, times = sys.argv[1:]
with open_app(root, index_dir=index_dir, config=Config(stale_check_seconds=0)) as app:
    for _ in range(int(times)):
        answer = app.search("compass heading of the ship")
        print(json.dumps([[r.file_path, r.snippet] for r in answer.results]), flush=True)
"""


def _files_of_state(number: int) -> dict[str, str]:
    """Return files whose lines all contain the number, so that mixed states can be detected."""
    lines = "\n".join(f"# compass heading of the ship: {number}" for _ in range(30))
    return {"compass.py": f"def compass():\n    return {number}\n{lines}\n"}


def test_searches_during_changes_return_consistent_states(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {**FILES, **_files_of_state(0)})
    index_dir = tmp_path / "index"
    assert rootle("index", root, "--index-dir", index_dir).code == 0
    searchers = [
        start_rootle(root, index_dir, times, program=_SEARCH_REPEATEDLY)
        for times in ("22", "21", "21")
    ]
    stop = threading.Event()

    def edit() -> None:
        for number in count(1):
            if stop.is_set():
                break
            for path, text in _files_of_state(number).items():
                # As in an editor, a new file replaces the old one.
                scratch = write(root, f"{path}.tmp~", text, when_s=None)
                os.replace(scratch, root / path)
            write(root, f"note_{number % 5}.md", f"# Note {number}\n", when_s=None)

    editor = threading.Thread(target=edit)
    editor.start()
    outcomes = [searcher.communicate(timeout=120) for searcher in searchers]
    stop.set()
    editor.join()
    seen = 0
    for searcher, (out, errors) in zip(searchers, outcomes, strict=True):
        assert searcher.returncode == 0, errors.decode()
        for line in out.splitlines():
            snippets = dict(json.loads(line))
            # All lines belong to one state.
            numbers = {row.split()[-1] for row in snippets["compass.py"].split("\n")[1:]}
            assert len(numbers) == 1, snippets["compass.py"]
            seen += 1
    assert seen == 64


def test_an_open_app_sees_the_old_state_during_a_write(repository: Path, make_app: MakeApp) -> None:
    reader = make_app(repository, stale_check_seconds=3600)
    reader.index()
    before = reader.search("retry_backoff").results
    snapshot = reader._container.indexer().snapshot()
    write(repository, "src/net/retry.py", "def something_else():\n    pass\n")
    (repository / "docs/guide.md").unlink()
    during: list[Any] = []

    def search_meanwhile(done: int, total: int) -> None:
        during.append(*snapshot.excerpts([(_file_id(snapshot, "src/net/retry.py"), 0, 1_000_000)]))
        during.append(reader._container.agent().search(_query()).results == before)

    writer = make_app(repository)
    writer.index(search_meanwhile)
    assert during[:2] == [FILES["src/net/retry.py"], True]
    # The next search of the same app sees the new state.
    after = reader.search("something_else").results
    assert after[0].snippet.startswith("def something_else")


def _query() -> Any:
    from rootle.types import SearchQuery

    return SearchQuery("retry_backoff")


def _file_id(snapshot: Any, path: str) -> int:
    found: int = next(state.id for state in snapshot.all_files() if state.path == path)
    return found


def test_a_search_waits_for_the_first_index_of_another_process(
    repository: Path, tmp_path: Path
) -> None:
    from rootle.index.local.writer_lock import writer_lock

    index_dir = tmp_path / "index"
    with writer_lock(index_dir, 0, lambda: None):
        process = start_rootle(
            *("search", "retry_backoff", "--root", repository, "--index-dir", index_dir)
        )
        assert process.stderr is not None
        assert b"waiting for another rootle process" in process.stderr.readline()
    out, _ = process.communicate(timeout=60)
    assert out.startswith(b"src/net/retry.py:")


_KILLER = """
import os, signal, sys
import rootle.ingest.workers.job_runner as job_runner
original = job_runner.run_job
def run_job(job, *rest):
    if "poison" in job.uri and not (job.plain and "curable" in job.uri):
        os.kill(os.getpid(), signal.SIGKILL)
    return original(job, *rest)
job_runner.run_job = run_job
"""


def test_a_file_that_crashes_a_worker_affects_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_app: MakeApp
) -> None:
    files = {**FILES, **many_files(30), "a/curable_poison.py": "def healed_function(): pass\n"}
    root = make_repository(tmp_path / "repo", {**files, "a/poison.py": "def never_seen(): pass\n"})
    monkeypatch.setattr(scheduler, "_PARALLEL_BYTES", 1)
    from rootle.ingest.workers import worker_process

    monkeypatch.setattr(worker_process, "_COMMAND", f"{_PREFIX}{_KILLER}{_SUFFIX}")
    app = make_app(root)
    app.index()
    status = app.status()
    assert status.files == len(files)
    assert status.skipped_files == (("a/poison.py", "unreadable"),)
    assert app.search("healed_function").results[0].file_path == "a/curable_poison.py"


_PREFIX = "import sys; sys.path[:] = {path!r}\n"
_SUFFIX = "\nfrom rootle.ingest.workers.worker import main; main()\n"


def test_threads_can_search_an_app_while_another_thread_rebuilds_the_index(
    repository: Path, tmp_path: Path
) -> None:
    with open_app(
        repository, index_dir=tmp_path / "index", config=Config(stale_check_seconds=3600)
    ) as app:
        app.index()
        failures: list[BaseException] = []

        def search() -> None:
            try:
                for _ in range(20):
                    results = app.search("retry_backoff").results
                    assert results[0].file_path == "src/net/retry.py"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            app.index(rebuild=True)
        for thread in threads:
            thread.join()
        assert failures == []
