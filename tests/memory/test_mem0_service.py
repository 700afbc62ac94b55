"""mem0's hosted service: what it is asked, how its answers are read, each fault as one error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, Request, serving
from mem0_service import KEY, Mem0Wire

from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.memory.mem0.service import SERVICE_URL, Mem0Service
from rootle.types import Memory, MemoryReference

ME = "me"
NOON = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)
FOUND = {"id": "1", "memory": "a fact", "score": 0.8, "created_at": "2026-01-15T10:30:00.5+01:00"}


# mem0's own client, told and asked the same.
_THEIRS = """
import json, sys
from mem0 import MemoryClient
client = MemoryClient(api_key=sys.argv[2], host=sys.argv[1])
client.add("the user likes tabs", user_id="me", metadata={"a": 1}, infer=False)
print(json.dumps(client.search("tabs", filters={"user_id": "me"}, top_k=7)))
"""


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(Mem0Wire().answer) as running:
        yield running


def service(server: JsonServer, **options: Any) -> Mem0Service:
    return Mem0Service(lambda: KEY, endpoint=server.url, now=lambda: NOON, **options)


def test_a_fact_is_sent_word_for_word(server: JsonServer) -> None:
    tie = MemoryReference("src/pool.py", "Pool")
    added = service(server).add("the user likes tabs", "some one", [tie])
    assert added == Memory(
        "00000000-0000-4000-8000-000000000000",
        "the user likes tabs",
        "2026-01-15T12:00:00Z",
        about=(tie,),
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


def test_a_topic_is_asked_with_its_filters(server: JsonServer) -> None:
    asked = service(server)
    asked.search("tabs", ME, 7, [MemoryReference("src/pool.py")])
    tied, plain = server.requests
    assert plain.path == "/v3/memories/search/"
    assert plain.body == {"query": "tabs", "filters": {"user_id": ME}, "top_k": 7}
    places = {"OR": [{"metadata": {"rootle_at::src/pool.py:": True}}]}
    assert tied.body == {
        "query": "tabs",
        "filters": {"AND": [{"user_id": ME}, places]},
        "top_k": 7,
        "threshold": 0.0,
    }


def test_their_own_client_asks_the_same(
    server: JsonServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "false")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    command = [sys.executable, "-c", _THEIRS, server.url, KEY]
    child = subprocess.run(command, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    _, their_add, their_search = server.requests
    asked = service(server)
    asked.add("the user likes tabs", ME)
    (found,) = asked.search("tabs", ME, 7)
    assert found.text == json.loads(child.stdout)["results"][0]["memory"]
    for theirs, ours in zip((their_add, their_search), server.requests[3:], strict=True):
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert ours.headers["authorization"] == theirs.headers["authorization"]
        assert set(ours.body) == set(theirs.body)
        assert {**ours.body, "metadata": 0} == {**theirs.body, "metadata": 0}


def test_an_answer_is_read_as_it_is_documented(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"results": [{**FOUND, "metadata": None}]})
    assert service(server).search("fact", ME, 7) == [
        Memory("1", "a fact", "2026-01-15T09:30:00Z", score=0.8)
    ]


@pytest.mark.parametrize("about", [1, "x", [1], [{"symbol": "Pool"}]])
def test_what_other_programs_put_into_metadata_is_theirs(server: JsonServer, about: Any) -> None:
    metadata = {"about": "x", "rootle_about": about, "rootle_count": "many"}
    server.answer = lambda request: Reply({"results": [{**FOUND, "metadata": metadata}]})
    (found,) = service(server).search("fact", ME, 7)
    assert (found.about, found.count) == ((), 1)


def test_what_it_keeps_twice_is_one_with_the_latest_time(server: JsonServer) -> None:
    again = {**FOUND, "id": "2", "score": 0.7, "created_at": "2026-02-01T00:00:00Z"}
    other = {**FOUND, "id": "3", "memory": "another", "score": 0.75}
    server.answer = lambda request: Reply({"results": [FOUND, other, again]})
    assert service(server).search("fact", ME, 7) == [
        Memory("2", "a fact", "2026-02-01T00:00:00Z", score=0.8, count=2),
        Memory("3", "another", "2026-01-15T09:30:00Z", score=0.75),
    ]


def test_what_it_makes_later_is_nothing_yet(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"event_id": "e", "status": "PENDING"})
    assert service(server).add("a fact", ME) is None


def test_a_key_that_is_refused_is_asked_for_anew(server: JsonServer) -> None:
    keys = iter(["m0-of-yesterday-98765", KEY])
    asked = Mem0Service(lambda: next(keys), endpoint=server.url)
    with pytest.raises(RefusedError, match="check the key") as error:
        asked.search("fact", ME, 7)
    assert "98765" not in str(error.value)
    assert asked.search("fact", ME, 7) == []


def test_nothing_is_sent_where_there_is_no_key() -> None:
    with pytest.raises(UnavailableError, match="set memoryApiKey"):
        Mem0Service(str).add("a fact", ME)


def test_a_request_that_it_refuses_is_not_sent_again(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"error": f"no, {KEY}"}, status=400)
    with pytest.raises(RefusedError, match="HTTP 400") as error:
        service(server).add("a fact", ME)
    assert KEY not in str(error.value)
    assert len(server.requests) == 1


def test_a_limit_is_told_with_how_long_to_wait(server: JsonServer) -> None:
    server.answer = lambda request: Reply({}, status=429, headers={"Retry-After": "120"})
    with pytest.raises(UnavailableError, match="HTTP 429") as error:
        service(server).search("fact", ME, 7)
    assert error.value.retry_after_s == 120
    assert len(server.requests) == 1


def test_a_passing_failure_passes(server: JsonServer) -> None:
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
def test_every_other_answer_is_unavailable(server: JsonServer, reply: Reply) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError):
        service(server, timeout_s=0.3).search("fact", ME, 7)


@pytest.mark.parametrize(
    "data", [None, [], {"status": "FAILED"}, {"results": []}, {"results": [{"id": 7}]}]
)
def test_an_addition_that_failed_is_unavailable(server: JsonServer, data: Any) -> None:
    server.answer = lambda request: Reply(data)
    with pytest.raises(UnavailableError, match="mem0's service sent"):
        service(server, timeout_s=0.3).add("a fact", ME)


def test_a_service_that_is_down_is_unavailable() -> None:
    asked = Mem0Service(lambda: KEY, endpoint="http://127.0.0.1:9", timeout_s=0.3)
    with pytest.raises(UnavailableError, match="cannot be reached"):
        asked.search("fact", ME, 7)


def test_an_address_that_is_none_is_said_at_once() -> None:
    with pytest.raises(ConfigError, match="no address"):
        Mem0Service(lambda: KEY, endpoint="mem0")
    assert SERVICE_URL == "https://api.mem0.ai"


def test_it_answers_no_more_than_were_asked_for(server: JsonServer) -> None:
    def more(request: Request) -> Reply:
        found = [{**FOUND, "id": str(at), "memory": f"fact {at}"} for at in range(20)]
        return Reply({"results": found})

    server.answer = more
    assert len(service(server).search("fact", ME, 7)) == 7
