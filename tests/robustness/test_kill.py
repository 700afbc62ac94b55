"""After `kill -9` during indexing, the next command gives the answers of an intact index."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command import Outcome, rootle
from sample import FILES, QUESTIONS, git, make_repository, many_files, write

from rootle import open_app
from rootle.index.local.derived_indexes import DerivedWriter
from rootle.index.local.inverted_index.writer import SparseWriter
from rootle.index.local.vector_matrix.writer import DenseWriter

pytestmark = pytest.mark.slow

Answers = Callable[..., list[Any]]

_QUERIES = (*QUESTIONS, "flush ledger snapshot", "verify_packet", "what compresses the journal")

_FILES = 24
# A program with many small transactions, so that a kill hits between two of them.
_IN_BATCHES = """
import rootle.ingest.batches as batches
batches._BATCH_CHARS = 8_000
batches._FIRST_COMMIT_CHARS = 20_000
from rootle.cli.main import entry
entry()
"""
# The program above with worker processes.
_IN_WORKERS = (
    "import rootle.ingest.workers.scheduler\n"
    f"rootle.ingest.workers.scheduler._PARALLEL_BYTES = 8_000\n{_IN_BATCHES}"
)
# A program that kills itself at the n-th call or return in the modules that write. Calls to SQLite
# and the file system count too. The position is exact, unlike that of a timer.
_AT_CALL = """
import os, signal, sys
fatal, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
count = 0
WRITING = ("/pipeline.py", "/indexer.py", "/content_writer.py", "/rebuild.py")
def watch(frame, event, argument):
    global count
    name = frame.f_code.co_filename
    if "/rootle/index/" in name or name.endswith(WRITING):
        count += 1
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
import rootle.ingest.batches as batches
batches._BATCH_CHARS = 8_000
batches._FIRST_COMMIT_CHARS = 20_000
from rootle.cli.main import main
sys.setprofile(watch)
code = main()
sys.setprofile(None)
if not fatal:
    print("calls", count)
