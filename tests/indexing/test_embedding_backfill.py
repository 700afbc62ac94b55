"""Chunks that wait for their embedding: found by their words at once, by their meaning later."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Outcome, rootle, start_rootle
from embedding_server import DIMENSIONS, answer, embedding_server, openai_answer, texts_of
from json_server import JsonServer, Reply, Request
from sample import QUESTIONS, many_files, write, write_tree

from rootle.app import App
from rootle.concurrency.backoff import Backoff
from rootle.errors import IndexStorageError
from rootle.index.local.derived_indexes import DerivedWriter
from rootle.types import SearchQuery

KEY = "sk-pending-secret-77"
DOWN = Reply({"error": {"message": f"overloaded, dear {KEY}"}}, 503)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_pauses_between_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rootle.http.client._BACKOFF", Backoff(first_s=0.0, longest_s=0.0))


class _Clock:
    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def open_served(server: JsonServer, clock: _Clock, make_app: Any) -> Callable[..., App]:
    """An app that embeds with the server, with a clock of the test's."""

    def make(root: Path, **settings: Any) -> App:
        app: App = make_app(root, **{**served(server), **settings})
        app._container.indexer()._clock = clock
        app._container.indexer()._rng = lambda: 0.5
        return app

    return make


def served(server: JsonServer) -> dict[str, Any]:
    return {
        "embedding_model_id": "some-model",
        "embedding_endpoint": f"{server.url}/v1",
        "embedding_api_key": KEY,
    }


def paths(app: App, question: str) -> list[str]:
    return [result.file_path for result in app.search(SearchQuery(question, limit=50)).results]


def waiting(app: App) -> int:
    return app.status().pending_embeddings


def test_an_index_is_embedded_by_the_server(repository, open_served, server):
    app = open_served(repository)
    report = app.index()
    assert report.chunks_embedded == report.chunks_total == len(texts_of(server))
    assert report.chunks_pending == 0
    response = app.search("retry_backoff")
    assert response.degraded == ()
    assert response.results[0].file_path == "src/net/retry.py"
    assert app._container.indexer().snapshot().dense.dimensions == DIMENSIONS
    assert app.status().model == "some-model"
    before = len(texts_of(server))
    assert app.index().chunks_embedded == 0
    write(repository, "src/new.py", "def quite_new(): pass\n")
    assert app.index().chunks_embedded == 1
    assert len(texts_of(server)) == before + 1


def test_what_is_embedded_is_what_the_shipped_model_would_embed(
    repository, open_served, server, make_app, tmp_path, embedder
):
    open_served(repository).index()
    make_app(repository, index_dir=tmp_path / "other", embedder=embedder).index()
    assert sorted(texts_of(server)) == sorted(embedder.texts)


def test_a_server_that_is_down_leaves_the_words_and_a_note(repository, open_served, server, clock):
    server.answer = lambda request: DOWN
    app = open_served(repository)
    report = app.index()
    assert report.chunks_pending == report.chunks_total > 0
    assert report.chunks_embedded == 0
    response = app.search("retry_backoff")
    assert response.results[0].file_path == "src/net/retry.py"
    assert response.degraded == ("dense", "pending")
    status = app.status()
    assert status.pending_embeddings == status.chunks
    assert "HTTP 503" in status.pending_reason
    assert status.pending_since is not None
    assert status.pending_retry_at is not None
    assert status.pending_since < status.pending_retry_at


def test_it_is_left_alone_for_growing_times_and_then_makes_up_for_everything(
    repository, open_served, server, clock
):
    server.answer = lambda request: DOWN
    app = open_served(repository)
    app.search("retry_backoff")
    pauses = []
    for _ in range(4):
        asked = len(server.requests)
        app.search("retry_backoff")  # too early
        assert len(server.requests) == asked
        before_s = clock()
        while len(server.requests) == asked:
            clock.ahead_s += 5
            app.search("retry_backoff")
        pauses.append(clock() - before_s)
    assert pauses == pytest.approx([22.5, 45, 90, 180], abs=8)
    server.answer = answer
    clock.ahead_s += 3_700
    response = app.search("retry_backoff")
    assert response.degraded == ()
    assert response.results[0].source == "merged"
    status = app.status()
    assert (status.pending_embeddings, status.pending_reason) == (0, "")
    assert (status.pending_since, status.pending_retry_at) == (None, None)


def test_a_server_says_how_long_it_wants_to_be_left_alone(repository, open_served, server, clock):
    server.answer = lambda request: Reply({}, 429, {"Retry-After": "900"})
    app = open_served(repository)
    app.index()
    server.answer = answer
    clock.ahead_s = 880
    app.search("x")
    assert waiting(app)
    clock.ahead_s = 910
    app.search("x")
    assert not waiting(app)


