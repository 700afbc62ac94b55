"""Both mem0 stores in an app, selected by the configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, serving
from mem0_service import KEY, FakeMem0Server

from rootle.errors import UnavailableError
from rootle.types import SearchQuery

FACT = "the user wants retry_backoff to stay below a minute"


@pytest.fixture
def service() -> Iterator[JsonServer]:
    with serving(FakeMem0Server().answer) as running:
        yield running


@pytest.mark.slow
def test_the_library_stores_facts_in_the_data_folder(
    repository: Path, make_app: Any, home: Path
) -> None:
    app = make_app(repository, memory_store="mem0", memory_timeout_ms=60_000)
    app.search(SearchQuery("retry"))
    folder = home / "data" / "rootle" / "mem0"
    assert not folder.exists(), "a search opens no store without memories"
    app.memory.remember(FACT)
    assert [one.text for one in app.memory.recall("how long may a retry take?")] == [FACT]
    # A result of the search defines the name, so the fact about this name is relevant.
    assert [one.text for one in app.search(SearchQuery("retry_backoff")).memories] == [FACT]
    assert folder.stat().st_mode & 0o077 == 0


def test_the_service_stores_facts_without_secrets(
    repository: Path, make_app: Any, service: JsonServer
) -> None:
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


@pytest.mark.slow
def test_a_search_works_while_the_service_is_down(
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
