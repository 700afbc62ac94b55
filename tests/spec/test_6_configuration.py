"""Section 6: each setting of the sample file changes what a user sees, or `status` says why not."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from command import rootle
from embedding_server import embedding_server
from hash_embedder import HashEmbedder
from json_server import Reply, Request, serving
from polling import wait_until
from sample import OLD_S, MakeApp, indexed_repository, make_repository, many_files, write
from specification_sample import SAMPLE

from rootle.app import App
from rootle.config.fields import Config, make_key
from rootle.config.precedence import load_config
from rootle.config.weights import RerankerWeights
from rootle.errors import IndexMissingError, QueryError
from rootle.protocols import Matrix
from rootle.rank.rankers.registry import LEARNED
from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent
from rootle.search.retrieval import hybrid_retriever, legs
from rootle.storage.paths import search_log_path
from rootle.types import SearchQuery

_QUESTION: Final = "which socket does the ledger validate"
_BODY: Final = "".join(f"    total_{row} = zebra(total_{row - 1})\n" for row in range(1, 150))
_PROSE: Final = "".join(f"Sentence {row} of one long section.\n\n" for row in range(150))
_FILES: Final = {
    **many_files(30, functions=4),
    "src/long.py": f"def add_stripes(total_0):\n{_BODY}",
    "docs/long.md": f"# Guide\n\n{_PROSE}",
    "config/long.yaml": "".join(f"key_{row}: value {row}\n" for row in range(300)),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", _FILES)


@pytest.fixture
def open_with(make_app: MakeApp, tmp_path: Path) -> Callable[..., App]:
    """Return a function that opens an indexed folder with the given settings."""
    count = iter(range(100))
    root, made = indexed_repository(_FILES)

    def open_(**settings: Any) -> App:
        index_dir = shutil.copytree(made, tmp_path / f"index-{next(count)}")
        return make_app(root, index_dir=index_dir, **settings)

    return open_


@pytest.fixture
def open_own_with(root: Path, make_app: MakeApp, tmp_path: Path) -> Callable[..., App]:
    """Return a function that opens a folder without an index; the test may change the folder."""
    count = iter(range(100))

    def open_(**settings: Any) -> App:
        return make_app(root, index_dir=tmp_path / f"own-index-{next(count)}", **settings)

    return open_


OpenWith = Callable[..., App]


def _log() -> list[dict[str, Any]]:
    return [json.loads(line) for line in search_log_path().read_text().splitlines()]


def _last_line(app: App, question: str = _QUESTION) -> dict[str, Any]:
    app.search(question)
    return _log()[-1]


def _chunks_of(app: App, path: str) -> list[tuple[int, int]]:
    app.index()
    index = app._container.indexer().snapshot()
    (file_id,) = (state.id for state in index.all_files() if state.path == path)
    return [(row.start_line, row.end_line) for row in index.list_chunks(file_id)]


def _is_unused(app: App, key: str, reason: str) -> bool:
    return f"{key} is not used: {reason}" in app.status().unused_settings


@pytest.mark.slow
def test_max_chunk_size_tokens(open_with: OpenWith) -> None:
    sizes = [len(_chunks_of(open_with(max_chunk_size_tokens=n), "src/long.py")) for n in (64, 512)]
    assert sizes[0] > sizes[1]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["src/long.py", "docs/long.md", "config/long.yaml"])
def test_chunk_overlap_tokens(open_with: OpenWith, path: str) -> None:
    shared = []
    for tokens in (0, 50, 200):
        ranges = _chunks_of(open_with(chunk_overlap_tokens=tokens), path)
        shared.append(min(left[1] - right[0] + 1 for left, right in pairwise(ranges)))
    assert shared[0] <= 0 < shared[1] < shared[2]


def test_embedding_model_id(open_with: OpenWith) -> None:
    app = open_with(embedding_model_id="openai-embeddings-001")
    assert app.search(_QUESTION).degraded == ("embedding",)
    assert "openai-embeddings-001" in app.status().model_note
    assert open_with().search(_QUESTION).degraded == ()


def test_dense_top_k_and_sparse_top_k(open_with: OpenWith) -> None:
    line = _last_line(open_with(dense_top_k=3, sparse_top_k=5))
    assert (line["numDenseHits"], line["numSparseHits"]) == (3, 5)
    line = _last_line(open_with(dense_top_k=30, sparse_top_k=20))
    assert (line["numDenseHits"], line["numSparseHits"]) == (30, 20)


def test_dense_batch_size_is_named_without_a_server(open_with: OpenWith) -> None:
    app = open_with(dense_batch_size=4)
    assert _is_unused(app, "denseBatchSize", "embeddingModelID names no server")


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 16])
def test_dense_batch_size_with_a_server(open_with: OpenWith, size: int) -> None:
    with embedding_server() as server:
        app = open_with(
            embedding_model_id="some-model", embedding_endpoint=server.url, dense_batch_size=size
        )
        app.index()
        assert app.status().unused_settings == ()
    assert max(len(request.body["input"]) for request in server.requests) == size


class _Blocked(HashEmbedder):
    """An embedder that does not answer before it is released."""

    def __init__(self) -> None:
        super().__init__(256)
        self.released = threading.Event()

    def embed(self, texts: Sequence[str]) -> Matrix:
        assert self.released.wait(timeout=60)
        return super().embed(texts)


@pytest.mark.parametrize(("timeout_ms", "degraded"), [(10, ("dense",)), (600_000, ())])
def test_dense_timeout_ms(open_with: OpenWith, timeout_ms: int, degraded: tuple[str, ...]) -> None:
    app, embedder = open_with(), _Blocked()
    app.index()
    if not degraded:  # release the embedder after the default time limit
        threading.Timer(Config().dense_timeout_ms / 1000 + 0.5, embedder.released.set).start()
    container = app._container
    agent = open_agent(
        SearchedIndex(container.indexer().snapshot, lambda: embedder),
        Config(dense_timeout_ms=timeout_ms),
    )
    found = agent.search(SearchQuery(_QUESTION)).degraded
    embedder.released.set()
    agent.close()
    assert found == degraded


def test_sparse_endpoint_is_named_without_a_backend(open_with: OpenWith) -> None:
    app = open_with(sparse_endpoint="http://localhost:8080")
    assert _is_unused(app, "sparseEndpoint", "sparseBackend names no server")


@pytest.mark.parametrize(("timeout_ms", "degraded"), [(10, ("sparse",)), (600_000, ())])
def test_sparse_timeout_ms(
    open_with: OpenWith,
    monkeypatch: pytest.MonkeyPatch,
    timeout_ms: int,
    degraded: tuple[str, ...],
) -> None:
    released, search_words = threading.Event(), legs.search_sparse
    if not degraded:  # release the search after the default time limit
        threading.Timer(Config().sparse_timeout_ms / 1000 + 0.5, released.set).start()

    def search_slowly(*arguments: Any) -> Any:
        assert released.wait(timeout=60)
        return search_words(*arguments)

    monkeypatch.setattr(hybrid_retriever, "search_sparse", search_slowly)
    # Words are searched in a thread, with a deadline, unless the index is small.
    monkeypatch.setattr("rootle.search.session._CHUNKS_FOR_THREADS", 0)
    found = open_with(sparse_timeout_ms=timeout_ms).search(_QUESTION).degraded
    released.set()
    assert found == degraded


def test_use_learned_reranker(open_with: OpenWith) -> None:
    names = [
        _last_line(open_with(use_learned_reranker=value))["usedRerankerModel"]
        for value in (True, False)
    ]
    assert names == ["learned", "specified"]


def test_reranker_model_id_and_batch_size_are_named_without_a_provider(
    open_with: OpenWith,
) -> None:
    app = open_with(reranker_model_id="some-reranker", reranker_batch_size=3)
    for key in ("rerankerModelID", "rerankerBatchSize"):
        assert _is_unused(app, key, "rerankerProvider names no server")
    assert open_with(reranker_provider="tei", reranker_batch_size=3).status().unused_settings == ()


def test_reranker_model_id_with_a_provider(open_with: OpenWith) -> None:
    def score(request: Request) -> Reply:
        scores = [{"index": at, "relevance_score": 0.5} for at in range(20)]
        return Reply({"results": scores[: len(request.body["documents"])]})

    with serving(score) as server:
        settings = {"reranker_provider": "cohere", "reranker_endpoint": server.url}
        line = _last_line(open_with(**settings, reranker_model_id="some-reranker"))
        assert server.requests[-1].body["model"] == "some-reranker"
    assert line["usedRerankerModel"] == "some-reranker"


@pytest.mark.parametrize("size", [3, 20])
def test_reranker_batch_size_with_a_provider(open_with: OpenWith, size: int) -> None:
    with serving(_score_all) as server:
        app = open_with(
            reranker_provider="tei", reranker_endpoint=server.url, reranker_batch_size=size
        )
        app.search(_QUESTION)
    assert max(len(request.body["texts"]) for request in server.requests) == size


def _score_all(request: Request) -> Reply:
    return Reply([{"index": at, "score": 0.5} for at in range(len(request.body["texts"]))])


@pytest.mark.parametrize(("timeout_ms", "degraded"), [(1, ("learned",)), (600_000, ())])
def test_reranker_timeout_ms(
    open_with: OpenWith, timeout_ms: int, degraded: tuple[str, ...]
) -> None:
    app = open_with()
    app.index()

    def rank_slowly(inputs: Any) -> Any:
        assert not threading.Event().wait(0.02)
        return LEARNED.rank(inputs)

    agent = open_agent(
        SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
        Config(reranker_timeout_ms=timeout_ms),
        SearchFeatures(ranker=replace(LEARNED, rank=rank_slowly)),
        log=app._container.search_log(),
    )
    assert agent.search(SearchQuery(_QUESTION)).degraded == degraded
    agent.close()
    assert _log()[-1]["usedRerankerModel"] == ("features" if degraded else "learned")


@pytest.mark.slow
def test_reranker_weights(root: Path, open_own_with: OpenWith) -> None:
    weather = "# The weather is fine today, and the coat stays at home.\n" * 12
    write(root, "pkg_0/new.py", f"{weather}# socket\n{weather}", when_s=None)
    weights = replace(Config().reranker_weights, recency_boost=1_000.0)
    question = "validate the ledger socket"
    first = [
        app.search(question).results[0].file_path
        for app in (
            open_own_with(use_learned_reranker=False),
            open_own_with(use_learned_reranker=False, reranker_weights=weights),
        )
    ]
    assert first[0] != first[1] == "pkg_0/new.py"
    app = open_own_with(reranker_weights=weights)
    assert _is_unused(app, "rerankerWeights", "useLearnedReranker is true")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["dense_score", "sparse_score", "recency_boost", "file_importance"]
)
def test_each_of_the_reranker_weights(root: Path, open_own_with: OpenWith, name: str) -> None:
    write(root, "pkg_0/new.py", "def validate_ledger(socket): ...\n", when_s=None)

    def scores(weight: float) -> dict[str, float]:
        weights = RerankerWeights(0.1, 0.1, 0.0, 0.0)
        app = open_own_with(
            use_learned_reranker=False, reranker_weights=replace(weights, **{name: weight})
        )
        return {result.file_path: result.score for result in app.search(_QUESTION).results}

    assert scores(0.1) != scores(0.4)


@pytest.mark.slow
def test_enable_cache_and_its_limits(open_with: OpenWith) -> None:
    def count_merged(app: App) -> list[int]:
        return [_last_line(app, text)["numMerged"] for text in (_QUESTION, "ledger", _QUESTION)]

    assert count_merged(open_with())[2] == 0
    assert count_merged(open_with(enable_cache=False))[2] > 0
    assert count_merged(open_with(cache_max_entries=1))[2] > 0
    app = open_with(enable_cache=False, cache_max_entries=1, cache_ttl_seconds=1)
    for key in ("cacheMaxEntries", "cacheTTLSeconds"):
        assert _is_unused(app, key, "enableCache is false")


@pytest.mark.parametrize(("ttl_s", "is_cached"), [(10, False), (3_600, True)])
def test_cache_ttl_seconds(open_with: OpenWith, ttl_s: int, *, is_cached: bool) -> None:
    app, now_s = open_with(), [OLD_S + 1_000.0]
    app.index()
    container = app._container
    agent = open_agent(
        SearchedIndex(container.indexer().snapshot, container.embedder),
        Config(cache_ttl_seconds=ttl_s),
        log=container.search_log(),
        clock=lambda: now_s[0],
    )
    agent.search(SearchQuery(_QUESTION))
    now_s[0] += 60
    agent.search(SearchQuery(_QUESTION))
    agent.close()
    assert (_log()[-1]["numMerged"] == 0) == is_cached


def _context_lines(app: App) -> set[int]:
    result = app.search("okapi walk feed", context=True).results[0]
    assert (result.file_path, len(result.more_spans)) == ("src/feed.py", 2)
    assert result.context is not None
    spans = result.context.passages
    return {line for span in spans for line in range(span.start_line, span.end_line + 1)}


@pytest.fixture
def long_source(root: Path) -> Path:
    """Add a file with three matching spans, one of which is a definition of 41 lines."""
    notes = "".join(f"# note {row}\n" for row in range(60))
    body = "".join(f"    okapi_{row} = walk({row})\n" for row in range(40))
    last = "".join(f"LAST_{row} = {row}\n" for row in range(60))
    return write(root, "src/feed.py", f"{notes}\n\ndef feed(walk):\n{body}\n\n{last}")


@pytest.mark.slow
@pytest.mark.usefixtures("long_source")
def test_max_context_lines(open_own_with: OpenWith) -> None:
    sizes = [len(_context_lines(open_own_with(max_context_lines=most))) for most in (20, 70)]
    assert sizes[0] <= 20 < sizes[1] <= 70


@pytest.mark.slow
@pytest.mark.usefixtures("long_source")
def test_context_before_lines_and_context_after_lines(open_own_with: OpenWith) -> None:
    """Without extra lines, the context contains only the definition and the other spans."""
    shown = {
        (before, after): _context_lines(
            open_own_with(context_before_lines=before, context_after_lines=after)
        )
        for before, after in ((0, 0), (9, 0), (0, 9))
    }
    definition = set(range(63, 104))
    assert all(definition <= lines for lines in shown.values())
    assert set(range(54, 63)) <= shown[9, 0]
    assert not set(range(54, 63)) & shown[0, 0]
    assert set(range(106, 113)) <= shown[0, 9]


def test_min_recency_days(open_with: OpenWith) -> None:
    assert open_with().search(_QUESTION).results
    assert open_with(min_recency_days=1.0).search(_QUESTION).results == ()


@pytest.mark.parametrize("most", [1, 7, 20, 70])
@pytest.mark.parametrize("question", [_QUESTION, '"return"', "load_account"])
def test_max_merged_candidates(open_with: OpenWith, most: int, question: str) -> None:
    app = open_with(max_merged_candidates=most)
    assert 0 < _last_line(app, question)["numMerged"] <= most
    found = app.search(SearchQuery(question, limit=50)).results
    assert 0 < len(found) <= most
    assert (
        len(found) < len(open_with().search(SearchQuery(question, limit=50)).results) or most >= 20
    )


def test_no_results_suggestion(open_with: OpenWith) -> None:
    app = open_with(no_results_suggestion="Ask a person.")
    assert app.search('"no such phrase"').results == ()
    assert "Ask a person." in app.search("anything lang:elm").suggestions


@pytest.mark.slow
@pytest.mark.parametrize("debounce_ms", [0, 60_000])
def test_watch_debounce_ms(root: Path, open_own_with: OpenWith, debounce_ms: int) -> None:
    app = open_own_with(watch_debounce_ms=debounce_ms)
    app.index()
    before = app.status().generation
    with app.watch() as live:
        write(root, "pkg_0/new.py", "okapi = 1\n", when_s=None)
        if debounce_ms:
            wait_until(lambda: live.waiting, "the watcher notices the file")
            assert app.status().generation == before
        else:
            wait_until(lambda: app.status().generation > before, "the watcher indexes the file")


def test_enable_indexing(open_own_with: OpenWith) -> None:
    app = open_own_with(enable_indexing=False, watch_debounce_ms=1)
    with pytest.raises(IndexMissingError):
        app.search(_QUESTION)
    assert _is_unused(app, "watchDebounceMs", "enableIndexing is false")


def test_default_limit_and_max_limit(open_with: OpenWith) -> None:
    app = open_with(default_limit=3, max_limit=4)
    assert len(app.search(_QUESTION).results) == 3
    assert len(app.search(SearchQuery(_QUESTION, limit=4)).results) == 4
    with pytest.raises(QueryError, match="1 to 4"):
        app.search(SearchQuery(_QUESTION, limit=5))


def test_every_setting_of_the_sample_is_changed_by_a_test(tmp_path: Path) -> None:
    config, _ = load_config(write(tmp_path, "config.json", SAMPLE))
    keys = set(json.loads(re.sub(r"//[^\n\"]*$", "", SAMPLE, flags=re.MULTILINE))["searchAgent"])
    names = [field.name for field in fields(config) if make_key(field.name) in keys]
    assert len(names) == len(keys) == 27
    source = Path(__file__).read_text()
    tests = source.replace(source[source.index("def test_every_setting_of_the_sample") :], "")
    for name in names:
        assert re.search(rf"\b{name}=", tests), f"no test here sets {name}"


@pytest.mark.slow
def test_keys_outside_of_their_section_are_reported(root: Path, home: Path) -> None:
    write(root, ".rootle.json", '{\n"maxLimit": 5}')
    warned = rootle("search", "ledger", "--root", root).err
    assert '.rootle.json, line 2: "maxLimit" is not used; move it into the object' in warned
    write(root, ".rootle.json", '{"searchAgent": {"maxLimit": 40}, "rerankerWeights": {}}')
    assert '"rerankerWeights" is not used' in rootle("status", root).err
    write(root, ".rootle.json", '{"maxLimt": 5}')
    warned = rootle("status", root).err
    assert '"maxLimt" is not used; did you mean {"searchAgent": {"maxLimit": …}}?' in warned
    # These objects may belong to another program that shares the file.
    write(root, ".rootle.json", '{"plugins": {"a": 1}, "trust": {"b": 2}, "other": 1}')
    assert "is not used" not in rootle("status", root).err
