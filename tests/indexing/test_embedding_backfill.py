"""Chunks without a vector: found by keywords at once, and by vector after they are embedded."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Outcome, rootle, start_rootle
from embedding_server import DIMENSIONS, answer, embedding_server, openai_answer, texts_of
from hash_embedder import HashEmbedder
from json_server import JsonServer, Reply, Request
from sample import QUESTIONS, MakeApp, many_files, write, write_tree

from rootle.app import App
from rootle.concurrency.backoff import Backoff
from rootle.errors import IndexStorageError
from rootle.index.local.derived_indexes import DerivedWriter
from rootle.protocols import QueryEmbedder
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

OpenApp = Callable[..., App]

KEY = "sk-pending-secret-77"
DOWN = Reply({"error": {"message": f"overloaded, dear {KEY}"}}, 503)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_delay_between_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rootle.http.retry._BACKOFF", Backoff(first_s=0.0, longest_s=0.0))


class _Clock:
    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def open_with_server(server: JsonServer, clock: _Clock, make_app: Any) -> OpenApp:
    """Return a function that opens apps, which embed on the server and use the test's clock."""

    def make(root: Path, **settings: Any) -> App:
        app: App = make_app(root, **{**settings_for(server), **settings})
        app._container.indexer()._clock = clock
        app._container.indexer()._rng = lambda: 0.5
        return app

    return make


def settings_for(server: JsonServer) -> dict[str, Any]:
    return {
        "embedding_model_id": "some-model",
        "embedding_endpoint": f"{server.url}/v1",
        "embedding_api_key": KEY,
    }


def search_paths(app: App, query: str) -> list[str]:
    return [result.file_path for result in app.search(SearchQuery(query, limit=50)).results]


def count_pending(app: App) -> int:
    return app.status().pending_embeddings


