"""The mem0 service as a store: requests, answers and failures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, Request, serving
from mem0_service import KEY, FakeMem0Server

from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.memory.mem0.service import SERVICE_URL, Mem0Service
from rootle.types import Memory, MemoryReference

ME = "me"
NOON_S = 1_768_478_400.0  # 2026-01-15T12:00:00Z
FOUND = {"id": "1", "memory": "a fact", "score": 0.8, "created_at": "2026-01-15T10:30:00.5+01:00"}


# Makes the same calls with mem0's own client.
_MEM0_CLIENT = """
import json, sys
from mem0 import MemoryClient
client = MemoryClient(api_key=sys.argv[2], host=sys.argv[1])
client.add("the user likes tabs", user_id="me", metadata={"a": 1}, infer=False)
print(json.dumps(client.search("tabs", filters={"user_id": "me"}, top_k=7)))
"""


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(FakeMem0Server().answer) as running:
        yield running


def service(server: JsonServer, **options: Any) -> Mem0Service:
    return Mem0Service(lambda: KEY, endpoint=server.url, clock=lambda: NOON_S, **options)


def test_a_fact_is_sent_verbatim(server: JsonServer) -> None:
    reference = MemoryReference("src/pool.py", "Pool")
    added = service(server).add("the user likes tabs", "some one", [reference])
    assert added == Memory(
        "00000000-0000-4000-8000-000000000000",
        "the user likes tabs",
        "2026-01-15T12:00:00Z",
        about=(reference,),
    )
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v3/memories/add/")
    assert request.headers["authorization"] == f"Token {KEY}"
    assert request.body == {
        "messages": [{"role": "user", "content": "the user likes tabs"}],
        "user_id": "some%20one",
        "metadata": {
            "rootle_about": [{"path": "src/pool.py", "symbol": "Pool", "root": "", "digest": ""}],
            "rootle_at::src/pool.py:Pool": True,
        },
        "infer": False,
    }


def test_a_search_sends_the_topic_with_filters(server: JsonServer) -> None:
    store = service(server)
    store.search("tabs", ME, 7, [MemoryReference("src/pool.py")])
    referring, plain = server.requests
    assert plain.path == "/v3/memories/search/"
    assert plain.body == {"query": "tabs", "filters": {"user_id": ME}, "top_k": 7}
    places = {"OR": [{"metadata": {"rootle_at::src/pool.py:": True}}]}
    assert referring.body == {
        "query": "tabs",
        "filters": {"AND": [{"user_id": ME}, places]},
        "top_k": 7,
        "threshold": 0.0,
    }


@pytest.mark.slow
def test_the_mem0_client_sends_the_same_requests(
    server: JsonServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "false")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    command = [sys.executable, "-c", _MEM0_CLIENT, server.url, KEY]
    child = subprocess.run(command, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    _, expected_add, expected_search = server.requests
    store = service(server)
    store.add("the user likes tabs", ME)
    (found,) = store.search("tabs", ME, 7)
    assert found.text == json.loads(child.stdout)["results"][0]["memory"]
    for expected, sent in zip((expected_add, expected_search), server.requests[3:], strict=True):
        assert (sent.method, sent.path) == (expected.method, expected.path)
        assert sent.headers["authorization"] == expected.headers["authorization"]
        assert set(sent.body) == set(expected.body)
        assert {**sent.body, "metadata": 0} == {**expected.body, "metadata": 0}


def test_a_documented_answer_is_read(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"results": [{**FOUND, "metadata": None}]})
    assert service(server).search("fact", ME, 7) == [
        Memory("1", "a fact", "2026-01-15T09:30:00Z", score=0.8)
    ]


@pytest.mark.parametrize("about", [1, "x", [1], [{"symbol": "Pool"}]])
def test_metadata_of_other_programs_is_ignored(server: JsonServer, about: Any) -> None:
    metadata = {"about": "x", "rootle_about": about, "rootle_count": "many"}
    server.answer = lambda request: Reply({"results": [{**FOUND, "metadata": metadata}]})
    (found,) = service(server).search("fact", ME, 7)
    assert (found.about, found.count) == ((), 1)


def test_a_repeated_text_is_one_memory_with_the_latest_time(server: JsonServer) -> None:
    again = {**FOUND, "id": "2", "score": 0.7, "created_at": "2026-02-01T00:00:00Z"}
    other = {**FOUND, "id": "3", "memory": "another", "score": 0.75}
    server.answer = lambda request: Reply({"results": [FOUND, other, again]})
    assert service(server).search("fact", ME, 7) == [
        Memory("2", "a fact", "2026-02-01T00:00:00Z", score=0.8, count=2),
        Memory("3", "another", "2026-01-15T09:30:00Z", score=0.75),
    ]


def test_a_fact_that_is_processed_later_has_no_memory_yet(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"event_id": "e", "status": "PENDING"})
    assert service(server).add("a fact", ME) is None


def test_a_rejected_key_is_read_again(server: JsonServer) -> None:
    keys = iter(["m0-expired-98765", KEY])
    store = Mem0Service(lambda: next(keys), endpoint=server.url)
    with pytest.raises(RefusedError, match="check the key") as error:
        store.search("fact", ME, 7)
    assert "98765" not in str(error.value)
    assert store.search("fact", ME, 7) == []


def test_nothing_is_sent_without_a_key() -> None:
    with pytest.raises(UnavailableError, match="set memoryApiKey"):
        Mem0Service(str).add("a fact", ME)


def test_a_rejected_request_is_not_repeated(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"error": f"no, {KEY}"}, status=400)
    with pytest.raises(RefusedError, match="HTTP 400") as error:
        service(server).add("a fact", ME)
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


def test_a_rate_limit_reports_the_time_to_wait(server: JsonServer) -> None:
    server.answer = lambda request: Reply({}, status=429, headers={"Retry-After": "120"})
    with pytest.raises(UnavailableError, match="HTTP 429") as error:
        service(server).search("fact", ME, 7)
    assert error.value.retry_after_s == 120
    assert len(server.requests) == 1


def test_a_temporary_failure_is_retried(server: JsonServer) -> None:
    replies = iter([Reply({}, status=503), Reply(cut=True), Reply({"results": [FOUND]})])
    server.answer = lambda request: next(replies)
    assert len(service(server).search("fact", ME, 7)) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply({}, status=500),
        Reply(raw=b"<html>busy</html>"),
        Reply([]),
        Reply({"results": None}),
        Reply({"results": ["a fact"]}),
        Reply({"results": [{**FOUND, "memory": None}]}),
        Reply({"results": [{**FOUND, "id": ""}]}),
        Reply({"results": [{**FOUND, "created_at": "soon"}]}),
        Reply({"results": [{**FOUND, "created_at": None}]}),
        Reply({"results": [{**FOUND, "metadata": ["x"]}]}),
        Reply(raw=b'{"results": [{"id": "1", "memory": "m", "score": NaN}]}'),
        Reply(hang=True),
    ],
)
def test_any_invalid_answer_is_an_error(server: JsonServer, reply: Reply) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError):
        service(server, timeout_s=0.3 if reply.hang else 60).search("fact", ME, 7)


@pytest.mark.parametrize(
    "data", [None, [], {"status": "FAILED"}, {"results": []}, {"results": [{"id": 7}]}]
)
def test_a_failed_addition_is_an_error(server: JsonServer, data: Any) -> None:
    server.answer = lambda request: Reply(data)
    with pytest.raises(UnavailableError, match="mem0's service sent"):
        service(server).add("a fact", ME)


def test_an_unreachable_service_is_an_error() -> None:
    store = Mem0Service(lambda: KEY, endpoint="http://127.0.0.1:9", timeout_s=0.3)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        store.search("fact", ME, 7)


def test_an_invalid_url_is_rejected_immediately() -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        Mem0Service(lambda: KEY, endpoint="mem0")
    assert SERVICE_URL == "https://api.mem0.ai"


def test_a_search_returns_at_most_top_k_memories(server: JsonServer) -> None:
    def more(request: Request) -> Reply:
        found = [{**FOUND, "id": str(at), "memory": f"fact {at}"} for at in range(20)]
        return Reply({"results": found})

    server.answer = more
    assert len(service(server).search("fact", ME, 7)) == 7
