"""Reranking: a reranker determines the order if it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import MakeApp, indexed_repository, make_repository, many_files

from rootle.app import App
from rootle.config.fields import Config
from rootle.errors import RerankError
from rootle.protocols import Hit
from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent
from rootle.storage.paths import search_log_path
from rootle.types import SearchQuery


class _Fake:
    """A reranker that scores documents by a function of their position and text."""

    def __init__(self, score: Callable[[int, str], float]) -> None:
        self._score = score
        self.calls: list[list[str]] = []

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.calls.append(list(documents))
        return [Hit(at, self._score(at, text)) for at, text in enumerate(documents)]


class _Failing(_Fake):
    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.calls.append(list(documents))
        raise RerankError("refused")


class _Hanging(_Fake):
    def __init__(self) -> None:
        super().__init__(lambda at, _: at)
        self.released = threading.Event()

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.released.wait(60)
        return []


class _Fixed(_Fake):
    """A reranker that returns the same hits for any documents."""

    def __init__(self, *hits: Hit) -> None:
        super().__init__(lambda at, _: at)
        self._hits = hits

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.calls.append(list(documents))
        return list(self._hits)


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository(many_files(20, functions=4))
    return make_app(root, index_dir=index_dir)


@pytest.fixture
def search(app: App) -> Iterator[Callable[..., Any]]:
    agents = []

    def run(reranker: Any, question: str = "ledger", times: int = 1, **settings: Any) -> Any:
        config = Config(**{"enable_cache": False, **settings})
        agent = open_agent(
            SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
            config,
            SearchFeatures(reranker=reranker),
        )
        agents.append(agent)
        for _ in range(times):
            response = agent.search(SearchQuery(question, limit=50))
        return response

    yield run
    for agent in agents:
        agent.close()


def _paths_of(response: Any) -> list[str]:
    return [result.file_path for result in response.results]


def test_results_have_the_order_and_scores_of_the_reranker(search: Callable[..., Any]) -> None:
    plain = _paths_of(search(None))
    logits = search(_Fake(lambda at, _: at - 3.0))
    assert _paths_of(logits) == plain[::-1]
    assert [r.score for r in logits.results] == sorted(r.score for r in logits.results)[::-1]
    assert all(0 <= result.score <= 1 for result in logits.results)
    shares = search(_Fake(lambda at, _: 1 / (1 + at)))
    assert [r.score for r in shares.results][:3] == [1.0, 0.5, 0.33333]


def test_a_document_is_the_path_and_the_best_chunk_of_a_file(
    search: Callable[..., Any], app: App
) -> None:
    reranker = _Fake(lambda at, _: -at)
    response = search(reranker, "ledger")
    (documents,) = reranker.calls
    assert [text.split("\n")[0] for text in documents] == _paths_of(response)
    for document in documents:
        path, _, chunk = document.partition("\n")
        assert len(chunk) > 50
        assert chunk in (app.root / path).read_text()


def test_files_without_a_hit_come_after_the_others(search: Callable[..., Any]) -> None:
    plain = _paths_of(search(None))
    few = _paths_of(search(_Fixed(Hit(4, 0.9), Hit(2, 0.8))))
    assert few[:2] == [plain[4], plain[2]]
    assert sorted(few) == sorted(plain)
    some = _Fake(lambda at, _: at)
    assert len(_paths_of(search(some, max_merged_candidates=5))) > 0
    assert len(some.calls[0]) <= 5


@pytest.mark.slow
def test_only_the_first_twenty_files_are_reranked(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(make_repository(tmp_path / "many", many_files(60, functions=2)))
    app.index()
    reranker = _Fake(lambda at, _: -at)
    question = SearchQuery("ledger cursor packet window", limit=50)
    agents = [
        open_agent(
            SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
            Config(),
            SearchFeatures(reranker=reading),
        )
        for reading in (None, reranker)
    ]
    plain, read = (agent.search(question) for agent in agents)
    assert len(plain.results) > len(reranker.calls[0]) == 20
    assert _paths_of(read) == _paths_of(plain)
    scores = [result.score for result in read.results]
    assert scores == sorted(scores, reverse=True)
    for agent in agents:
        agent.close()


def test_long_chunks_are_truncated(tmp_path: Path, make_app: MakeApp) -> None:
    text = "The ledger keeps every entry of the year in its place. " * 36
    app = make_app(make_repository(tmp_path / "long", {"ledger.md": text}))
    app.index()
    reranker = _Fake(lambda at, _: 1.0)
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(),
        SearchFeatures(reranker=reranker),
    )
    agent.search(SearchQuery("ledger"))
    agent.close()
    ((document,),) = reranker.calls
    assert 1_500 <= len(document) < 1_600
    assert document.startswith("ledger.md\nThe ledger")


def test_an_explanation_contains_the_score_of_the_reranker(app: App) -> None:
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(),
        SearchFeatures(reranker=_Fake(lambda at, _: 7.0 - at)),
    )
    first = agent.search(SearchQuery("ledger"), explain=True).results[0]
    agent.close()
    assert first.explanation is not None
    assert first.explanation["reranker"] == 7.0


@pytest.mark.parametrize(
    ("settings", "score", "expected"),
    [
        ({"reranker_model_id": "a-model"}, 1.0, "a-model"),
        ({"reranker_model_id": "a-model"}, float("nan"), "features"),
        ({"reranker_provider": "llamacpp"}, 1.0, "llamacpp"),
        ({"reranker_provider": "cohere", "reranker_model_id": "a-model"}, 1.0, "a-model"),
    ],
)
def test_the_log_names_the_model_that_ranked(
    settings: Any, score: float, expected: str, app: App
) -> None:
    config = Config(**settings)
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        config,
        SearchFeatures(reranker=_Fake(lambda at, _: score)),
        log=app._container.search_log(),
    )
    agent.search(SearchQuery("ledger"))
    agent.close()
    logged = [json.loads(line) for line in search_log_path().read_text().splitlines()]
    assert [line["usedRerankerModel"] for line in logged] == [expected]
    assert logged[0]["rerankLatencyMs"] > 0


@pytest.mark.parametrize(
    "reranker",
    [
        _Failing(lambda at, _: at),
        _Fixed(),
        _Fixed(Hit(0, 1.0), Hit(0, 0.5)),
        _Fixed(Hit(999, 1.0)),
        _Fixed(Hit(-1, 1.0)),
        _Fixed(Hit(0, float("nan"))),
    ],
)
def test_the_order_is_kept_if_the_reranker_fails(
    reranker: _Fake, search: Callable[..., Any]
) -> None:
    response = search(reranker, times=6)
    assert response.degraded == ("reranker",)
    assert _paths_of(response) == _paths_of(search(None))
    assert len(reranker.calls) <= 4  # on a slow machine, the fourth call is a trial call


def test_a_hanging_reranker_is_skipped_after_its_deadline(search: Callable[..., Any]) -> None:
    reranker = _Hanging()
    try:
        response = search(reranker, times=4, reranker_timeout_ms=20)
    finally:
        reranker.released.set()
    assert response.degraded == ("reranker",)
    assert _paths_of(response) == _paths_of(search(None))
