"""Real search servers: replication, queries, failures and recovery."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import rootle
from json_server import Reply, Request, serving
from real_servers import RealServer, chroma_server, weaviate_server
from sample import QUESTIONS, MakeApp, many_files, write, write_tree

from rootle.app import App
from rootle.errors import ConfigError, SearchUnavailableError
from rootle.index.remote.chroma import ChromaDense
from rootle.index.remote.http_backend import HttpBackend
from rootle.index.remote.protocol import RemoteChunk, Stamp
from rootle.index.remote.weaviate import WeaviateDense
from rootle.types import BackendStatus, SearchQuery


@pytest.fixture
def own_chroma(tmp_path: Path) -> Iterator[Any]:
    """Start a Chroma server that the test can kill."""
    (tmp_path / "chroma").mkdir()
    server = chroma_server(tmp_path / "chroma")
    server.start()
    yield server
    server.stop()


def _paths(app: App, question: str, **filters: Any) -> list[str]:
    return [result.file_path for result in app.search(SearchQuery(question, **filters)).results]


def _backend(app: App, leg: str = "dense") -> BackendStatus:
    return next(found for found in app.status().backends if found.leg == leg)


def _wait_until(holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.05)


def _count_replica(app: App) -> int:
    """Return the number of chunks in the dense replica of an app."""
    status = _backend(app)
    server = HttpBackend("Chroma", status.server.rpartition(" ")[2])
    return ChromaDense(server, status.index).count()


def _chunks(app: App) -> int:
    return app.status().chunks


@pytest.mark.server
@pytest.mark.parametrize(
    ("dense", "sparse"),
    [
        ("chroma", "embedded"),
        ("embedded", "opensearch"),
        ("chroma", "opensearch"),
        ("opensearch", "elasticsearch"),
        ("weaviate", "weaviate"),
    ],
)
def test_any_pair_of_backends_gives_the_same_answers_as_the_embedded_pair(
    dense: str,
    sparse: str,
    repository: Path,
    make_app: MakeApp,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    def url(kind: str) -> str:
        return "" if kind == "embedded" else str(request.getfixturevalue(kind).url)

    embedded = make_app(repository, index_dir=tmp_path / "embedded")
    app = make_app(
        repository,
        dense_backend=dense,
        dense_endpoint=url(dense),
        sparse_backend=sparse,
        sparse_endpoint=url(sparse),
        sparse_timeout_ms=20_000,
        dense_timeout_ms=20_000,
    )
    app.index()
    for question in QUESTIONS:
        answer = app.search(question)
        assert answer.degraded == (), question
        wanted = [result.file_path for result in embedded.search(question).results]
        assert [result.file_path for result in answer.results][:1] == wanted[:1], question
    assert {found.leg for found in app.status().backends} == {
        leg for leg, kind in (("dense", dense), ("sparse", sparse)) if kind != "embedded"
    }
    assert all(found.generation == app.status().generation for found in app.status().backends)


@pytest.mark.server
def test_changes_and_removals_are_replicated(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    app = make_app(repository, dense_backend="chroma", dense_endpoint=chroma.url)
    app.index()
    assert _count_replica(app) == _chunks(app) > 0
    write(repository, "src/new/invoice.py", "def refund_invoice(): return 'customer'\n")
    (repository / "src/store/cache.py").unlink()
    answer = app.search("refund a customer invoice")
    assert answer.results[0].file_path == "src/new/invoice.py"
    assert answer.results[0].source in ("merged", "dense")
    assert answer.degraded == ()
    assert "src/store/cache.py" not in _paths(app, "evict the oldest entry")
    _wait_until(lambda: _count_replica(app) == _chunks(app))


@pytest.mark.server
@pytest.mark.parametrize("kind", ["chroma", "weaviate"])
def test_a_replica_of_a_server_killed_during_indexing_is_completed_by_the_next_run(
    kind: str,
    tmp_path: Path,
    make_app: MakeApp,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    root = write_tree(tmp_path / "many", many_files(300, functions=8))
    (tmp_path / "server").mkdir()
    server = {"chroma": chroma_server, "weaviate": weaviate_server}[kind](tmp_path / "server")
    request.addfinalizer(server.stop)
    server.start()
    settings = {"dense_backend": kind, "dense_endpoint": server.url, "sparse_timeout_ms": 20_000}
    app, notices = make_app(root, **settings), list[str]()
    app._container._on_warning = notices.append
    batches = _batches_put(monkeypatch, {"chroma": ChromaDense, "weaviate": WeaviateDense}[kind])
    running = threading.Thread(target=app.index)
    running.start()
    _wait_until(lambda: len(batches) >= 2)
    server.kill()
    running.join()
    status = _backend(app)
    assert status.waiting_files > 0
    assert status.failing_since is not None
    assert re.search("cannot be reached|does not answer|did not answer", status.reason)
    assert any("dense index is not up to date" in notice for notice in notices)
    started = time.monotonic()
    answer = app.search("flush the ledger")
    # The limit is the sum of both deadlines.
    assert time.monotonic() - started < 2 + 20
    assert answer.degraded == ("dense",)
    assert answer.results
    server.start()
    app.index()
    remote = app._container.indexer().remote_indexes
    assert remote is not None
    index = remote._replicas["dense"].open_index(_backend(app).index)
    assert index.count() == _chunks(app)
    assert _backend(app).waiting_files == 0
    assert _backend(app).failing_since is None
    other = make_app(root, dense_timeout_ms=20_000, **settings)
    assert other.search("flush the ledger").degraded == ()


def _batches_put(monkeypatch: pytest.MonkeyPatch, adapter: type) -> list[int]:
    """Return a list to which the size of each batch is added when it is sent to a server."""
    batches: list[int] = []
    put = adapter.put  # type: ignore[attr-defined]

    def count_batches(self: Any, chunks: Any) -> None:
        batches.append(len(chunks))
        put(self, chunks)

    monkeypatch.setattr(adapter, "put", count_batches)
    return batches


@pytest.mark.server
def test_a_refused_write_is_retried_in_the_background(
    repository: Path, make_app: MakeApp, own_chroma: RealServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.index.remote.replication._BACKOFF", _Quick())
    app = make_app(repository, dense_backend="chroma", dense_endpoint=own_chroma.url)
    app.index()
    own_chroma.kill()
    write(repository, "src/new/invoice.py", "def refund_invoice(): return 'customer'\n")
    assert app.search("refund a customer invoice").degraded == ("dense",)
    _wait_until(lambda: _backend(app).failing_since is not None)
    own_chroma.start()
    _wait_until(lambda: app.refresh() and _backend(app).waiting_files == 0)
    assert _count_replica(app) == _chunks(app)
    later = make_app(repository, dense_backend="chroma", dense_endpoint=own_chroma.url)
    assert later.search("refund a customer invoice").degraded == ()


class _Quick:
    def delay_s(self, failures: int, rng: object) -> float:
        return 0.05


@pytest.mark.server
def test_a_hanging_server_delays_a_query_until_the_deadline_at_most(
    repository: Path, make_app: MakeApp, own_chroma: RealServer
) -> None:
    app = make_app(
        repository, dense_backend="chroma", dense_endpoint=own_chroma.url, dense_timeout_ms=400
    )
    app.index()
    assert app.search("wait before the next attempt").degraded == ()
    own_chroma.signal(signal.SIGSTOP)
    started = time.monotonic()
    answer = app.search("how long to wait before the next attempt")
    assert time.monotonic() - started < 2.0
    assert answer.degraded == ("dense",)
    assert answer.results[0].file_path == "src/net/retry.py"
    own_chroma.signal(signal.SIGCONT)


@pytest.mark.server
def test_a_missing_or_empty_collection_is_recreated(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    settings = {"dense_backend": "chroma", "dense_endpoint": chroma.url}
    app = make_app(repository, **settings)
    app.index()
    index = ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index)
    index.drop()
    assert app.search("validate an access token").degraded == ("dense",)  # the outage is reported
    _wait_until(lambda: app.search(f"validate a token {time.monotonic()}").degraded == ())
    index.create(64)
    assert make_app(repository, **settings).search("an access token").degraded == ("dense",)
    app.index()
    assert _count_replica(app) == _chunks(app)
    gone: dict[int, list[int]] = {file_id: [] for file_id in range(1, 5)}
    ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index).delete_stale(gone)
    assert _count_replica(app) < _chunks(app)
    app.index()  # this run counts the chunks and detects that some are missing
    assert _count_replica(app) == _chunks(app)


@pytest.mark.server
def test_a_replacement_lost_by_a_killed_server_is_detected(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    app = make_app(repository, dense_backend="chroma", dense_endpoint=chroma.url)
    app.index()
    write(repository, "src/net/retry.py", "def retry_backoff(): return 'once more'\n")
    app.index()
    index = ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index)
    with closing(sqlite3.connect(app.index_dir / "rootle.db")) as database:
        newest, file_id = database.execute("SELECT max(id), file_id FROM chunks").fetchone()
    index.delete_stale({file_id: []})
    old = RemoteChunk(
        1_000_000, 1, "src/net/retry.py", "python", 1, 2, np.ones(256, np.float32), ""
    )
    index.put([old])
    assert _count_replica(app) == _chunks(app)
    assert not index.contains(newest)
    app.index()
    assert ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index).contains(newest)
    assert _count_replica(app) == _chunks(app)


@pytest.mark.server
def test_files_removed_after_a_server_backup_are_deleted_after_a_restore(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    app = make_app(repository, dense_backend="chroma", dense_endpoint=chroma.url)
    app.index()
    (repository / "src/store/cache.py").unlink()
    app.index()
    for text in ("one", "two"):  # the second commit drops the record of the removal
        write(repository, "src/net/retry.py", f"def retry_backoff(): return '{text}'\n")
        app.index()
    index = ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index)
    gone = RemoteChunk(1_000_000, 999, "gone.py", "python", 1, 2, np.ones(256, np.float32), "")
    index.put([gone])
    index.commit(Stamp(1, is_complete=True))
    # The first answer may be stale: it starts the replication that repairs the server.
    app.search("how long to wait before the next attempt")
    _wait_until(lambda: app.search("how long to wait for another attempt").degraded == ())
    again = ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index)
    assert not again.contains(1_000_000)
    assert _count_replica(app) == _chunks(app)


@pytest.mark.server
def test_a_collection_with_other_dimensions_is_recreated(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    app = make_app(repository, dense_backend="chroma", dense_endpoint=chroma.url)
    app.index()
    server = HttpBackend("Chroma", chroma.url)
    name = _backend(app).index
    place = "/api/v2/tenants/default_tenant/databases/default_database/collections"
    metadata = server.request("GET", f"{place}/{name}")["metadata"]
    server.request("DELETE", f"{place}/{name}")
    made = server.request("POST", place, {"name": name, "metadata": metadata})
    server.request(
        "POST", f"{place}/{made['id']}/upsert", {"ids": ["1"], "embeddings": [[1.0, 2.0, 3.0]]}
    )
    assert app.search("validate an access token").degraded == ("dense",)
    app.index()
    assert app.search("validate the access token").degraded == ()
    assert _count_replica(app) == _chunks(app)


@pytest.mark.server
def test_rebuild_and_clear_delete_the_replica(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    app = make_app(repository, dense_backend="chroma", dense_endpoint=chroma.url)
    app.index()
    first = _backend(app).index
    app.index(rebuild=True)
    second = _backend(app).index
    assert second != first
    server = HttpBackend("Chroma", chroma.url)
    assert ChromaDense(server, first).read_stamp(256) is None
    assert _count_replica(app) == _chunks(app)
    app.clear()
    assert ChromaDense(server, second).read_stamp(256) is None
    assert not app.index_dir.exists()


def test_an_invalid_backend_is_refused_with_the_remedy(repository: Path, make_app: MakeApp) -> None:
    for settings, said in (
        ({"dense_backend": "chrome"}, 'denseBackend is "chrome".*"chroma"'),
        ({"dense_backend": "elasticsearch"}, "choose one of"),
        ({"sparse_backend": "chroma"}, "sparseBackend"),
        ({"dense_backend": "chroma"}, "denseEndpoint is empty"),
        ({"dense_backend": "chroma", "dense_endpoint": "http://me:pass@host"}, "denseApiKey"),
    ):
        with pytest.raises(ConfigError, match=said):
            make_app(repository, **settings).index()


@pytest.mark.server
def test_a_read_only_app_never_writes_to_a_server(
    repository: Path, make_app: MakeApp, chroma: RealServer
) -> None:
    settings = {"dense_backend": "chroma", "dense_endpoint": chroma.url}
    app = make_app(repository, **settings)
    app.index()
    ChromaDense(HttpBackend("Chroma", chroma.url), _backend(app).index).drop()
    reader = make_app(repository, enable_indexing=False, **settings)
    assert reader.search("validate an access token").degraded == ("dense",)
    time.sleep(0.3)
    assert reader.search("validate a token").degraded == ("dense",)


def _nonsense(request: Request) -> Reply:
    return Reply(raw=b"\x00\xff[}")


def _another_shape(request: Request) -> Reply:
    return Reply([{"what": "is this"}])


def _hang(request: Request) -> Reply:
    return Reply(hang=True)


def _drip(request: Request) -> Reply:
    return Reply({"id": "x" * 1_000}, drip_s=0.02)


def _no_key(request: Request) -> Reply:
    return Reply({"error": f"{request.headers.get('x-chroma-token')} is no key"}, status=401)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [_nonsense, _another_shape, _hang, _drip, _no_key, None])
def test_fifty_queries_with_a_broken_server_end_within_the_deadline(
    fault: Callable[[Request], Reply] | None,
    repository: Path,
    make_app: MakeApp,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_app(repository).index()
    with serving(fault or _hang) as server:
        if fault is None:
            server.close()
        app = make_app(
            repository,
            dense_backend="chroma",
            dense_endpoint=server.url,
            dense_api_key="sesame-4711",
            dense_timeout_ms=300,
            enable_cache=False,
        )
        times = []
        for _ in range(50):
            started = time.monotonic()
            answer = app.search("how long to wait before the next attempt")
            times.append(time.monotonic() - started)
            assert answer.degraded == ("dense",)
            assert answer.results[0].file_path == "src/net/retry.py"
        assert max(times) < 0.3 + 1.0  # the deadlines of the dense and the sparse search
        assert sorted(times)[25] < 0.25  # the circuit breaker opened
        status = str(app.status())
        app.close()
    assert "sesame" not in status + caplog.text


def test_a_search_is_unavailable_if_both_servers_are_down(
    repository: Path, make_app: MakeApp
) -> None:
    make_app(repository).index()
    with serving(_hang) as server:
        gone = server.url
    app = make_app(
        repository,
        dense_backend="opensearch",
        dense_endpoint=gone,
        sparse_backend="opensearch",
        sparse_endpoint=gone,
    )
    with pytest.raises(SearchUnavailableError, match="service unavailable"):
        app.search("how long to wait before the next attempt")


@pytest.mark.slow
def test_the_status_command_reports_pending_files_and_the_reason(
    repository: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    with serving(_hang) as server:
        gone = server.url
    settings = {"denseBackend": "chroma", "denseEndpoint": gone, "denseApiKey": "sesame-4711"}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": settings}))
    indexed = rootle("index", repository, "--config", config)
    assert indexed.code == 0
    assert "the dense index is not up to date, and replication will be retried" in indexed.err
    shown = rootle("status", repository, "--config", config)
    assert re.search(rf"dense       Chroma at {gone}, \d+ files behind", shown.out)
    assert "failing since 20" in shown.out
    assert "next attempt 20" in shown.out
    assert "sesame" not in indexed.err + shown.out


def test_a_key_from_a_command_is_never_shown(
    repository: Path, make_app: MakeApp, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = tmp_path / "key"
    key.write_text("sesame-4711\n")
    asked: list[str | None] = []

    def answer(request: Request) -> Reply:
        asked.append(request.headers.get("authorization"))
        return Reply({"error": f"{asked[-1]}?"}, status=403)

    with serving(answer) as server:
        app = make_app(
            repository,
            sparse_backend="elasticsearch",
            sparse_endpoint=server.url,
            sparse_api_key_command=f"cat {key}",
        )
        app.index()
        assert app.search("how long to wait before the next attempt").degraded == ("sparse",)
        shown = str(app.status()) + caplog.text
        app.close()
    assert set(asked) == {"ApiKey sesame-4711"}
    assert "sesame" not in shown
