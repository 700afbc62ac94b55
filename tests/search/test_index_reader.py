"""Searches use only the reading interface of an index."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder
from memory_index import MemoryIndex
from sample import FILES

from rootle.config.fields import Config
from rootle.search.agent import SearchAgent
from rootle.search.factory import SearchedIndex, open_agent
from rootle.types import SearchQuery, SearchResponse

_DUPLICATE = "vendor/retry.py"


@pytest.fixture
def agent() -> Iterator[SearchAgent]:
    embedder = HashEmbedder(256)
    index = MemoryIndex({**FILES, _DUPLICATE: FILES["src/net/retry.py"]}, embedder)
    agent = open_agent(
        SearchedIndex(lambda: index, lambda: embedder), Config(), clock=lambda: 1_750_000_000
    )
    yield agent
    agent.close()


def _first_path(response: SearchResponse) -> str:
    return response.results[0].file_path


def test_an_index_in_memory_answers_a_question(agent: SearchAgent) -> None:
    response = agent.search(SearchQuery("how long to wait before the next attempt"))
    assert response.degraded == ()
    first = response.results[0]
    assert first.file_path == "src/net/retry.py"
    assert first.duplicates == (_DUPLICATE,)
    lines = FILES["src/net/retry.py"].split("\n")
    assert first.snippet.rstrip("\n") == "\n".join(
        lines[first.start_line - 1 : first.end_line]
    ).rstrip("\n")
    assert first.snippet.strip()


def test_an_index_in_memory_finds_symbols_and_corrects_names(agent: SearchAgent) -> None:
    assert _first_path(agent.search(SearchQuery("retry_backoff"))) == "src/net/retry.py"
    response = agent.search(SearchQuery("retry_backof"), explain=True)
    assert response.interpretation is not None
    assert response.interpretation.corrected == {"retry_backof": "retry_backoff"}
    assert _first_path(response) == "src/net/retry.py"


def test_an_index_in_memory_answers_exact_and_filtered_questions(agent: SearchAgent) -> None:
    exact = agent.search(SearchQuery('"access tokens"'))
    assert exact.results
    assert all("access tokens" in FILES[result.file_path].lower() for result in exact.results)
    filtered = agent.search(SearchQuery("retry attempt", languages=("go",)))
    assert {result.file_path for result in filtered.results} == {"src/net/client.go"}


def test_an_index_in_memory_has_pages_and_contexts(agent: SearchAgent) -> None:
    first = agent.search(SearchQuery("retry", limit=1))
    assert first.next_cursor is not None
    second = agent.search(SearchQuery("retry", limit=1, cursor=first.next_cursor))
    assert _first_path(second) != _first_path(first)
    context = agent.search(SearchQuery("retry", context=True)).results[0].context
    assert context is not None
    assert context.passages


@pytest.mark.slow
def test_a_search_loads_no_module_of_the_local_index() -> None:
    code = (
        "import sys\n"
        "from hash_embedder import HashEmbedder\n"
        "from memory_index import MemoryIndex\n"
        "from rootle.config.fields import Config\n"
        "from rootle.search.factory import SearchedIndex, open_agent\n"
        "from rootle.types import SearchQuery\n"
        "embedder = HashEmbedder(256)\n"
        "index = MemoryIndex({'a.py': 'def wait(): pass\\n'}, embedder)\n"
        "agent = open_agent(SearchedIndex(lambda: index, lambda: embedder), Config())\n"
        "assert agent.search(SearchQuery('wait')).results\n"
        "names = ('rootle.index.local', 'rootle.index.remote', 'rootle.indexing', 'sqlite3')\n"
        "print([name for name in sys.modules if name.startswith(names)])\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "HOME": "/nonexistent"},
    )
    assert (child.stdout.strip(), child.stderr) == ("[]", "")
