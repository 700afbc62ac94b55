"""While an index is rebuilt, and after the rebuild was killed, every process uses the old index."""

from __future__ import annotations

import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command import Outcome, rootle
from mcp_process import session_of, text_of
from polling import wait_until
from sample import FILES, QUESTIONS, MakeApp, make_repository, many_files, write

from rootle import open_app
from rootle.config.fields import Config
from rootle.index.local.content_dir import content_dir
from rootle.index.local.writer_lock import writer_lock
from rootle.serialization.json import to_json
from rootle.storage.paths import default_index_dir
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

# A program that kills itself at the n-th call or return in the modules that write the index.
_AT_CALL = """
import os, signal, sys
fatal, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
count = 0
def watch(frame, event, argument):
    global count
    name = frame.f_code.co_filename
    is_writing = name.endswith(("/indexer.py", "/content_writer.py", "/rebuild.py"))
    if is_writing or "/rootle/index/" in name or "/rootle/storage/" in name:
        count += 1
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
from rootle.cli.main import main
sys.setprofile(watch)
code = main()
sys.setprofile(None)
if not fatal:
    print("calls", count)
sys.exit(code)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository", {**FILES, **many_files(20)})


@pytest.fixture
def index(root: Path, tmp_path: Path) -> Path:
    assert rootle("index", root, "--index-dir", tmp_path / "index").code == 0
    return tmp_path / "index"


def _search_only(root: Path, index: Path) -> list[Any]:
    """Return the answers of an app that must not write the index."""
    config = Config(stale_check_seconds=0, enable_indexing=False)
    with open_app(root, index_dir=index, config=config) as app:
        found = [to_json(app.search(SearchQuery(question))) for question in QUESTIONS]
    for answer in found:
        del answer["tookMs"], answer["generation"], answer["nextCursor"]
        assert answer["degraded"] == []
    return found


def _rebuild(root: Path, index: Path, fatal_call: int) -> Outcome:
    options = (root, "--rebuild", "--index-dir", index)
    outcome = rootle(str(fatal_call), "index", *options, program=_AT_CALL, preloaded=True)
    assert outcome.code == (-signal.SIGKILL if fatal_call else 0), outcome.err
    return outcome


def test_after_a_rebuild_killed_at_random_calls_the_index_is_usable(
    root: Path, index: Path, tmp_path: Path
) -> None:
    expected = _search_only(root, index)
    finished = tmp_path / "finished"
    shutil.copytree(index, finished)
    calls = int(_rebuild(root, finished, 0).out.rsplit("calls ", 1)[1])
    assert _search_only(root, finished) == expected
    rng = Random(4)
    # Half of the calls are among the last ones, which replace the content.
    chosen = [rng.randrange(1, calls) for _ in range(8)]
    chosen += [calls - rng.randrange(1, 400) for _ in range(8)]
    for number in chosen:
        killed = tmp_path / f"killed_{number}"
        shutil.copytree(index, killed)
        _rebuild(root, killed, number)
        assert _search_only(root, killed) == expected, number
        _rebuild(root, killed, number)  # starts from the files that the first rebuild left
        assert _search_only(root, killed) == expected, number
        command = ("index", root) if number % 2 else ("search", "retry", "--root", root)
        assert rootle(*command, "--index-dir", killed).code == 0
        _assert_nothing_is_left(killed)
        assert _search_only(root, killed) == expected, number
        shutil.rmtree(killed)


def _assert_nothing_is_left(index: Path) -> None:
    """Assert that an index has one content, and no temporary files."""
    assert len(list(index.rglob("rootle.db"))) == 1
    assert list(index.rglob("*.new")) == []
    content = content_dir(index)
    others = [path for path in index.glob("content-*") if path != content]
    assert others == []


def test_an_interrupted_rebuild_leaves_the_old_index(root: Path, index: Path) -> None:
    expected = _search_only(root, index)
    program = _AT_CALL.replace("signal.SIGKILL", "signal.SIGINT")
    outcome = rootle("3000", "index", root, "--rebuild", "--index-dir", index, program=program)
    message = "rootle: interrupted; an existing index is still usable\n"
    assert (outcome.code, outcome.err) == (130, message)
    assert _search_only(root, index) == expected
    _assert_nothing_is_left(index)


def test_a_rebuild_without_space_leaves_the_old_index(root: Path, index: Path) -> None:
    expected = _search_only(root, index)

    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    options = ("--rebuild", "--index-dir", index)
    outcome = rootle("index", root, *options, limits=limit_file_size)
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1), outcome.err
    assert _search_only(root, index) == expected
    _assert_nothing_is_left(index)


def test_a_rebuild_on_a_damaged_index_succeeds(root: Path, index: Path) -> None:
    expected = _search_only(root, index)
    (content_dir(index) / "rootle.db").write_bytes(b"garbage")
    assert rootle("index", root, "--rebuild", "--index-dir", index).code == 0
    assert _search_only(root, index) == expected
    _assert_nothing_is_left(index)


def test_a_running_app_moves_to_the_new_index(root: Path, index: Path, make_app: MakeApp) -> None:
    app = make_app(root, enable_indexing=False)
    before = app.search("retry_backoff")
    assert rootle("index", root, "--rebuild", "--index-dir", index).code == 0
    write(root, "src/net/retry.py", "def retry_other(): pass\n")
    assert rootle("index", root, "--index-dir", index).code == 0
    after = app.search("retry_other")
    assert after.results[0].file_path == "src/net/retry.py"
    assert after.generation > before.generation
    _assert_nothing_is_left(index)


def test_a_running_server_answers_after_rebuilds_and_killed_rebuilds(root: Path) -> None:
    with session_of(root) as session:

        def search(query: str) -> str:
            result = session.call("vectordb_search", {"query": query})
            assert not result.is_error, result
            return text_of(result)

        index = default_index_dir(root)
        assert "src/net/retry.py" in search("retry_backoff")
        for number in (2_000, 5_000, 0):
            _rebuild(root, index, number)
            assert "src/net/retry.py" in search("retry_backoff")
        write(root, "src/net/retry.py", "def retry_other(): pass\n", when_s=None)
        wait_until(lambda: "def retry_other" in search("retry_other"), "the server is current")


def test_a_damaged_pointer_leads_to_a_new_index(
    root: Path, index: Path, answers: Callable[..., list[Any]]
) -> None:
    expected = answers(root, index)
    _rebuild(root, index, 0)
    pointer = index / "content"
    for content in (b"", b"content-00000000 00000000\n", pointer.read_bytes().upper(), b"\xff" * 9):
        pointer.write_bytes(content)
        assert answers(root, index) == expected
        _rebuild(root, index, 0)
        _assert_nothing_is_left(index)


def test_a_configuration_change_that_is_killed_leaves_the_old_index(
    root: Path, index: Path
) -> None:
    expected = _search_only(root, index)
    options = ("index", root, "--index-dir", index, "--set", "maxFileBytes=3000000")
    outcome = rootle("3000", *options, program=_AT_CALL, preloaded=True)
    assert outcome.code == -signal.SIGKILL
    assert _search_only(root, index) == expected
    assert rootle(*options).code == 0
    _assert_nothing_is_left(index)


def test_after_a_configuration_change_the_old_index_answers_and_is_reported_as_stale(
    root: Path, index: Path, make_app: MakeApp
) -> None:
    app = make_app(root, max_file_bytes=3_000_000, initial_index_timeout_s=0)
    with writer_lock(index, 0, lambda: None):  # makes the rebuild wait
        answer = app.search("retry_backoff")
        assert answer.results[0].file_path == "src/net/retry.py"
        assert answer.degraded == ("stale",)
        assert answer.staleness is not None
        assert answer.staleness.changed_files == len(FILES) + 20
        assert answer.coverage is None
    wait_until(lambda: not app.search("retry_backoff").degraded, "the index is rebuilt")
    assert app.search("retry_backoff").coverage is None
