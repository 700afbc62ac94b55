"""Parts that are down: each costs its deadline at most, and is soon not asked any more."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from hash_embedder import HashEmbedder

from rootle.app import App
from rootle.concurrency.circuit_breaker import CircuitBreaker
from rootle.concurrency.deadline import DeadlineExecutor
from rootle.concurrency.thread_pool import ThreadPool
from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.protocols import Matrix
from rootle.search.agent import SearchAgent
from rootle.search.retrieval.candidates import SparseFindings, ask_sparse
from rootle.types import SearchQuery

_DEADLINE_MS: Final = 150
_PATIENCE_S: Final = 60  # for what is certain to come, on a machine however busy


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_breaker_opens_after_failures_in_a_row_and_closes_after_a_trial() -> None:
    clock = _Clock()
    breaker = CircuitBreaker(clock, failures=3, rest_s=1.0)
    assert [breaker.failed(), breaker.failed()] == [False, False]
    breaker.succeeded()
    assert [breaker.failed(), breaker.failed()] == [False, False]
    assert breaker.admission() == "open to all"
    assert breaker.failed()
    assert [breaker.admission(), breaker.admission()] == ["none", "none"]
    clock.now = 1.0
    assert [breaker.admission(), breaker.admission()] == ["one trial", "none"]
    breaker.succeeded()
    assert breaker.admission() == "open to all"


def test_the_rest_doubles_while_trials_fail_or_never_come_back_and_has_a_limit() -> None:
    clock = _Clock()
    breaker = CircuitBreaker(clock, failures=1, rest_s=1.0)
    breaker.failed()
    trials = []
    for _ in range(2_000):
        clock.now += 0.5
        if breaker.admission() == "one trial":
            trials.append(clock.now)
    gaps = [later - earlier for earlier, later in pairwise(trials)]
    assert trials[0] == 1.0
    assert gaps[:7] == [2, 4, 8, 16, 32, 60, 60]


def test_threads_that_hang_take_none_from_others_and_are_used_again_when_they_come_back() -> None:
    threads, release, names = ThreadPool("t"), threading.Event(), set()
    hanging = [threads.run(lambda: release.wait(_PATIENCE_S)) for _ in range(20)]
    for _ in range(5):
        assert threads.run(lambda: names.add(threading.get_ident())).result(_PATIENCE_S) is None
    assert len(names) <= 2  # one thread goes on taking tasks; a second if it was not back yet
    release.set()
    assert all(future.result(_PATIENCE_S) for future in hanging)
    threads.close()


def test_too_many_hanging_threads_are_a_part_that_is_down() -> None:
    threads, release = ThreadPool("t", most=2), threading.Event()
    for _ in range(2):
        threads.run(lambda: release.wait(_PATIENCE_S))
    with pytest.raises(UnavailableError, match="2 earlier requests"):
        threads.run(int)
    release.set()
    threads.close()


def test_a_part_that_recovers_is_noticed_by_a_question_that_does_not_wait_for_it() -> None:
    clock, release = _Clock(), threading.Event()
    leg = DeadlineExecutor("dense", 60_000, clock)

    def down() -> None:
        raise UnavailableError("down")

    for _ in range(3):
        assert leg.start(down).answer() is None
    assert "left alone" in leg.start(int).failure
    clock.now += 1_000
    trial = leg.start(lambda: release.wait(_PATIENCE_S))
    started = time.monotonic()
    assert trial.answer() is None  # although its deadline is a minute
    assert time.monotonic() - started < _PATIENCE_S / 2
    assert "left alone" in leg.start(int).failure
    release.set()
    deadline = time.monotonic() + _PATIENCE_S
    while leg.start(lambda: 7).answer() != 7:
        assert time.monotonic() < deadline
    leg.close()


def test_a_bug_in_a_part_is_no_outage() -> None:
    leg = DeadlineExecutor("dense", 60_000)
    with pytest.raises(ZeroDivisionError):
        leg.start(lambda: 1 / 0).answer()
    leg.close()


class _Server:
    """A server of embeddings that has one fault."""

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
    """The worst of adapters: it waits for as long as the server takes."""

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
    "hanging": lambda client: time.sleep(_PATIENCE_S),
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


def test_fifty_questions_to_a_broken_server_are_answered_by_words_within_the_deadlines(
    server: _Server, repository, make_app
) -> None:
    app: App = make_app(repository)
    app.index()
    embedder = _RemoteEmbedder(server.port)
    config = Config(dense_timeout_ms=_DEADLINE_MS, sparse_timeout_ms=5_000)
    agent = SearchAgent(app._container.indexer().snapshot, lambda: embedder, config)
    times = []
    for number in range(50):
        started = time.monotonic()
        response = agent.search(SearchQuery(f"retry_backoff {number}"))
        times.append(time.monotonic() - started)
        assert response.degraded == ("dense",)
        assert response.results[0].file_path == "src/net/retry.py"
    in_all = (config.dense_timeout_ms + config.sparse_timeout_ms) / 1000
    assert max(times) < in_all
    # Three open the breaker; afterwards there is a trial now and then.
    assert server.requests <= 10
    agent.close()


def test_a_deadline_does_not_measure_how_many_others_are_asking(
    repository, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App = make_app(repository)
    app.index()
    agent = SearchAgent(
        app._container.indexer().snapshot,
        app._container.embedder,
        Config(sparse_timeout_ms=1, dense_timeout_ms=60_000),
    )
    monkeypatch.setattr("rootle.search.session._ROWS_FOR_THREADS", 0)
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.ask_sparse", _slow_words)
    assert agent.search(SearchQuery("retry_backoff")).degraded == ("sparse",)
    agent._under_way += 1  # as if one more were asking
    assert agent.search(SearchQuery("retry_backoff again")).degraded == ()
    agent.close()


def _slow_words(*arguments: Any) -> SparseFindings:
    time.sleep(0.2)  # far more than a millisecond, and whoever waits can see how late it is
    return ask_sparse(*arguments)