sys.exit(code)
"""

# The program above, except that the first run commits the derived indexes with every batch.
_IN_STAGES = _AT_CALL.replace(
    "batches._BATCH_CHARS = 8_000",
    "batches._BATCH_CHARS = 4_000",
).replace(
    "code = main()",
    "from rootle import open_app\n"
    "app = open_app(sys.argv[2], index_dir=sys.argv[4], initial_index_timeout_s=0)\n"
    "code = int(not app.index())",
)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "large", {**FILES, **many_files(_FILES, functions=8)})


def _edit(root: Path) -> None:
    """Edit a third of the files, add one, rename one and delete one."""
    changed = many_files(_FILES, seed=8, functions=8)
    known = sorted(path for path in many_files(_FILES))
    for number, (old, new) in enumerate(zip(known, sorted(changed), strict=True)):
        if number % 3 == 0:
            write(root, old, changed[new], when_s=1_710_000_000)
    write(root, "src/net/backoff_table.py", "BACKOFF = {1: 'a second', 2: 'an hour'}\n")
    (root / "src/store/cache.py").rename(root / "src/store/lru.py")
    (root / "docs/guide.md").unlink()
    git(root, "commit", "-aqm", "second", when_s=1_710_000_000)


def _index_in_batches(root: Path, index_dir: Path) -> Outcome:
    return rootle("index", root, "--index-dir", index_dir, program=_IN_BATCHES, preloaded=True)


def _run_and_kill(root: Path, index_dir: Path, after_s: float, program: str) -> None:
    places = (root, "--index-dir", index_dir)
    try:
        rootle("index", *places, program=program, preloaded=True, timeout_s=after_s)
    except subprocess.TimeoutExpired as killed:
        errors = killed.stderr or b""
    else:
        errors = b""
    assert b"Traceback" not in errors, errors.decode()


def _kill_at_call(root: Path, index_dir: Path, number: int, program: str = _AT_CALL) -> str:
    places = (root, "--index-dir", index_dir)
    outcome = rootle(str(number), "index", *places, program=program, preloaded=True)
    assert outcome.code == (-signal.SIGKILL if number else 0), outcome.err
    return outcome.out


def _count_calls(root: Path, index_dir: Path, program: str = _AT_CALL) -> int:
    return int(_kill_at_call(root, index_dir, 0, program).rsplit("calls ", 1)[1])


def test_a_first_index_killed_at_random_moments_is_completed(
    large: Path, tmp_path: Path, answers: Answers
) -> None:
    intact = tmp_path / "intact"
    started = time.monotonic()
    assert _index_in_batches(large, intact).code == 0
    takes_s = time.monotonic() - started
    expected = answers(large, intact, _QUERIES)
    rng = Random(1)
    for number in range(12):
        index_dir = tmp_path / f"killed_{number}"
        program = _IN_WORKERS if number % 3 == 2 else _IN_BATCHES
        _run_and_kill(large, index_dir, rng.uniform(0.2, 1.0) * takes_s, program)
        if number % 2:  # kill it again during the repair
            _run_and_kill(large, index_dir, rng.uniform(0.2, 1.0) * takes_s, program)
        assert answers(large, index_dir, _QUERIES) == expected
        shutil.rmtree(index_dir)


def test_an_update_killed_at_random_moments_is_completed(
    large: Path, tmp_path: Path, answers: Answers
) -> None:
    before, intact = tmp_path / "before", tmp_path / "intact"
    assert rootle("index", large, "--index-dir", before).code == 0
    shutil.copytree(before, intact)
    _edit(large)
    started = time.monotonic()
    assert _index_in_batches(large, intact).code == 0
    takes_s = time.monotonic() - started
    expected = answers(large, intact, _QUERIES)
    rng = Random(2)
    for number in range(13):
        index_dir = tmp_path / f"killed_{number}"
        shutil.copytree(before, index_dir)
        _run_and_kill(large, index_dir, rng.uniform(0.2, 1.0) * takes_s, _IN_BATCHES)
        assert answers(large, index_dir, _QUERIES) == expected
        shutil.rmtree(index_dir)


def test_a_first_index_killed_at_random_calls_is_completed(
    large: Path, tmp_path: Path, answers: Answers
) -> None:
    intact = tmp_path / "intact"
    calls = _count_calls(large, intact)
    expected = answers(large, intact, _QUERIES)
    rng = Random(3)
    # Half of the calls are among the last ones, which commit the indexes one after the other.
    chosen = [rng.randrange(1, calls) for _ in range(5)]
    chosen += [calls - rng.randrange(1, 200) for _ in range(6)]
    for number in chosen:
        index_dir = tmp_path / f"killed_{number}"
        _kill_at_call(large, index_dir, number)
        assert answers(large, index_dir, _QUERIES) == expected, number
        shutil.rmtree(index_dir)


def test_a_first_index_in_stages_killed_at_random_calls_is_completed(
    large: Path, tmp_path: Path, answers: Answers
) -> None:
    def best_paths() -> list[str]:
        # Scores may differ slightly.
        return [answer["results"][0]["filePath"] for answer in answers(large, index_dir, _QUERIES)]

    index_dir = tmp_path / "intact"
    calls = _count_calls(large, index_dir, _IN_STAGES)
    expected = best_paths()
    rng = Random(5)
    for number in [rng.randrange(1, calls) for _ in range(7)]:
        index_dir = tmp_path / f"killed_{number}"
        _kill_at_call(large, index_dir, number, _IN_STAGES)
        assert best_paths() == expected, number
        shutil.rmtree(index_dir)


def test_an_update_killed_at_random_calls_is_completed(
    large: Path, tmp_path: Path, answers: Answers
) -> None:
    before, intact = tmp_path / "before", tmp_path / "intact"
    assert rootle("index", large, "--index-dir", before).code == 0
    shutil.copytree(before, intact)
    _edit(large)
    calls = _count_calls(large, intact)
    expected = answers(large, intact, _QUERIES)
    rng = Random(4)
    chosen = [rng.randrange(1, calls) for _ in range(5)]
    chosen += [calls - rng.randrange(1, 200) for _ in range(8)]
    for number in chosen:
        index_dir = tmp_path / f"killed_{number}"
        shutil.copytree(before, index_dir)
        _kill_at_call(large, index_dir, number)
        assert answers(large, index_dir, _QUERIES) == expected, number
        shutil.rmtree(index_dir)


class _SimulatedKill(BaseException):
    """Simulates the end of the process: no handler in the code under test catches it."""


@pytest.mark.parametrize("moment", ["all", "dense", "words", "closing"])
def test_a_run_killed_between_two_commits_is_completed(
    moment: str,
    large: Path,
    tmp_path: Path,
    answers: Answers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, intact = tmp_path / "broken", tmp_path / "intact"
    with open_app(large, index_dir=broken) as app:
        app.index()
    shutil.copytree(broken, intact)
    _edit(large)
    expected = answers(large, intact, _QUERIES)
    _kill_before(moment, monkeypatch)
    with pytest.raises(_SimulatedKill), open_app(large, index_dir=broken) as app:
        app.index()
    monkeypatch.undo()
    assert answers(large, broken, _QUERIES) == expected


def _kill_before(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a run stop after the commit of SQLite and before the commit of some derived indexes."""

    def stop(*_: object, **__: object) -> None:
        raise _SimulatedKill

    if moment == "all":
        monkeypatch.setattr(DerivedWriter, "commit", stop)
    elif moment == "dense":
        monkeypatch.setattr(DenseWriter, "commit", stop)
    elif moment == "words":
        monkeypatch.setattr(SparseWriter, "commit", stop)
    else:
        monkeypatch.setattr("rootle.index.local.manifest.Manifest.prune_removals", stop)


def test_files_of_killed_runs_do_not_accumulate(large: Path, tmp_path: Path) -> None:
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    assert rootle("index", large, "--index-dir", clean).code == 0
    calls = _count_calls(large, tmp_path / "counted")
    for number in (calls // 3, calls // 3, 50, 100):
        _kill_at_call(large, killed, number)
    assert rootle("index", large, "--index-dir", killed).code == 0
    assert _list_file_patterns(killed) == _list_file_patterns(clean)


def _list_file_patterns(index_dir: Path) -> list[str]:
    """Return file names without random parts and counters: `rows-1.bin` becomes `rows-.bin`."""
    names = []
    for file in index_dir.rglob("*"):
        folder = file.relative_to(index_dir).parent.as_posix()
        stem, dash, _ = file.name.partition("-")
        is_random = len(file.stem) == 16
        names.append(f"{folder}/{'*' if is_random else stem + dash}{file.suffix}")
    return sorted(names)
