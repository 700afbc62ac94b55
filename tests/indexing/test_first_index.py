"""Searches while this process or another one builds the first index."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from polling import TIMEOUT_S, wait_until
from sample import MakeApp, make_repository, many_files

from rootle import App
from rootle.cli.main import main
from rootle.errors import IndexStorageError, IndexUnfinishedError
from rootle.indexing import refresh
from rootle.indexing.indexer import Indexer
from rootle.ingest import batches
from rootle.ingest.index_writer import IndexWriter
from rootle.tools.registry import create_tools

_QUERY = "verify the packet"


class Gate:
    """A gate that admits `batches` batches of an indexing run, and all batches once it is open."""

    def __init__(self) -> None:
        self.batches = 0
        self.is_reached = threading.Event()
        self.is_open = threading.Event()

    def wait_for_turn(self) -> None:
        if self.batches <= 0:
            self.is_reached.set()
            assert self.is_open.wait(TIMEOUT_S)
        self.batches -= 1


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, make_app: MakeApp) -> Iterator[Gate]:
    # The gate opens before `make_app` closes its apps, because closing waits for their indexing.
    gate, write = Gate(), IndexWriter.write_batch

    def write_after_turn(self: IndexWriter, *arguments: Any) -> None:
        gate.wait_for_turn()
        write(self, *arguments)

    monkeypatch.setattr(IndexWriter, "write_batch", write_after_turn)
    monkeypatch.setattr(batches, "_BATCH_CHARS", 8_000)
    yield gate
    gate.is_open.set()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository", many_files(50))


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    return make_app(root, initial_index_timeout_s=0.2)


@pytest.mark.slow
def test_an_unfinished_index_is_searched_and_its_coverage_reported(gate: Gate, app: App) -> None:
    gate.batches = 3
    search_without_waiting(app)
    assert gate.is_reached.wait(TIMEOUT_S)
    early = app.search(_QUERY)
    assert early.results
    assert "partial" in early.degraded
    assert early.coverage is not None
    read, total = app.index_progress() or (0, 0)
    assert 0 < early.coverage.searched_bytes <= read < early.coverage.total_bytes == total
    (search, *_) = create_tools(app)
    partial = "Note: partial: the index is still being built, and this answer covers 0.0 of 0.1 MB"
    assert search(_QUERY).startswith(partial)
    unknown = search("uses:neverDefined")
    assert unknown.startswith(partial)
    assert "no definition of neverDefined was found in the indexed files" in unknown
    gate.is_open.set()
    wait_until(lambda: app.index_progress() is None, "the index is complete")
    whole = app.search(_QUERY)
    assert (whole.coverage, whole.degraded) == (None, ())
    assert "partial" not in search(_QUERY)


@pytest.mark.slow
def test_a_search_before_the_first_batch_reports_the_progress(gate: Gate, app: App) -> None:
    search_without_waiting(app)
    assert gate.is_reached.wait(TIMEOUT_S)
    with pytest.raises(IndexUnfinishedError, match=r"0\.0 of 0\.1 MB have been read; try again"):
        app.search(_QUERY)
    (search, *_) = create_tools(app)
    assert search(_QUERY).startswith("Error: the first index of ")


@pytest.mark.slow
def test_a_search_waits_for_the_index_of_a_small_folder(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root, initial_index_timeout_s=60).search(_QUERY)
    assert (answer.coverage, answer.degraded) == (None, ())


@pytest.mark.slow
def test_an_unfinished_index_of_another_app_is_searched(
    gate: Gate, app: App, root: Path, make_app: MakeApp
) -> None:
    gate.batches = 3
    writer = make_app(root, initial_index_timeout_s=60)
    thread = threading.Thread(target=writer.index)
    thread.start()
    assert gate.is_reached.wait(TIMEOUT_S)
    search_without_waiting(app)
    assert app.search(_QUERY).coverage is not None
    gate.is_open.set()
    thread.join()
    assert app.search(_QUERY).coverage is None


@pytest.mark.slow
def test_a_command_searches_the_unfinished_index_of_another_process(
    gate: Gate,
    root: Path,
    make_app: MakeApp,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(batches, "_FIRST_COMMIT_CHARS", 10_000)
    monkeypatch.setattr(refresh, "_LOCK_TIMEOUT_S", 0.1)
    gate.batches = 3
    writer = make_app(root)
    thread = threading.Thread(target=writer.index)
    thread.start()
    assert gate.is_reached.wait(TIMEOUT_S)
    folders = ["--root", str(root), "--index-dir", str(writer.index_dir)]
    assert main(["search", _QUERY, *folders]) == 0
    early = capsys.readouterr()
    assert early.out
    assert "degraded: partial (the first index is not complete yet)" in early.err
    assert "this answer covers 0.0 of 0.1 MB; ask again for a complete answer" in early.err
    assert main(["search", "--agent", _QUERY, *folders]) == 0
    assert capsys.readouterr().out.startswith("Note: partial: the index is still being built")
    main(["status", str(root), "--index-dir", str(writer.index_dir)])
    assert "the first index is not complete yet: 0.0 of 0.1 MB have been read" in (
        capsys.readouterr().out
    )
    # A list of definitions and uses does not say that it is partial, so it needs the whole index.
    codes: list[int] = []
    listing = threading.Thread(target=lambda: codes.append(main(["symbol", "value", *folders])))
    listing.start()
    listing.join(3.0)
    assert not codes
    gate.is_open.set()
    thread.join()
    listing.join()
    assert codes
    capsys.readouterr()
    assert main(["search", _QUERY, *folders]) == 0
    assert "partial" not in capsys.readouterr().err


@pytest.mark.slow
def test_an_app_that_searched_a_part_sees_that_the_index_is_complete(
    gate: Gate, root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_FIRST_COMMIT_CHARS", 10_000)
    monkeypatch.setattr(refresh, "_LOCK_TIMEOUT_S", 0.1)
    gate.batches = 3
    writer = make_app(root)
    reader = make_app(root, search_unfinished=True)
    thread = threading.Thread(target=writer.index)
    thread.start()
    assert gate.is_reached.wait(TIMEOUT_S)
    assert not reader.refresh()
    assert reader.search(_QUERY).coverage is not None
    gate.is_open.set()
    thread.join()
    assert reader.refresh()
    assert reader.search(_QUERY).coverage is None


@pytest.mark.slow
def test_a_search_without_a_timeout_waits_for_the_complete_index(
    gate: Gate, app: App, root: Path, make_app: MakeApp
) -> None:
    gate.batches = 3
    search_without_waiting(app)
    assert gate.is_reached.wait(TIMEOUT_S)
    answers: list[Any] = []
    waiting = make_app(root)
    thread = threading.Thread(target=lambda: answers.append(waiting.search(_QUERY)))
    thread.start()
    thread.join(1.0)
    assert not answers
    gate.is_open.set()
    thread.join()
    assert (answers[0].coverage, answers[0].degraded) == (None, ())


@pytest.mark.slow
def test_indexing_in_stages_equals_indexing_in_one_run(
    gate: Gate, root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    gate.is_open.set()
    staged = make_app(root, index_dir=tmp_path / "staged", initial_index_timeout_s=60).search(
        _QUERY
    )
    plain = make_app(root, index_dir=tmp_path / "plain").search(_QUERY)
    for one, other in zip(staged.results[:4], plain.results[:4], strict=True):
        assert (one.file_path, one.score) == (other.file_path, other.score)


def test_an_index_that_cannot_be_built_is_an_error(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise IndexStorageError("the disk is full")

    monkeypatch.setattr(Indexer, "update", fail)
    with pytest.raises(IndexStorageError, match="the disk is full"):
        app.search(_QUERY)


def search_without_waiting(app: App) -> None:
    """Start to build the index with a search that returns early."""
    with suppress(IndexUnfinishedError):
        app.search(_QUERY)
