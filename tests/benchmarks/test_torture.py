"""A short run of the stress test `make torture`, and its fault injection."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.reliability.checks import (
    ExpectedAnswers,
    answer_differences,
    compare_searcher,
    expected_answers,
    find_open_files,
    tool_differences,
)
from benchmarks.reliability.fault_injection import FaultInjectionError, FaultInjector, Faults
from benchmarks.reliability.random_faults import RandomFaults
from benchmarks.reliability.services import McpServer, Place, Reply
from benchmarks.reliability.torture_rounds import (
    RoundResult,
    Torture,
    TortureOptions,
    summarize,
)
from command import ENVIRONMENT
from sample import make_repository, write

pytestmark = pytest.mark.slow

_HOME = ("HOME", *(f"XDG_{kind}_HOME" for kind in ("CACHE", "CONFIG", "DATA", "STATE")))
_WRITE = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
try:
    print(os.write(file, bytes(1000)))
    os.lseek(file, 0, 0)
    print(len(os.read(file, 10)))
except OSError as error:
    print(error.errno)
"""


@pytest.fixture
def injector(tmp_path: Path) -> FaultInjector:
    (tmp_path / "faulty").mkdir()
    return FaultInjector(tmp_path, tmp_path / "faulty")


def write_in(injector: FaultInjector, path: Path) -> list[int]:
    """Return the printed results of a write and a read in another process."""
    command = [sys.executable, "-c", _WRITE, str(path)]
    environment = {**os.environ, **injector.environment}
    return [int(word) for word in subprocess.check_output(command, env=environment).split()]


@pytest.mark.parametrize(
    ("faults", "results"),
    [
        (Faults(), [1000, 10]),
        (Faults(write_errno=errno.ENOSPC), [errno.ENOSPC]),
        (Faults(write_errno=errno.EIO), [errno.EIO]),
        (Faults(read_errno=errno.EIO), [1000, errno.EIO]),
    ],
)
def test_faults_affect_only_the_chosen_folder(
    injector: FaultInjector, tmp_path: Path, faults: Faults, results: list[int]
) -> None:
    injector.inject(faults)
    assert write_in(injector, tmp_path / "faulty/file") == results
    assert write_in(injector, tmp_path / "other") == [1000, 10]


def test_failed_calls_and_deleted_files_are_logged(injector: FaultInjector, tmp_path: Path) -> None:
    path = tmp_path / "faulty/file"
    injector.inject(Faults(read_errno=errno.EIO))
    write_in(injector, path)
    code = "import os, sys; os.rename(sys.argv[1], sys.argv[2]); os.unlink(sys.argv[2])"
    command = [sys.executable, "-c", code, str(path), f"{path}.new"]
    subprocess.check_call(command, env={**os.environ, **injector.environment})
    calls = [line.split()[2:] for line in injector.log.read_text().splitlines()]
    assert calls == [
        ["read", str(path), "EIO"],
        ["rename", str(path), f"{path}.new"],
        ["unlink", f"{path}.new"],
    ]


def test_some_writes_are_short(injector: FaultInjector, tmp_path: Path) -> None:
    injector.inject(Faults(short_writes=True))
    code = (
        "import os, sys\n"
        "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "print(*(os.write(file, bytes(100)) for _ in range(100)))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "faulty/file")]
    environment = {**os.environ, **injector.environment}
    sizes = {int(word) for word in subprocess.check_output(command, env=environment).split()}
    assert min(sizes) >= 1
    assert len(sizes) > 2
    assert max(sizes) == 100


def test_the_clock_of_a_process_is_shifted(injector: FaultInjector) -> None:
    injector.inject(Faults(clock_shift_s=-1_000_000))
    command = [sys.executable, "-c", "import time; print(time.time())"]
    environment = {**os.environ, **injector.environment}
    shifted = float(subprocess.check_output(command, env=environment))
    assert 999_000 < time.time() - shifted < 1_001_000


def test_without_a_compiler_the_message_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FaultInjectionError, match="apt install gcc"):
        FaultInjector(tmp_path, tmp_path)


def test_files_that_others_can_read_are_found(tmp_path: Path) -> None:
    for name, mode in (("private", 0o600), ("open", 0o640)):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(mode)
    assert find_open_files(tmp_path) == ["open has mode 640"]


