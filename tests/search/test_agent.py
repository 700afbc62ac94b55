"""The search agent: its results, and how it degrades when dense or sparse search fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from sample import (
    FILES,
    QUESTIONS,
    MakeApp,
    git,
    indexed_repository,
    make_repository,
    many_files,
    write,
)

from rootle.app import App
from rootle.config.fields import Config
from rootle.errors import QueryError, SearchUnavailableError, UnavailableError
from rootle.protocols import Embedder, Matrix
from rootle.search.agent import SearchAgent
from rootle.search.factory import SearchedIndex, open_agent
from rootle.search.retrieval.legs import SparseFindings, search_sparse
from rootle.types import SearchQuery

_DAY_S = 86_400
_NOW_S = 1_750_000_000


class _FailingEmbedder(HashEmbedder):
    def embed(self, texts: Sequence[str]) -> Matrix:
        raise UnavailableError("the model is down")


class _BlockedEmbedder(HashEmbedder):
    """An embedder that does not answer before it is released."""

    def __init__(self) -> None:
        super().__init__(256)
        self.released = threading.Event()

    def embed(self, texts: Sequence[str]) -> Matrix:
        assert self.released.wait(timeout=60)
        return super().embed(texts)


MakeAgent = Callable[..., SearchAgent]


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository()
    return make_app(root, index_dir=index_dir)


@pytest.fixture
def make_agent(app: App) -> Iterator[MakeAgent]:
    agents: list[SearchAgent] = []

    def make(embedder: Embedder | None = None, **settings: Any) -> SearchAgent:
        agent = open_agent(
            SearchedIndex(
                app._container.indexer().snapshot,
                (lambda: embedder) if embedder is not None else app._container.embedder,
            ),
            Config(**settings),
            clock=lambda: _NOW_S,
        )
        agents.append(agent)
        return agent

    yield make
    for agent in agents:
        agent.close()


def test_keyword_search_answers_without_the_dense_leg(make_agent: MakeAgent) -> None:
    response = make_agent(_FailingEmbedder()).search(SearchQuery("retry_backoff"))
    assert response.degraded == ("dense",)
    assert response.results[0].file_path == "src/net/retry.py"
    assert {result.source for result in response.results} == {"sparse"}


def test_a_late_dense_leg_is_skipped(make_agent: MakeAgent) -> None:
    embedder = _BlockedEmbedder()
    try:
        agent = make_agent(embedder, dense_timeout_ms=10)
        response = agent.search(SearchQuery("retry_backoff"))
    finally:
        embedder.released.set()
    assert response.degraded == ("dense",)
    assert response.results[0].file_path == "src/net/retry.py"
    assert {result.source for result in response.results} == {"sparse"}


def test_vector_search_answers_without_the_sparse_leg(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", _unavailable)
    response = make_agent().search(SearchQuery("how long to wait before the next attempt"))
    assert response.degraded == ("sparse",)
    assert response.results[0].file_path in ("src/net/retry.py", "tests/test_retry.py")
    assert {result.source for result in response.results} == {"dense"}


def test_a_late_search_for_words_answers_if_both_legs_are_late(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search_slowly(*arguments: Any) -> SparseFindings:
        time.sleep(0.2)
        return search_sparse(*arguments)

    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", search_slowly)
    monkeypatch.setattr("rootle.search.session._CHUNKS_FOR_THREADS", 0)
    embedder = _BlockedEmbedder()
    try:
        agent = make_agent(embedder, dense_timeout_ms=10, sparse_timeout_ms=10)
        # After three late searches for words, the circuit breaker skips this search at first.
        responses = [agent.search(SearchQuery(f"retry_backoff {number}")) for number in range(5)]
    finally:
        embedder.released.set()
    assert {response.degraded for response in responses} == {("dense",)}
    assert {response.results[0].file_path for response in responses} == {"src/net/retry.py"}


def test_a_search_fails_if_both_legs_fail(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", _unavailable)
    with pytest.raises(SearchUnavailableError, match="neither"):
        make_agent(_FailingEmbedder()).search(SearchQuery("retry"))


def _unavailable(*_: object) -> None:
    raise UnavailableError("down")


def test_an_embedder_that_fails_later_degrades_one_leg(make_agent: MakeAgent) -> None:
    class Failing(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Matrix:
            if self.texts:
                raise UnavailableError("gone")
            return super().embed(texts)

    agent = make_agent(Failing(256), enable_cache=False)
    assert agent.search(SearchQuery("retry_backoff")).degraded == ()
    response = agent.search(SearchQuery("retry_backoff"))
    assert response.degraded == ("dense",)
    assert response.results[0].file_path == "src/net/retry.py"


def test_the_source_of_a_result_names_its_legs(app: App) -> None:
    sources = {r.source for question in QUESTIONS for r in app.search(question).results}
    assert "merged" in sources
    assert sources <= {"dense", "sparse", "merged"}


@pytest.mark.slow
def test_snippets_are_at_most_sixty_lines_of_the_file(tmp_path: Path, make_app: MakeApp) -> None:
    files = {**FILES, **many_files(20, functions=30)}
    app = make_app(make_repository(tmp_path / "repo", files))
    for question in ("flush the ledger", "verify packet", "rotate cipher snapshot"):
        for result in app.search(SearchQuery(question, limit=50)).results:
            spans = [(result.start_line, result.end_line, result.snippet)]
            spans += [(s.start_line, s.end_line, s.snippet) for s in result.more_spans]
            lines = files[result.file_path].split("\n")
            assert len(result.more_spans) <= 3
            assert sum(end - start + 1 for start, end, _ in spans) <= 60
            for start, end, snippet in spans:
                assert snippet == "\n".join(lines[start - 1 : end])


def test_answers_are_deterministic(make_agent: MakeAgent) -> None:
    agent = make_agent(enable_cache=False)
    for query in map(SearchQuery, QUESTIONS):
        assert agent.search(query).results == agent.search(query).results


@pytest.mark.slow
def test_each_file_is_one_result(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(make_repository(tmp_path / "repo", many_files(20, functions=30)))
    paths = [r.file_path for r in app.search(SearchQuery("ledger", limit=50)).results]
    assert len(paths) == len(set(paths)) > 5


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("src/net/retry.py",), {"src/net/retry.py"}),
        (("src/net",), {"src/net/retry.py", "src/net/client.go"}),
        (("./src/net/",), {"src/net/retry.py", "src/net/client.go"}),
        (("*.md",), {"docs/guide.md", "README.md"}),
        (("docs", "config/*.yaml"), {"docs/guide.md", "config/service.yaml"}),
        (("src/*/t*.ts",), {"src/auth/token.ts"}),
        (("src/ne",), set()),
        ((".",), set(FILES)),
        ((), set()),
    ],
)
def test_file_path_filters_are_exact(paths: tuple[str, ...], expected: set[str], app: App) -> None:
    found = set()
    for question in ("retry token password cache attempts pages", "sample service net test"):
        results = app.search(SearchQuery(question, file_paths=paths, limit=50)).results
        found |= {result.file_path for result in results}
    assert found <= expected
    assert len(found) >= min(2, len(expected))


@pytest.mark.slow
def test_a_path_with_glob_characters_matches_itself(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(
        tmp_path / "repo", {"app/[id]/page.tsx": "function zebra() {}\n", "app/i/page.tsx": "x()\n"}
    )
    for path in ("app/[id]/page.tsx", "app/[id]"):
        results = make_app(root).search(SearchQuery("zebra page", file_paths=(path,))).results
        assert "app/[id]/page.tsx" in [result.file_path for result in results]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("python",), {"python"}),
        (("py", "TS"), {"python", "typescript"}),
        (("golang", ".rs"), {"go", "rust"}),
        (("yml",), {"yaml"}),
        (("markdown", "md"), {"markdown"}),
        (("cobolt",), None),
    ],
)
def test_language_filters_accept_all_names_of_a_language(
    names: tuple[str, ...], expected: set[str] | None, app: App
) -> None:
    query = SearchQuery("retry token password attempts fetch", languages=names, limit=50)
    if expected is None:
        with pytest.raises(QueryError, match="cobolt"):
            app.search(query)
        return
    assert {result.metadata.language for result in app.search(query).results} == expected


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")[:19] + "Z"


@pytest.mark.slow
def test_recency_counts_from_the_last_commit_or_the_modification_of_a_changed_file(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {f"old_{n}.py": f"zebra = {n}\n" for n in range(3)})
    write(root, "ten_days.py", "zebra = 10\n", when_s=_NOW_S)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "ten days ago", when_s=_NOW_S - 10 * _DAY_S)
    write(root, "old_1.py", "zebra = 'edited'\n", when_s=_NOW_S - 5 * _DAY_S)
    write(root, "new.py", "zebra = 'new'\n", when_s=_NOW_S - 2 * _DAY_S)
    app = make_app(root)
    app.index()
    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(),
        clock=lambda: _NOW_S,
    )
    expected_by_days = {
        1.0: set(),
        2.5: {"new.py"},
        6.0: {"new.py", "old_1.py"},
        10.5: {"new.py", "old_1.py", "ten_days.py"},
        9_999.0: {"new.py", "old_0.py", "old_1.py", "old_2.py", "ten_days.py"},
        0.0: {"new.py", "old_0.py", "old_1.py", "old_2.py", "ten_days.py"},
    }
    for days, expected in expected_by_days.items():
        response = agent.search(SearchQuery("zebra", min_recency_days=days))
        assert {result.file_path for result in response.results} == expected, days
    agent.close()
    times = {r.file_path: r.metadata.last_modified for r in app.search("zebra").results}
    assert times == {
        "new.py": _format_time(_NOW_S - 2 * _DAY_S),
        "old_0.py": _format_time(1_700_000_000),
        "old_1.py": _format_time(_NOW_S - 5 * _DAY_S),
        "old_2.py": _format_time(1_700_000_000),
        "ten_days.py": _format_time(_NOW_S - 10 * _DAY_S),
    }


def test_outside_git_the_modification_time_counts(tmp_path: Path, make_app: MakeApp) -> None:
    write(tmp_path / "plain", "zebra.py", "zebra = 1\n", when_s=_NOW_S)
    result = make_app(tmp_path / "plain").search("zebra").results[0]
    assert result.metadata.last_modified == _format_time(_NOW_S)


def test_a_negative_recency_is_rejected(app: App) -> None:
    for days in (-1.0, float("nan")):
        with pytest.raises(QueryError, match="minRecencyDays"):
            app.search(SearchQuery("retry", min_recency_days=days))


def test_filters_can_be_combined(app: App) -> None:
    query = SearchQuery("retry attempt", file_paths=("src", "docs"), languages=("python",))
    assert {r.file_path for r in app.search(query).results} == {
        "src/net/retry.py",
        "src/store/cache.py",
    }


@pytest.mark.slow
def test_edited_files_have_no_vectors_from_their_earlier_versions(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {f"f{n}.py": f"def zebra_{n}():\n    return 'stripes {n}'\n" for n in range(3)}
    root = make_repository(tmp_path / "repo", files)
    app = make_app(root, index_dir=tmp_path / "edited")
    app.index()
    for number in range(3):  # always edit the last file, so that its rows are adjacent
        write(root, "f2.py", f"def other_{number}(): pass\n", when_s=1_710_000_000 + number)
        app.index()
    write(root, "f2.py", files["f2.py"], when_s=1_720_000_000)
    app.index()
    index = app._container.indexer().snapshot()
    file_ids = np.array(sorted(state.id for state in index.all_files()))
    vector = app._container.embedder().embed(["zebra stripes"])[0]
    chunks = index.dense.cosines(index.dense.nearest(vector, 10), file_ids)
    assert chunks.file_ids.tolist() == file_ids.tolist()  # each file has one chunk
    assert chunks.cosines is not None
    assert np.all(chunks.cosines > 0)
