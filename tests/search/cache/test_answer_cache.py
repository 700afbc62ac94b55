"""The answer cache: a repeated query is not searched again and never gets an outdated answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from sample import MakeApp, git, indexed_repository, make_repository, many_files, write

from rootle.app import App
from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.search.agent import SearchAgent
from rootle.search.cache.answer_cache import LRUCache
from rootle.search.factory import SearchedIndex, open_agent
from rootle.types import SearchQuery, SearchResponse

_DAY_S = 86_400


class _Clock:
    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        return self.now


MakeAgent = Callable[..., tuple[SearchAgent, HashEmbedder]]


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository(many_files(30, functions=4))
    return make_app(root, index_dir=index_dir)


@pytest.fixture
def make_agent(app: App) -> Iterator[MakeAgent]:
    agents = []

    def make(clock: _Clock | None = None, **settings: Any) -> tuple[SearchAgent, HashEmbedder]:
        embedder = HashEmbedder(256)
        config = Config(**settings)
        agents.append(
            open_agent(
                SearchedIndex(app._container.indexer().snapshot, lambda: embedder),
                config,
                clock=clock or _Clock(),
            )
        )
        return agents[-1], embedder

    yield make
    for agent in agents:
        agent.close()


def _content_of(response: SearchResponse) -> list[Any]:
    return [response.results, response.degraded, response.suggestions, response.generation]


def test_a_repeated_question_is_neither_embedded_nor_searched(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, embedder = make_agent()
    query = SearchQuery("ledger of the worker", languages=("python",), limit=20)
    first = agent.search(query)
    shorter = SearchQuery("ledger of the worker", languages=("python",), limit=5)
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", _must_not_run)
    monkeypatch.setattr(
        "rootle.index.local.inverted_index.reader.EmbeddedSparse.field_scores", _must_not_run
    )
    assert _content_of(agent.search(query)) == _content_of(first)
    assert agent.search(shorter).results == first.results[:5]
    assert len(embedder.texts) == 1


def _must_not_run(*_: object, **__: object) -> None:
    raise AssertionError("a cached answer must not be searched again")


def test_a_cached_page_of_five_does_not_limit_a_page_of_fifty(make_agent: MakeAgent) -> None:
    agent, embedder = make_agent()
    five = agent.search(SearchQuery("ledger", limit=5))
    fifty = agent.search(SearchQuery("ledger", limit=50))
    assert len(five.results) == 5
    assert len(fifty.results) > 20
    assert fifty.results[:5] == five.results
    second = agent.search(SearchQuery("ledger", limit=5, cursor=five.next_cursor))
    assert second.results == fifty.results[5:10]
    assert len(embedder.texts) == 1


def test_different_filters_have_separate_entries(make_agent: MakeAgent) -> None:
    agent, embedder = make_agent()
    for query in (
        SearchQuery("ledger"),
        SearchQuery("ledger", languages=("python",)),
        SearchQuery("ledger", file_paths=("pkg_1",)),
        SearchQuery("ledger", file_paths=("pkg_1", "pkg_2")),
        SearchQuery("ledger", min_recency_days=9_999),
    ):
        agent.search(query)
        agent.search(query)
    assert len(embedder.texts) == 5


def test_a_cached_explanation_is_only_returned_on_request(make_agent: MakeAgent) -> None:
    agent, _ = make_agent()
    assert agent.search(SearchQuery("ledger"), explain=True).results[0].explanation
    assert agent.search(SearchQuery("ledger")).results[0].explanation is None
    assert agent.search(SearchQuery("ledger"), explain=True).results[0].explanation


def test_entries_are_limited_in_number_and_age(make_agent: MakeAgent) -> None:
    clock = _Clock()
    agent, embedder = make_agent(clock, cache_ttl_seconds=10, cache_max_entries=2)
    for question in ("ledger", "worker", "ledger", "cipher", "ledger", "worker"):
        agent.search(SearchQuery(question))
    assert embedder.texts == ["ledger", "worker", "cipher", "worker"]
    clock.now += 10
    agent.search(SearchQuery("worker"))
    assert len(embedder.texts) == 5


def test_every_question_is_searched_without_a_cache(make_agent: MakeAgent) -> None:
    agent, embedder = make_agent(enable_cache=False)
    first = agent.search(SearchQuery("ledger"))
    assert _content_of(agent.search(SearchQuery("ledger"))) == _content_of(first)
    assert len(embedder.texts) == 2


def test_a_new_generation_starts_with_an_empty_cache(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    assert "fresh.py" not in {r.file_path for r in app.search("ledger_of_today").results}
    write(app.root, "fresh.py", "def ledger_of_today():\n    return 1\n", when_s=None)
    assert app.search("ledger_of_today").results[0].file_path == "fresh.py"


def test_a_degraded_answer_is_not_cached(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, embedder = make_agent()
    with monkeypatch.context() as patched:
        patched.setattr(embedder, "embed", _fail)
        assert agent.search(SearchQuery("ledger")).degraded == ("dense",)
    assert agent.search(SearchQuery("ledger")).degraded == ()


def _fail(_: object) -> None:
    raise UnavailableError("down")


def test_a_cached_answer_reports_a_file_that_has_changed_since(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    app.index()
    index = SearchedIndex(
        app._container.indexer().snapshot, app._container.embedder, root=repository
    )
    agent = open_agent(index, Config())
    query = SearchQuery("retry_backoff", limit=1)
    first = agent.search(query)
    assert (first.results[0].file_path, first.degraded) == ("src/net/retry.py", ())
    assert agent.search(query).degraded == ()
    write(repository, "src/net/retry.py", "# nothing is tried again\n")
    assert agent.search(query).degraded == ("stale",)
    agent.close()


def test_an_entry_expires_when_a_file_becomes_too_old_for_the_filter(
    tmp_path: Path, make_app: MakeApp
) -> None:
    clock = _Clock()
    root = make_repository(tmp_path / "days", {"old.py": "zebra = 1\n"})
    for name, days in (("a.py", 1), ("b.py", 2)):
        write(root, name, f"zebra = '{name}'\n", when_s=clock.now - days * _DAY_S)
    app = make_app(root, index_dir=tmp_path / "days-index")
    app.index()
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(),
        clock=clock,
    )
    query = SearchQuery("zebra", min_recency_days=3)

    def find_paths() -> set[str]:
        return {result.file_path for result in agent.search(query).results}

    assert find_paths() == {"a.py", "b.py"}
    clock.now += 0.9 * _DAY_S
    assert find_paths() == {"a.py", "b.py"}
    first = agent.search(SearchQuery("zebra", min_recency_days=3, limit=1))
    clock.now += 0.2 * _DAY_S
    assert find_paths() == {"a.py"}
    # Later pages count days from the time of the first page.
    second = SearchQuery("zebra", min_recency_days=3, limit=1, cursor=first.next_cursor)
    paths = {result.file_path for result in agent.search(second).results}
    assert {first.results[0].file_path, *paths} == {"a.py", "b.py"}
    agent.close()


def test_the_configured_recency_applies_to_queries_without_one(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "days", {"old.py": "zebra = 1\n"})
    write(root, "new.py", "zebra = 2\n", when_s=None)
    git(root, "add", "-A")
    app = make_app(root, index_dir=tmp_path / "days-index", min_recency_days=30.0)
    assert [r.file_path for r in app.search("zebra").results] == ["new.py"]
    every = app.search(SearchQuery("zebra", min_recency_days=0)).results
    assert {r.file_path for r in every} == {"new.py", "old.py"}


def test_the_least_recently_used_entry_is_dropped_first() -> None:
    clock = _Clock()
    cache = LRUCache[int](2, 60, clock)
    for number, key in enumerate((b"a", b"b")):
        cache.put(key, number)
    assert cache.get(b"a") == 0
    cache.put(b"c", 2)
    assert [cache.get(key) for key in (b"a", b"b", b"c")] == [0, None, 2]
