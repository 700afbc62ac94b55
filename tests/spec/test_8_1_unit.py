"""Section 8.1 of the specification, point by point."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from sample import MakeApp

from rootle.app import App
from rootle.config.fields import Config
from rootle.config.weights import RerankerWeights
from rootle.errors import UnavailableError
from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.protocols import Ids, Matrix, RankedIds
from rootle.rank.features import NAMES, file_features
from rootle.rank.question.parsed import parse_question
from rootle.rank.rankers.features_ranker import rank_files
from rootle.rank.rankers.specified_ranker import (
    file_importance,
    rank_by_weighted_sum,
    recency_boost,
)
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, RankingInputs
from rootle.search.agent import SearchAgent
from rootle.search.factory import SearchedIndex, open_agent
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.parse import ParsedQuestion
from rootle.search.query.scope import ScopedQuery
from rootle.search.retrieval.legs import NO_SPARSE
from rootle.search.retrieval.merged_candidates import choose_candidates, lookup
from rootle.search.search_trace import SearchLogFile
from rootle.types import SearchQuery

_BODY = "".join(f"  users.audit({number}, 'a note for the record');\n" for number in range(12))
_TWO_FUNCTIONS = f"""\
// Adds a user.
function addUser(name) {{
{_BODY}  return users.length;
}}

function removeUser(name) {{
{_BODY}  return users.length;
}}
"""


def test_8_1_1_chunking_logic() -> None:
    limits = ChunkLimits(max_chars=60 * 4, overlap_chars=10 * 4)  # in characters: 60 and 10 tokens
    pieces = split_text(_TWO_FUNCTIONS, "javascript", limits).chunks
    assert [(piece.start_line, piece.end_line) for piece in pieces] == [
        *((1, 6), (7, 11), (12, 16)),
        *((18, 22), (23, 27), (28, 32)),
    ]
    assert all(piece.end - piece.start <= 240 for piece in pieces)
    (one, other) = split_text(_TWO_FUNCTIONS, "javascript", ChunkLimits()).chunks
    assert (one.start_line, one.end_line, one.symbols) == (1, 16, ("addUser",))
    assert (other.start_line, other.end_line, other.symbols) == (18, 32, ("removeUser",))
    # Overlapping parts of a function: each begins with the last line of the part before it.
    overlapping = replace(limits, part_overlap_chars=60)
    parts = split_text(_TWO_FUNCTIONS, "javascript", overlapping).chunks
    assert [(piece.start_line, piece.end_line) for piece in parts] == [
        *((1, 5), (5, 9), (9, 13), (13, 16)),
        *((18, 21), (21, 25), (25, 29), (29, 32)),
    ]
    # Text without structure is split into overlapping windows.
    lines = "".join(f"line {number} of a log\n" for number in range(99))
    windows = split_text(lines, "log", replace(limits, overlap_chars=60)).chunks
    assert len(windows) > 5
    for before, after in itertools.pairwise(windows):
        assert before.start_line < after.start_line <= before.end_line
        assert before.end - after.start <= 60


class _TimingOut(HashEmbedder):
    def embed(self, texts: Sequence[str]) -> Matrix:
        raise UnavailableError("no answer within 2000 ms")


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    app: App = make_app(repository)
    app.index()
    return app


def _agent(app: App, embedder: HashEmbedder, log: Path, **settings: Any) -> SearchAgent:
    return open_agent(
        SearchedIndex(app._container.indexer().snapshot, lambda: embedder),
        Config(**settings),
        log=SearchLogFile(log, with_query_text=True),
    )


def test_8_1_2_embedding_fallback(app: App, tmp_path: Path) -> None:
    agent = _agent(app, _TimingOut(256), tmp_path / "log.jsonl")
    response = agent.search(SearchQuery("retry_backoff"))
    assert response.results[0].file_path == "src/net/retry.py"
    assert {result.source for result in response.results} == {"sparse"}
    assert response.degraded == ("dense",)
    assert "denseFallback" in json.loads((tmp_path / "log.jsonl").read_text())["events"]
    agent.close()


def test_8_1_3_merge_and_deduplication() -> None:
    dense = RankedIds(np.array([7, 3, 9, 1]), np.array([0.9, 0.8, 0.7, 0.6], np.float32))
    sparse = RankedIds(np.array([3, 5, 7]), np.array([12.0, 11.0, 2.0], np.float32))
    words = replace(NO_SPARSE, body=sparse)
    scoped = ScopedQuery(ParsedQuestion(parse_question("users", str.split), ParsedQuery("users")))

    def files_of(chunk_ids: Ids) -> Ids:
        return chunk_ids // 2

    merged = choose_candidates(words, dense, files_of, 100, scoped).chunks
    assert merged.tolist() == [1, 3, 5, 7, 9]
    # The ranking receives the scores of both searches, so it cannot lose the higher one.
    by_dense, by_sparse = lookup([dense, sparse], merged)
    assert by_dense.tolist() == pytest.approx([0.6, 0.8, 0, 0.9, 0.7])
    assert by_sparse.tolist() == pytest.approx([0, 12, 11, 2, 0])
    few = choose_candidates(words, dense, files_of, 2, scoped).chunks
    assert few.tolist() == [3, 7]  # chunks that both searches found come first


def test_8_1_4_reranking_heuristics() -> None:
    count, rng = 12, np.random.default_rng(4)
    numbers = np.arange(count)

    def some() -> Any:
        return rng.random(count)

    chunks = ChunkInputs(
        numbers + 100, numbers, some(), some(), some(), some(), np.zeros(count, bool)
    )
    paths = tuple(f"src/file_{number}.py" for number in numbers)
    files = FileInputs(numbers, paths, *(some() for _ in fields(FileInputs)[2:]))
    evidence = RankingInputs(parse_question("how are users added", str.split), chunks, files)
    weights = {name: float(rng.random()) for name in NAMES}
    ranked = rank_files(evidence, weights)
    alpha = np.array([weights[name] for name in NAMES])
    expected = (file_features(evidence) * alpha).sum(axis=1) / alpha.sum()
    assert ranked.scores == pytest.approx(expected)
    assert list(ranked.order) == np.argsort(-expected, kind="stable").tolist()
    # The formula of the specification applies if there is no learned ranker. Here, each file has
    # one chunk.
    specified = rank_by_weighted_sum(evidence, RerankerWeights(0.5, 0.3, 0.1, 0.1))
    formula = (
        0.5 * evidence.chunks.dense
        + 0.3 * evidence.chunks.bm25 / evidence.chunks.bm25.max()
        + 0.1 * recency_boost(evidence.files.days)
        + 0.1 * file_importance(evidence.files.sizes)
    )
    assert specified.scores == pytest.approx(formula)
    assert list(specified.order) == np.argsort(-formula, kind="stable").tolist()


def test_8_1_5_cache_behavior(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashEmbedder(256)
    agent = _agent(app, embedder, tmp_path / "log.jsonl")
    query = SearchQuery("where is the retry policy", languages=("python",), limit=3)
    first = agent.search(query)
    assert len(embedder.texts) == 1
    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", _must_not_run)
    monkeypatch.setattr(
        "rootle.index.local.inverted_index.reader.EmbeddedSparse.field_scores", _must_not_run
    )
    monkeypatch.setattr(
        "rootle.index.local.vector_matrix.reader.EmbeddedDense.scores", _must_not_run
    )
    again = agent.search(query)
    assert again.results == first.results != ()
    assert len(embedder.texts) == 1
    agent.close()


def _must_not_run(*_: object, **__: object) -> None:
    raise AssertionError("a cached answer must not be searched again")