def test_a_different_answer_is_a_problem() -> None:
    expected = ExpectedAnswers({"q": {"question": "q", "nextCursor": False, "results": []}}, {})
    response: dict[str, Any] = {"results": [], "nextCursor": None, "tookMs": 3.0, "generation": 7}
    assert answer_differences("q", response, expected, "answers") == ()
    assert len(answer_differences("q", {**response, "degraded": []}, expected, "answers")) == 1


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return the folders of a server whose tree no test changes."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "logs").mkdir()
    # The server starts before any test gets a home folder of its own, so it gets one here.
    variables = {**ENVIRONMENT, **{name: str(folder / name) for name in _HOME}}
    return Place(make_repository(folder / "tree"), folder / "index", folder / "logs", variables)


@pytest.fixture(scope="module")
def mcp_server(served: Place) -> Iterator[McpServer]:
    server = McpServer(served, 0o077)
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/net/retry.py", "def other(): pass\n"),  # the answer loses a result
        ("src/net/copied.py", "def retry_backoff(attempt): pass\n"),  # the answer gains a result
        # The result has other lines and another score.
        ("src/net/retry.py", "\n\ndef retry_backoff(attempt): pass\n"),
    ],
)
def test_an_answer_of_the_mcp_server_to_another_tree_is_a_problem(
    served: Place, mcp_server: McpServer, tmp_path: Path, path: str, text: str
) -> None:
    expected = expected_answers(served.root, tmp_path / "new", ["retry_backoff"])
    for _ in range(2):  # the second answer refers to lines that the first one shows
        assert list(compare_searcher(mcp_server, expected, "ranked")) == []
    other = make_repository(tmp_path / "other")
    write(other, path, text)
    expected = expected_answers(other, tmp_path / "new-other", ["retry_backoff"])
    (problem,) = compare_searcher(mcp_server, expected, "ranked")
    assert problem.startswith("mcp: 'retry_backoff': [('src/net/retry.py:")


_TEXT = "1. a.py:1-9 def f (0.90)\n1  def f():\n\n2. b:c.md:3-4 (0.10)\n\nFolder: x"


@pytest.mark.parametrize(
    ("text", "comparison", "problems"),
    [
        (_TEXT, "ranked", 0),
        (_TEXT.replace("def f (", "def f, shown above ("), "ranked", 0),
        (_TEXT.replace("0.10", "0.11"), "ranked", 1),
        (_TEXT.replace("0.10", "0.11"), "paths", 0),
        (_TEXT.replace("1-9", "1-8"), "ranked", 1),
        (_TEXT.replace("1-9", "1-8"), "paths", 0),
        (_TEXT.replace("a.py", "b.py"), "paths", 1),
        ("No file matches.", "paths", 1),
    ],
)
def test_a_different_header_is_a_problem(text: str, comparison: str, problems: int) -> None:
    expected = ExpectedAnswers({"q": {"results": [{}]}}, {"q": _TEXT})
    assert len(tool_differences("q", text, expected, comparison)) == problems


def test_a_text_without_headers_is_a_problem_although_both_sides_are_equal() -> None:
    expected = ExpectedAnswers({"q": {"results": [{}]}}, {"q": "a new format"})
    assert len(tool_differences("q", "a new format", expected, "ranked")) == 1


def test_an_answer_that_reports_a_degradation_is_not_current() -> None:
    assert Reply(text=_TEXT).is_current
    reply = Reply(text=f"Note: 2 new or changed files are not indexed yet\n\n{_TEXT}")
    assert (reply.is_current, reply.reason) == (False, "not indexed yet")
    assert Reply({"degraded": ["stale", "dense"]}).reason == "stale, dense"


def test_rounds_and_problems_are_counted() -> None:
    results = [
        RoundResult(0, "none", 9, 2, 20, 5, (), 4.0),
        RoundResult(1, "clock", 11, 3, 30, 8, ("mcp crashed",), 4.0),
    ]
    assert summarize(results) == (
        "2 rounds, 20 edits, 5 kills, 50 requests, 8 memories: 1 rounds with problems"
    )
    assert results[1].describe().splitlines()[1] == "  PROBLEM: mcp crashed"


@pytest.mark.parametrize("fault", ["none", "disk-full"])
def test_a_round_of_torture_leaves_no_problem(fault: str, tmp_path: Path) -> None:
    assert fault in RandomFaults.KINDS
    with Torture(tmp_path, TortureOptions(1, "ranked", (fault,))) as torture:
        assert torture.run_round().problems == ()