def test_an_explicit_run_does_not_wait(repository, open_served, server):
    server.answer = lambda request: DOWN
    app = open_served(repository)
    app.index()
    server.answer = answer
    assert app.index().chunks_pending == 0


def test_a_search_embeds_for_a_moment_only_and_the_next_ones_go_on(
    tmp_path, open_served, server, monkeypatch
):
    root = write_tree(tmp_path / "many", many_files(40))
    monkeypatch.setattr("rootle.indexing.embedding_backfill._BUDGET_PER_UPDATE_S", 0.05)

    def slowly(request: Request) -> Reply:
        time.sleep(0.03)
        return answer(request)

    server.answer = slowly
    app = open_served(root)
    left: list[int] = []
    while not left or left[-1]:
        response = app.search("flush the ledger")
        left.append(waiting(app))
        assert response.results
        assert ("pending" in response.degraded) is bool(left[-1])
    assert len(left) > 2
    assert left == sorted(left, reverse=True)
    dense = app._container.indexer().snapshot().dense
    assert len(np.unique(dense.chunk_ids[dense.chunk_ids > 0])) == app.status().chunks


def test_a_partly_embedded_index_finds_by_meaning_what_has_its_vector(
    repository, open_served, server, monkeypatch
):
    monkeypatch.setattr("rootle.ingest.embedding_queue._STEP_CHUNKS", 4)
    served_batches = []

    def twice(request: Request) -> Reply:
        served_batches.append(request)
        return answer(request) if len(served_batches) <= 2 else DOWN

    server.answer = twice
    app = open_served(repository, dense_batch_size=4)
    report = app.index()
    assert report.chunks_embedded == 8
    assert report.chunks_pending == report.chunks_total - 8 > 0
    server.answer = answer
    snapshot = app._container.indexer().snapshot()
    dense = snapshot.dense
    assert dense.pending == report.chunks_pending
    hits = dense.query(app._container.embedder().embed_query("retry backoff"), 1000)
    assert len(hits.ids) == 8
    response = app.search("retry_backoff")
    assert "pending" in response.degraded
    assert "dense" not in response.degraded
    assert response.results[0].file_path == "src/net/retry.py"


def test_the_end_is_the_same_whether_it_came_at_once_or_in_pieces(
    repository, open_served, server, make_app, tmp_path, answers, monkeypatch, clock
):
    at_once = make_app(repository, index_dir=tmp_path / "at_once", **served(server))
    at_once.index()
    monkeypatch.setattr("rootle.ingest.embedding_queue._STEP_CHUNKS", 3)
    in_pieces = open_served(repository, dense_batch_size=3)
    failing = [0]

    def now_and_then(request: Request) -> Reply:
        failing[0] += 1
        return answer(request) if failing[0] % 3 else DOWN

    server.answer = now_and_then
    while True:
        in_pieces.index()
        if not waiting(in_pieces):
            break
    server.answer = answer
    for question in QUESTIONS:
        assert paths(in_pieces, question) == paths(at_once, question), question


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_text_that_is_refused_waits_alone(repository, open_served, server, status, clock):
    write(repository, "poison.txt", "poison in the well\n")

    def careful(request: Request) -> Reply:
        if any("poison" in text for text in request.body["input"]):
            return Reply({"error": "I will not read this"}, status)
        return answer(request)

    server.answer = careful
    app = open_served(repository)
    report = app.index()
    assert report.chunks_pending == 1
    assert "I will not read this" in report.pending_reason
    assert paths(app, "poison in the well")[0] == "poison.txt"
    asked = len(server.requests)
    app.refresh()
    assert len(server.requests) == asked  # not again, until its time has come
    server.answer = answer
    clock.ahead_s = 3_700
    app.search("x")
    assert not waiting(app)


@pytest.mark.parametrize(("status", "most"), [(400, 3), (500, 3 * 4)])
def test_a_server_that_refuses_everything_is_not_asked_for_every_chunk(
    tmp_path, open_served, server, status, most
):
    server.answer = lambda request: Reply({"error": "no such model"}, status)
    app = open_served(write_tree(tmp_path / "many", many_files(40)))
    assert "no such model" in app.index().pending_reason
    assert len(server.requests) <= most


