"""A search waits until a deadline for a dependency that is down; later searches skip it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from sample import MakeApp

from rootle.app import App
from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.protocols import Matrix
from rootle.search.factory import SearchedIndex, open_agent
from rootle.search.retrieval.legs import SparseFindings, search_sparse
from rootle.types import SearchQuery

_DEADLINE_MS: Final = 150
_TIMEOUT_S: Final = 60  # long, because the machine may be busy


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_trial_call_in_the_background_detects_a_recovery() -> None:
    clock, release = _Clock(), threading.Event()
    leg = DeadlineExecutor("dense", 60_000, clock)

    def down() -> None:
        raise UnavailableError("down")

    for _ in range(3):
        assert leg.start(down).result() is None
    assert "skipped after" in leg.start(int).failure
    clock.now += 1_000
    trial = leg.start(lambda: release.wait(_TIMEOUT_S))
    started = time.monotonic()
    assert trial.result() is None  # long before its deadline of a minute
    assert time.monotonic() - started < _TIMEOUT_S / 2
    assert "skipped after" in leg.start(int).failure
    release.set()
    deadline = time.monotonic() + _TIMEOUT_S
    while leg.start(lambda: 7).result() != 7:
        assert time.monotonic() < deadline
    leg.close()


def test_an_unexpected_exception_is_raised_and_not_counted_as_an_outage() -> None:
    leg = DeadlineExecutor("dense", 60_000)
    with pytest.raises(ZeroDivisionError):
        leg.start(lambda: 1 / 0).result()
    leg.close()


class _Server:
    """An embedding server with one fault."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._behave = behave
        self._held: list[socket.socket] = []
        self.port = self._listener.getsockname()[1]
        self.requests = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.requests += 1
                self._held.append(client)
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with suppress(OSError):
            client.recv(65_536)
            self._behave(client)

    def close(self) -> None:
        for held in (self._listener, *self._held):
            with suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)
            held.close()


def _drip(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(100_000):
        client.sendall(b" ")
        time.sleep(0.02)


def _answer_garbage(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\x00\xff[}")
    client.close()


def _answer_nan(client: socket.socket) -> None:
    body = json.dumps([[float("nan")] * 256]).encode()
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def _answer_short(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[[1, 0]] ")


class _RemoteEmbedder(HashEmbedder):
    """An adapter without a timeout."""

    def __init__(self, port: int) -> None:
        super().__init__(256)
        self._port = port

    def embed(self, texts: Sequence[str]) -> Matrix:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self._port)) as connection:
                connection.request("POST", "/", json.dumps(list(texts)))
                return np.array(json.loads(connection.getresponse().read()), dtype=np.float32)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnavailableError(f"cannot embed: {error}") from error


_FAULTS: Final[Mapping[str, Callable[[socket.socket], None] | None]] = {
    "dead": None,
    "hanging": lambda client: time.sleep(_TIMEOUT_S),
    "dripping": _drip,
    "garbage": _answer_garbage,
    "not a number": _answer_nan,
    "too few dimensions": _answer_short,
}


@pytest.fixture(params=_FAULTS)
def server(request: pytest.FixtureRequest) -> Iterator[_Server]:
    server = _Server(_FAULTS[request.param] or _drip)
    if request.param == "dead":
        server.close()
    yield server
    server.close()


@pytest.mark.slow
def test_fifty_queries_are_answered_by_keyword_search_if_a_server_is_broken(
    server: _Server, repository: Path, make_app: MakeApp
) -> None:
    app: App = make_app(repository)
    app.index()
    embedder = _RemoteEmbedder(server.port)
    config = Config(dense_timeout_ms=_DEADLINE_MS, sparse_timeout_ms=5_000)
    agent = open_agent(SearchedIndex(app._container.indexer().snapshot, lambda: embedder), config)
    times = []
    for number in range(50):
        started = time.monotonic()
        response = agent.search(SearchQuery(f"retry_backoff {number}"))
        times.append(time.monotonic() - started)
        assert response.degraded == ("dense",)
        assert response.results[0].file_path == "src/net/retry.py"
    assert max(times) < (config.dense_timeout_ms + config.sparse_timeout_ms) / 1000
    # Three requests open the circuit breaker; later requests are occasional trials.
    assert server.requests <= 10
    agent.close()


def test_concurrent_queries_do_not_consume_the_deadline_of_a_local_leg(
    repository: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App = make_app(repository)
    app.index()
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(sparse_timeout_ms=1, dense_timeout_ms=60_000),
    )
    monkeypatch.setattr("rootle.search.session._CHUNKS_FOR_THREADS", 0)
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", _search_slowly)
    assert agent.search(SearchQuery("retry_backoff")).degraded == ("sparse",)
    agent._requests.active.__enter__()  # as if another query were running
    assert agent.search(SearchQuery("retry_backoff again")).degraded == ()
    agent.close()


def _search_slowly(*arguments: Any) -> SparseFindings:
    time.sleep(0.2)  # far beyond the deadline of 1 ms
    return search_sparse(*arguments)