def test_an_index_is_embedded_by_the_server(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    app = open_with_server(repository)
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


def test_a_server_embeds_the_same_texts_as_the_bundled_model(
    repository: Path,
    open_with_server: OpenApp,
    server: JsonServer,
    make_app: MakeApp,
    tmp_path: Path,
    embedder: HashEmbedder,
) -> None:
    open_with_server(repository).index()
    make_app(repository, index_dir=tmp_path / "other", embedder=embedder).index()
    assert sorted(texts_of(server)) == sorted(embedder.texts)


def test_chunks_are_searchable_by_keyword_while_the_server_is_down(
    repository: Path, open_with_server: OpenApp, server: JsonServer, clock: _Clock
) -> None:
    server.answer = lambda request: DOWN
    app = open_with_server(repository)
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


def test_retries_are_delayed_exponentially_and_finally_embed_everything(
    repository: Path, open_with_server: OpenApp, server: JsonServer, clock: _Clock
) -> None:
    server.answer = lambda request: DOWN
    app = open_with_server(repository)
    app.search("retry_backoff")
    pauses = []
    for _ in range(4):
        request_count = len(server.requests)
        app.search("retry_backoff")  # before the next retry is due
        assert len(server.requests) == request_count
        before_s = clock()
        while len(server.requests) == request_count:
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


def test_the_retry_after_header_of_the_server_is_obeyed(
    repository: Path, open_with_server: OpenApp, server: JsonServer, clock: _Clock
) -> None:
    server.answer = lambda request: Reply({}, 429, {"Retry-After": "900"})
    app = open_with_server(repository)
    app.index()
    server.answer = answer
    clock.ahead_s = 880
    app.search("x")
    assert count_pending(app)
    clock.ahead_s = 910
    app.search("x")
    assert not count_pending(app)


def test_rootle_index_retries_at_once(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    server.answer = lambda request: DOWN
    app = open_with_server(repository)
    app.index()
    server.answer = answer
    assert app.index().chunks_pending == 0


def test_each_search_embeds_some_pending_chunks(
    tmp_path: Path, open_with_server: OpenApp, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "many", many_files(40))
    monkeypatch.setattr("rootle.indexing.embedding_backfill._BUDGET_PER_UPDATE_S", 0.05)

    def answer_slowly(request: Request) -> Reply:
        time.sleep(0.03)
        return answer(request)

    server.answer = answer_slowly
    app = open_with_server(root)
    left: list[int] = []
    while not left or left[-1]:
        response = app.search("flush the ledger")
        left.append(count_pending(app))
        assert response.results
        assert ("pending" in response.degraded) is bool(left[-1])
    assert len(left) > 2
    assert left == sorted(left, reverse=True)
    dense = app._container.indexer().snapshot().dense
    assert len(np.unique(dense.chunk_ids[dense.chunk_ids > 0])) == app.status().chunks


def test_the_embedded_part_of_an_index_is_searched_by_vector(
    repository: Path, open_with_server: OpenApp, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.ingest.pending_embedding_queue._STEP_CHUNKS", 4)
    answered = []

    def answer_twice(request: Request) -> Reply:
        answered.append(request)
        return answer(request) if len(answered) <= 2 else DOWN

    server.answer = answer_twice
    app = open_with_server(repository, dense_batch_size=4)
    report = app.index()
    assert report.chunks_embedded == 8
    assert report.chunks_pending == report.chunks_total - 8 > 0
    server.answer = answer
    snapshot = app._container.indexer().snapshot()
    dense = snapshot.dense
    assert dense.pending == report.chunks_pending
    embedder = app._container.embedder()
    assert isinstance(embedder, QueryEmbedder)
    hits = dense.query(embedder.embed_query("retry backoff"), 1000)
    assert len(hits.ids) == 8
    response = app.search("retry_backoff")
    assert "pending" in response.degraded
    assert "dense" not in response.degraded
    assert response.results[0].file_path == "src/net/retry.py"


def test_a_failure_after_a_success_has_the_first_retry_delay(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    answers = iter([answer])
    server.answer = lambda request: next(answers, lambda _: DOWN)(request)
    app = open_with_server(repository, dense_batch_size=4)
    assert app.index().chunks_embedded == 4
    retry_at = datetime.fromisoformat(app.status().pending_retry_at or "")
    assert retry_at.timestamp() - time.time() == pytest.approx(22.5, abs=8)


def test_embedding_in_several_runs_equals_embedding_in_one_run(
    repository: Path,
    open_with_server: OpenApp,
    server: JsonServer,
    make_app: MakeApp,
    tmp_path: Path,
    answers: Callable[..., list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    clock: _Clock,
) -> None:
    at_once = make_app(repository, index_dir=tmp_path / "at_once", **settings_for(server))
    at_once.index()
    monkeypatch.setattr("rootle.ingest.pending_embedding_queue._STEP_CHUNKS", 3)
    in_pieces = open_with_server(repository, dense_batch_size=3)
    requests = [0]

    def fail_every_third_time(request: Request) -> Reply:
        requests[0] += 1
        return answer(request) if requests[0] % 3 else DOWN

    server.answer = fail_every_third_time
    while True:
        in_pieces.index()
        if not count_pending(in_pieces):
            break
    server.answer = answer
    for query in QUESTIONS:
        assert search_paths(in_pieces, query) == search_paths(at_once, query), query


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_rejected_text_does_not_delay_the_others(
    repository: Path, open_with_server: OpenApp, server: JsonServer, status: int, clock: _Clock
) -> None:
    write(repository, "poison.txt", "poison in the well\n")

    def reject_poison(request: Request) -> Reply:
        if any("poison" in text for text in request.body["input"]):
            return Reply({"error": "I will not read this"}, status)
        return answer(request)

    server.answer = reject_poison
    app = open_with_server(repository)
    report = app.index()
    assert report.chunks_pending == 1
    assert "I will not read this" in report.pending_reason
    assert search_paths(app, "poison in the well")[0] == "poison.txt"
    request_count = len(server.requests)
    app.refresh()
    assert len(server.requests) == request_count  # its retry is not due yet
    server.answer = answer
    clock.ahead_s = 3_700
    app.search("x")
    assert not count_pending(app)


@pytest.mark.parametrize(("status", "max_requests"), [(400, 3), (500, 3 * 4)])
def test_a_server_that_rejects_everything_receives_few_requests(
    tmp_path: Path, open_with_server: OpenApp, server: JsonServer, status: int, max_requests: int
) -> None:
    server.answer = lambda request: Reply({"error": "no such model"}, status)
    app = open_with_server(write_tree(tmp_path / "many", many_files(40)))
    assert "no such model" in app.index().pending_reason
    assert len(server.requests) <= max_requests


def test_other_writers_get_the_lock_during_a_long_run(
    tmp_path: Path,
    open_with_server: OpenApp,
    server: JsonServer,
    monkeypatch: pytest.MonkeyPatch,
    make_app: MakeApp,
) -> None:
    root = write_tree(tmp_path / "many", many_files(40))
    other = make_app(root, **settings_for(server))
    seen: list[Any] = []

    def search_meanwhile(seconds: float) -> None:
        if not seen:
            write(root, "meanwhile.py", "def meanwhile(): pass\n")
            seen.append(other.search("meanwhile"))

    def answer_slowly(request: Request) -> Reply:
        time.sleep(0.02)
        return answer(request)

    server.answer = answer_slowly
    monkeypatch.setattr("rootle.indexing.embedding_backfill._LOCK_DURATION_S", 0.01)
    monkeypatch.setattr("rootle.indexing.embedding_backfill.sleep", search_meanwhile)
    report = open_with_server(root, dense_batch_size=4).index()
    (response,) = seen
    assert response.results[0].file_path == "meanwhile.py"
    assert "stale" not in response.degraded
    assert report.chunks_pending == count_pending(other) == 0


def test_files_that_change_while_they_are_pending_are_embedded_once(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    server.answer = lambda request: DOWN
    app = open_with_server(repository)
    app.index()
    before = count_pending(app)
    write(repository, "src/net/retry.py", "def retry_backoff(): return 'other'\n")
    (repository / "README.md").unlink()
    app.index()
    assert 0 < count_pending(app) < before
    server.answer = answer
    request_count = len(server.requests)
    app.index()
    assert count_pending(app) == 0
    late = [text for request in server.requests[request_count:] for text in request.body["input"]]
    assert late
    assert not [text for text in late if text.startswith("readme")]
    assert search_paths(app, "retry_backoff")[0] == "src/net/retry.py"


def test_vectors_of_a_different_length_are_not_stored(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    app = open_with_server(repository)
    app.index()
    app.close()
    write(repository, "new.py", "def brand_new(): pass\n")
    server.answer = lambda request: Reply(openai_answer(request.body["input"], 32))
    app = open_with_server(repository)
    app._container._embedder = None
    report = app.index()
    assert report.chunks_pending == 1
    assert "the model has changed" in report.pending_reason
    response = app.search("brand_new")
    assert response.results[0].file_path == "new.py"
    assert "dense" in response.degraded


def test_another_model_rebuilds_the_index_and_another_endpoint_does_not(
    repository: Path, open_with_server: OpenApp, server: JsonServer
) -> None:
    open_with_server(repository).index()
    request_count = len(texts_of(server))
    open_with_server(repository, embedding_endpoint=f"{server.url}/elsewhere").index()
    assert len(texts_of(server)) == request_count
    report = open_with_server(repository, embedding_model_id="another-model").index()
    assert report.chunks_embedded == report.chunks_total


def test_a_query_is_not_compared_with_vectors_of_a_different_model(
    repository: Path,
    open_with_server: OpenApp,
    make_app: MakeApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    embedder: HashEmbedder,
) -> None:
    make_app(repository, embedder=embedder, embedding_model_id="static-code-v2").index()
    app = open_with_server(repository)
    # Nothing can be written, so the app searches the existing index.
    monkeypatch.setattr(app._container.indexer(), "update", _raise_disk_full)
    response = app.search("retry_backoff")
    assert response.results[0].file_path == "src/net/retry.py"
    assert "dense" in response.degraded


def _raise_disk_full(*_: Any, **__: Any) -> None:
    raise IndexStorageError("the disk is full")


def test_vectors_are_restored_after_a_crash_before_the_matrix_is_written(
    repository: Path,
    open_with_server: OpenApp,
    server: JsonServer,
    make_app: MakeApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    intact = make_app(repository, index_dir=tmp_path / "intact", **settings_for(server))
    intact.index()
    app = open_with_server(repository)
    commit = DerivedWriter.commit
    committed = []

    def fail_at_second(self: DerivedWriter, generation: int) -> None:
        committed.append(generation)
        if len(committed) == 2:  # the first commit has written the word indexes
            raise OSError("killed")
        commit(self, generation)

    monkeypatch.setattr(DerivedWriter, "commit", fail_at_second)
    with pytest.raises(Exception, match="killed"):
        app.index()
    monkeypatch.setattr(DerivedWriter, "commit", commit)
    request_count = len(texts_of(server))
    report = app.index()
    assert report.chunks_pending == 0
    assert len(texts_of(server)) == request_count  # the run requests no embedding twice
    response = app.search("retry_backoff")
    assert response.degraded == ()
    assert response.results[0].source == "merged"
    assert app._container.indexer().snapshot().dense.pending == 0
    # Scores are identical, since the word indexes were not written again.
    assert response.results == intact.search("retry_backoff").results


# The process kills itself at the n-th call in a module that writes, as in robustness/test_kill.py.
_AT_CALL = """
import os, signal, sys
fatal, sys.argv[1:] = int(sys.argv[1]), sys.argv[2:]
count = 0
WRITING = (
    *("/pipeline.py", "/indexer.py", "/content_writer.py", "/rebuild.py"),
    *("/pending_embedding_queue.py", "/embedding_backfill.py"),
)
def watch(frame, event, argument):
    global count
    name = frame.f_code.co_filename
    if "/rootle/index/" in name or name.endswith(WRITING):
        count += 1
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
import rootle.ingest.pending_embedding_queue
rootle.ingest.pending_embedding_queue._STEP_CHUNKS = 4
from rootle.cli.main import main
sys.setprofile(watch)
code = main()
sys.setprofile(None)
print("calls", count)
sys.exit(code)
"""


def test_a_run_killed_at_any_call_is_completed_by_the_next_one(
    repository: Path, home: Path, server: JsonServer
) -> None:
    config = write_config(home, server)
    options = ("--config", config, "--index-dir")

    def kill_at(call: int, index: Path) -> Outcome:
        return rootle(
            str(call), "index", repository, *options, index, program=_AT_CALL, preloaded=True
        )

    def search(index: Path) -> Any:
        command = ("search", "retry_backoff", "--root", repository, "--json")
        data = rootle(*command, *options, index).data
        return data["results"], data["degraded"]

    complete = kill_at(0, home / "complete")
    calls = int(complete.out.partition("calls ")[2])
    # A run reads the files first. The last part of its calls writes the embeddings.
    for part in (0.7, 0.9):
        index = home / f"killed-{part}"
        assert kill_at(int(calls * part), index).code == -signal.SIGKILL
        assert rootle("index", repository, *options, index).code == 0
        assert search(index) == search(home / "complete")


def test_a_cloud_model_without_a_key_is_replaced_and_every_response_reports_it(
    repository: Path, make_app: MakeApp
) -> None:
    notices: list[str] = []
    app = make_app(repository, notices=notices, embedding_model_id="openai-embeddings-001")
    response = app.search("retry_backoff")
    assert response.degraded == ("embedding",)
    assert response.results[0].source == "merged"
    assert len(notices) == 1
    assert '"openai-embeddings-001"' in notices[0]
    status = app.status()
    assert status.model == "static-code-v2"
    assert status.model_note == notices[0]


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply({"x": "y" * 900}, drip_s=0.05)])
def test_a_search_meets_its_deadlines_despite_any_server_fault(
    repository: Path,
    open_with_server: OpenApp,
    server: JsonServer,
    reply: Reply,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_with_server(repository, dense_timeout_ms=200)
    app.index()
    server.answer = lambda request: reply
    write(repository, "later.py", "def later(): pass\n")
    for _ in range(3):
        started = time.monotonic()
        response = app.search("retry_backoff")
        assert "dense" in response.degraded
        assert response.results
        # The timeouts of one batch and of the query, and some tolerance for a busy machine.
        assert time.monotonic() - started < 0.2 + 0.2 + 2.0
    server.released.set()


def write_config(home: Path, server: JsonServer) -> Path:
    settings = {
        "embeddingModelID": "some-model",
        "embeddingEndpoint": f"{server.url}/v1?token={KEY}",
        "embeddingApiKey": KEY,
        "denseBatchSize": 2,
    }
    return write(home, "config.json", json.dumps({"searchAgent": settings}))


def test_the_messages_and_status_of_an_outage_contain_no_key(
    repository: Path, home: Path, server: JsonServer
) -> None:
    """Follow an outage from the first command, through a killed run, to the recovery."""
    config = write_config(home, server)
    output: list[str] = []

    def run(*words: str | Path) -> Any:
        outcome = rootle(*words, "--config", config)
        output.extend((outcome.out, outcome.err))
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
    # The killed run stored nothing, because a step is atomic.
    assert after["pendingEmbeddings"] == status["chunks"]
    assert run("search", "retry_backoff", "--root", repository, "--json").paths

    server.answer = answer
    assert "wait for" not in run("index", repository).out
    final = run("status", repository, "--json").data
    assert final["pendingEmbeddings"] == 0
    assert (final["pendingSince"], final["pendingReason"]) == (None, "")
    assert run("config", "show", repository).code == 0
    found = run("search", "retry_backoff", "--root", repository, "--json", "--explain")
    assert found.data["degraded"] == []
    assert found.data["results"][0]["source"] == "merged"

    assert not [text for text in output if KEY in text]
    files = [path for path in home.rglob("*") if path.is_file() and path != config]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