def test_other_writers_come_in_between_the_turns_of_a_long_run(
    tmp_path, open_served, server, monkeypatch, make_app
):
    root = write_tree(tmp_path / "many", many_files(40))
    other = make_app(root, **served(server))
    seen: list[Any] = []

    def search_meanwhile(seconds: float) -> None:
        if not seen:
            write(root, "meanwhile.py", "def meanwhile(): pass\n")
            seen.append(other.search("meanwhile"))

    def slowly(request: Request) -> Reply:
        time.sleep(0.02)
        return answer(request)

    server.answer = slowly
    monkeypatch.setattr("rootle.indexing.embedding_backfill._LOCK_DURATION_S", 0.01)
    monkeypatch.setattr("rootle.indexing.embedding_backfill.sleep", search_meanwhile)
    report = open_served(root, dense_batch_size=4).index()
    (response,) = seen
    assert response.results[0].file_path == "meanwhile.py"
    assert "stale" not in response.degraded
    assert report.chunks_pending == waiting(other) == 0


def test_files_that_change_while_they_wait(repository, open_served, server):
    server.answer = lambda request: DOWN
    app = open_served(repository)
    app.index()
    before = waiting(app)
    write(repository, "src/net/retry.py", "def retry_backoff(): return 'other'\n")
    (repository / "README.md").unlink()
    app.index()
    assert 0 < waiting(app) < before
    server.answer = answer
    asked = len(server.requests)
    app.index()
    assert waiting(app) == 0
    late = [text for request in server.requests[asked:] for text in request.body["input"]]
    assert late
    assert not [text for text in late if text.startswith("readme")]
    assert paths(app, "retry_backoff")[0] == "src/net/retry.py"


def test_vectors_of_another_length_are_not_mixed_in(repository, open_served, server):
    app = open_served(repository)
    app.index()
    app.close()
    write(repository, "new.py", "def brand_new(): pass\n")
    server.answer = lambda request: Reply(openai_answer(request.body["input"], 32))
    app = open_served(repository)
    app._container._embedder = None
    report = app.index()
    assert report.chunks_pending == 1
    assert "it is another model" in report.pending_reason
    response = app.search("brand_new")
    assert response.results[0].file_path == "new.py"
    assert "dense" in response.degraded


def test_another_model_means_a_new_index_wherever_it_is_served(repository, open_served, server):
    open_served(repository).index()
    asked = len(texts_of(server))
    open_served(repository, embedding_endpoint=f"{server.url}/elsewhere").index()
    assert len(texts_of(server)) == asked
    report = open_served(repository, embedding_model_id="another-model").index()
    assert report.chunks_embedded == report.chunks_total


def test_a_question_is_never_compared_with_vectors_of_another_model(
    repository, open_served, make_app, tmp_path, monkeypatch, embedder
):
    make_app(repository, embedder=embedder, embedding_model_id="static-code-v1").index()
    app = open_served(repository)
    # Nothing can be written, so the index that is there has to serve.
    monkeypatch.setattr(app._container.indexer(), "update", _refuse)
    response = app.search("retry_backoff")
    assert response.results[0].file_path == "src/net/retry.py"
    assert "dense" in response.degraded


def _refuse(*_: Any, **__: Any) -> None:
    raise IndexStorageError("the disk is full")


def test_a_crash_before_the_matrix_is_written_is_made_up_for(
    repository, open_served, server, make_app, tmp_path, monkeypatch
):
    unhurt = make_app(repository, index_dir=tmp_path / "unhurt", **served(server))
    unhurt.index()
    app = open_served(repository)
    commit = DerivedWriter.commit
    committed = []

    def fail_at_second(self: DerivedWriter, generation: int) -> None:
        committed.append(generation)
        if len(committed) == 2:  # the first is that of the words
            raise OSError("killed")
        commit(self, generation)

    monkeypatch.setattr(DerivedWriter, "commit", fail_at_second)
    with pytest.raises(Exception, match="killed"):
        app.index()
    monkeypatch.setattr(DerivedWriter, "commit", commit)
    asked = len(texts_of(server))
    report = app.index()
    assert report.chunks_pending == 0
    assert len(texts_of(server)) == asked  # what was paid for is kept
    response = app.search("retry_backoff")
    assert response.degraded == ()
    assert response.results[0].source == "merged"
    assert app._container.indexer().snapshot().dense.pending == 0
    # To the last digit: the words were not touched.
    assert response.results == unhurt.search("retry_backoff").results


# The process kills itself at the n-th call of anything that writes; see robustness/test_kill.py.
_AT_CALL = """
import os, signal, sys
fatal, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
count = 0
WRITING = ("/pipeline.py", "/indexer.py", "/embedding_queue.py", "/embedding_backfill.py")
def watch(frame, event, argument):
    global count
    name = frame.f_code.co_filename
    if "/rootle/index/" in name or name.endswith(WRITING):
        count += 1
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
import rootle.ingest.embedding_queue
rootle.ingest.embedding_queue._STEP_CHUNKS = 4
from rootle.cli.main import main
sys.setprofile(watch)
code = main()
sys.setprofile(None)
print("calls", count)
sys.exit(code)
"""


