"""mem0 behind the app: chosen by the settings, used as any other store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, serving
from mem0_service import KEY, Mem0Wire

from rootle.errors import UnavailableError
from rootle.types import SearchQuery

FACT = "the user wants retry_backoff to stay below a minute"


@pytest.fixture
def service() -> Iterator[JsonServer]:
    with serving(Mem0Wire().answer) as running:
        yield running


def test_facts_lie_in_the_library(repository: Path, make_app: Any, home: Path) -> None:
    app = make_app(repository, memory_store="mem0", memory_timeout_ms=60_000)
    app.search(SearchQuery("retry"))
    folder = home / "data" / "rootle" / "mem0"
    assert not folder.exists(), "where nothing was told nothing is looked for"
    app.memory.remember(FACT)
    assert [one.text for one in app.memory.recall("how long may a retry take?")] == [FACT]
    # The name stands in a file that answers, so that the fact is shown beside it.
    assert [one.text for one in app.search(SearchQuery("retry_backoff")).memories] == [FACT]
    assert folder.stat().st_mode & 0o077 == 0


def test_facts_lie_at_the_service(repository: Path, make_app: Any, service: JsonServer) -> None:
    command = f"{sys.executable} -c 'print(\"{KEY}\")'"
    app = make_app(
        repository,
        memory_store="mem0-service",
        memory_endpoint=service.url,
        memory_api_key_command=command,
    )
    app.index()
    app.memory.remember(f"{FACT}, says AKIAIOSFODNN7EXAMPLE")
    assert "AKIAIOSFODNN7EXAMPLE" not in str(service.requests[0].body)
    (found,) = app.memory.recall("how long may a retry_backoff take?")
    assert found.text.startswith(FACT)
    assert [about.symbol for about in found.about] == ["retry_backoff"]


def test_a_service_that_is_down_costs_a_search_nothing(
    repository: Path, make_app: Any, service: JsonServer
) -> None:
    service.answer = lambda request: Reply({}, status=503)
    settings = {"memory_store": "mem0-service", "memory_endpoint": service.url}
    app = make_app(repository, **settings, memory_api_key=KEY, memory_timeout_ms=200)
    answer = app.search(SearchQuery("retry_backoff"))
    assert answer.results
    assert (answer.memories, answer.degraded) == ((), ("memory",))
    assert app.memory.prefetch("how long may a retry take?") == ""
    with pytest.raises(UnavailableError, match="HTTP 503"):
        app.memory.recall("retry")
