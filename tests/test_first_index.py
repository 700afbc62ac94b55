"""Questions while an index is made for the first time, by this process or by another one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from mcp_process import until
from sample import MakeApp, make_repository, many_files

from rootle import App
from rootle.errors import IndexStorageError, IndexUnfinishedError
from rootle.indexing.indexer import Indexer
from rootle.ingest import pipeline
from rootle.ingest.pipeline import Pipeline
from rootle.tools.registry import tools_of

_QUESTION = "verify the packet"


class Gate:
    """Lets some batches of a run be written, and the others when it is opened."""

    def __init__(self) -> None:
        self.batches = 0
        self.is_reached = threading.Event()
        self.is_open = threading.Event()

    def pass_one(self) -> None:
        if self.batches <= 0:
            self.is_reached.set()
            assert self.is_open.wait(60)
        self.batches -= 1


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, make_app: MakeApp) -> Iterator[Gate]:
    # Opened before the apps of `make_app` are closed, which wait for what they index.
    gate, write = Gate(), Pipeline._write_batch

    def held(self: Pipeline, *arguments: Any) -> None:
        gate.pass_one()
        write(self, *arguments)

    monkeypatch.setattr(Pipeline, "_write_batch", held)
    monkeypatch.setattr(pipeline, "_BATCH_CHARS", 8_000)
    monkeypatch.setattr(pipeline, "_FIRST_STAGE_CHARS", 16_000)
    yield gate
    gate.is_open.set()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository", many_files(50))


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    return make_app(root, initial_index_timeout_s=0.2)


def test_an_answer_is_from_what_there_is_and_says_so(gate: Gate, app: App) -> None:
    gate.batches = 3
    ask_early(app)
    assert gate.is_reached.wait(60)
    early = app.search(_QUESTION)
    assert early.results
    assert "partial" in early.degraded
    assert early.coverage is not None
    read, total = app.index_progress() or (0, 0)
    assert 0 < early.coverage.searched_bytes <= read < early.coverage.total_bytes == total
    (search, *_) = tools_of(app)
    assert "partial: the index is still being made, this is from 0.0 of 0.1 MB" in search(_QUESTION)
    gate.is_open.set()
    until(lambda: app.index_progress() is None, "the index is made")
    whole = app.search(_QUESTION)
    assert (whole.coverage, whole.degraded) == (None, ())
    assert "partial" not in search(_QUESTION)


def test_nothing_to_answer_from_is_said_at_once_and_with_how_far_it_is(
    gate: Gate, app: App
) -> None:
    ask_early(app)
    assert gate.is_reached.wait(60)
    with pytest.raises(IndexUnfinishedError, match=r"0\.0 of 0\.1 MB are read; ask again"):
        app.search(_QUESTION)
    (search, *_) = tools_of(app)
    assert search(_QUESTION).startswith("Error: the index of ")


def test_a_small_folder_is_waited_for(root: Path, make_app: MakeApp) -> None:
    answer = make_app(root, initial_index_timeout_s=60).search(_QUESTION)
    assert (answer.coverage, answer.degraded) == (None, ())


def test_what_another_process_makes_is_searched_before_its_end(
    gate: Gate, app: App, root: Path, make_app: MakeApp
) -> None:
    gate.batches = 3
    maker = make_app(root, initial_index_timeout_s=60)
    thread = threading.Thread(target=maker.index)
    thread.start()
    assert gate.is_reached.wait(60)
    ask_early(app)
    assert app.search(_QUESTION).coverage is not None
    gate.is_open.set()
    thread.join()
    assert app.search(_QUESTION).coverage is None


def test_who_did_not_ask_for_early_answers_gets_none(
    gate: Gate, app: App, root: Path, make_app: MakeApp
) -> None:
    gate.batches = 3
    ask_early(app)
    assert gate.is_reached.wait(60)
    answers: list[Any] = []
    patient = make_app(root)
    thread = threading.Thread(target=lambda: answers.append(patient.search(_QUESTION)))
    thread.start()
    thread.join(1.0)
    assert not answers
    gate.is_open.set()
    thread.join()
    assert (answers[0].coverage, answers[0].degraded) == (None, ())


def test_early_stages_leave_the_index_that_one_run_makes(
    gate: Gate, root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    gate.is_open.set()
    staged = make_app(root, index_dir=tmp_path / "staged", initial_index_timeout_s=60).search(
        _QUESTION
    )
    plain = make_app(root, index_dir=tmp_path / "plain").search(_QUESTION)
    # Not the very same scores: in the word index a stamp was replaced, as with every later update.
    for one, other in zip(staged.results[:4], plain.results[:4], strict=True):
        assert one.file_path == other.file_path
        assert one.score == pytest.approx(other.score, abs=0.01)


def test_an_index_that_cannot_be_made_is_an_error(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise IndexStorageError("the disk is full")

    monkeypatch.setattr(Indexer, "bring_up_to_date", fail)
    with pytest.raises(IndexStorageError, match="the disk is full"):
        app.search(_QUESTION)


def ask_early(app: App) -> None:
    """The first question, which has the index made and is not waited for."""
    with suppress(IndexUnfinishedError):
        app.search(_QUESTION)