def test_killed_at_any_moment_it_ends_as_if_nothing_had_happened(repository, home, server):
    config = configuration(home, server)
    places = ("--config", config, "--index-dir")

    def killed_at(call: int, index: Path) -> Outcome:
        return rootle(
            str(call), "index", repository, *places, index, program=_AT_CALL, preloaded=True
        )

    def answer_from(index: Path) -> Any:
        asked = ("search", "retry_backoff", "--root", repository, "--json")
        data = rootle(*asked, *places, index).data
        return data["results"], data["degraded"]

    whole = killed_at(0, home / "whole")
    calls = int(whole.out.partition("calls ")[2])
    # Reading the files comes first; what matters here is the later part.
    for part in (0.7, 0.9):
        index = home / f"killed-{part}"
        assert killed_at(int(calls * part), index).code == -signal.SIGKILL
        assert rootle("index", repository, *places, index).code == 0
        assert answer_from(index) == answer_from(home / "whole")


def test_a_cloud_model_without_a_key_says_in_every_answer_that_another_one_serves(
    repository, make_app
):
    notices: list[str] = []
    app = make_app(repository, notices=notices, embedding_model_id="openai-embeddings-001")
    response = app.search("retry_backoff")
    assert response.degraded == ("embedding",)
    assert response.results[0].source == "merged"
    assert len(notices) == 1
    assert '"openai-embeddings-001"' in notices[0]
    status = app.status()
    assert status.model == "static-code-v1"
    assert status.model_remark == notices[0]


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply({"x": "y" * 900}, drip_s=0.05)])
def test_no_failure_makes_a_search_slower_than_its_deadlines(
    repository, open_served, server, reply, monkeypatch
):
    app = open_served(repository, dense_timeout_ms=200)
    app.index()
    server.answer = lambda request: reply
    write(repository, "later.py", "def later(): pass\n")
    for _ in range(3):
        started = time.monotonic()
        response = app.search("retry_backoff")
        assert "dense" in response.degraded
        assert response.results
        # One batch, the question, and what is not the server's fault.
        assert time.monotonic() - started < 0.2 + 0.2 + 2.0
    server.released.set()


def configuration(home: Path, server: JsonServer) -> Path:
    settings = {
        "embeddingModelID": "some-model",
        "embeddingEndpoint": f"{server.url}/v1?token={KEY}",
        "embeddingApiKey": KEY,
        "denseBatchSize": 2,
    }
    return write(home, "served.json", json.dumps({"searchAgent": settings}))


def test_a_killed_run_and_a_server_that_recovers(repository, home, server):
    """All that a user sees, from the first command to the day that the server works again."""
    config = configuration(home, server)
    seen: list[str] = []

    def run(*words: str | Path) -> Any:
        outcome = rootle(*words, "--config", config)
        seen.extend((outcome.out, outcome.err))
        return outcome

    server.answer = lambda request: DOWN
    indexed = run("index", repository)
    assert indexed.code == 0
    assert "chunks have no embedding yet: " in indexed.out
    found = run("search", "retry_backoff", "--root", repository, "--json")
    assert found.paths[0] == "src/net/retry.py"
    assert set(found.data["degraded"]) == {"dense", "pending"}
    status = run("status", repository, "--json").data
    assert status["pendingEmbeddings"] == status["chunks"] > 4
    assert "HTTP 503" in status["pendingReason"]
    assert status["pendingSince"].endswith("Z")
    assert status["pendingRetryAt"].endswith("Z")
    assert "chunks without an embedding since 20" in run("status", repository).out

    batches = threading.Semaphore(0)

    def hang_at_third(request: Request) -> Reply:
        batches.release()
        return answer(request) if len(server.requests) < third else Reply(hang=True)

    third = len(server.requests) + 3
    server.answer = hang_at_third
    process = start_rootle("index", repository, "--config", config)
    for _ in range(3):
        assert batches.acquire(timeout=60)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    after = run("status", repository, "--json").data
    assert after["pendingEmbeddings"] == status["chunks"]  # a step is all or nothing
    assert run("search", "retry_backoff", "--root", repository, "--json").paths

    server.answer = answer
    assert "wait for" not in run("index", repository).out
    whole = run("status", repository, "--json").data
    assert whole["pendingEmbeddings"] == 0
    assert (whole["pendingSince"], whole["pendingReason"]) == (None, "")
    assert run("config", "show", repository).code == 0
    found = run("search", "retry_backoff", "--root", repository, "--json", "--explain")
    assert found.data["degraded"] == []
    assert found.data["results"][0]["source"] == "merged"

    assert not [text for text in seen if KEY in text]
    kept = [path for path in home.rglob("*") if path.is_file() and path != config]
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]
