"""The SearchAgent: two legs with deadlines, one ranking, one page of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

import numpy as np

from rootle.config import Config
from rootle.errors import SearchUnavailableError, UnavailableError
from rootle.index.docstore import ChunkRow
from rootle.index.manifest import FileState
from rootle.index.snapshot import Snapshot
from rootle.protocols import Embedder, Scores
from rootle.rank.evidence import Evidence, Floats
from rootle.rank.features import NAMES, chunk_scores
from rootle.rank.heuristic import RankedFiles, rank_files
from rootle.rank.question import Question, parse_question
from rootle.rank.spans import ScoredSpan, choose_spans
from rootle.search.checks import MAX_QUERY_CHARS, check_query
from rootle.search.cursor import decode_cursor, encode_cursor
from rootle.search.filters import allowed_files
from rootle.search.gather import (
    NO_SPARSE,
    Candidates,
    ChunkTable,
    DenseFindings,
    FileRows,
    PathVectors,
    SparseFindings,
    ask_sparse,
    build_evidence,
    choose_candidates,
    lookup,
)
from rootle.types import FileMetadata, SearchQuery, SearchResponse, SearchResult, Source, Span

# Four spans of a file are shown at most; of windows, which overlap, some are passed over.
_SPANS_LOOKED_AT: Final = 8

_Found = TypeVar("_Found")


@dataclass(slots=True)
class _Session:
    """What is worked out once for a generation."""

    snapshot: Snapshot
    table: ChunkTable
    rows: FileRows


class SearchAgent:
    """Answers questions from whatever snapshot is the newest."""

    def __init__(
        self,
        snapshots: Callable[[], Snapshot],
        embedder: Callable[[], Embedder],
        config: Config,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._snapshots = snapshots
        self._open_embedder = embedder
        self._config = config
        self._clock = clock
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="rootle-leg")
        self._session: _Session | None = None
        self._paths: PathVectors | None = None

    def search(
        self, query: SearchQuery, *, explain: bool = False, stale: bool = False
    ) -> SearchResponse:
        """One page of answers. Raises QueryError and SearchUnavailableError."""
        started = time.perf_counter()
        limit = check_query(query, self._config)
        session = self._current_session()
        snapshot = session.snapshot
        offset = 0
        if query.cursor is not None:
            offset = decode_cursor(query.cursor, query, snapshot.generation)
        allowed = allowed_files(query, snapshot.all_files, self._clock())
        question = self._question(query, snapshot)
        ranked, evidence, degraded = self._rank(session, question, allowed)
        page = ranked.order[offset : offset + limit]
        results = self._results(session, evidence, ranked, page, explain=explain)
        more = offset + limit < len(ranked.order)
        return SearchResponse(
            results=results,
            next_cursor=encode_cursor(query, snapshot.generation, offset + limit) if more else None,
            degraded=(*degraded, *(("stale",) if stale else ())),
            confident=None,
            generation=snapshot.generation,
            took_ms=round((time.perf_counter() - started) * 1000, 3),
            suggestions=() if results else self._suggestions(snapshot, allowed),
        )

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _current_session(self) -> _Session:
        snapshot = self._snapshots()
        if self._session is None or self._session.snapshot is not snapshot:
            dense = snapshot.dense
            order = np.argsort(dense.chunk_ids, kind="stable")
            table = ChunkTable(dense.chunk_ids[order], dense.file_ids[order])
            self._session = _Session(snapshot, table, FileRows(dense.file_ids))
        return self._session

    def _question(self, query: SearchQuery, snapshot: Snapshot) -> Question:
        return parse_question(query.text_query[:MAX_QUERY_CHARS], snapshot.sparse.stems)

    def _rank(
        self, session: _Session, question: Question, allowed: Collection[int] | None
    ) -> tuple[RankedFiles, Evidence, list[str]]:
        snapshot = session.snapshot
        sparse, dense, vector, degraded = self._ask_legs(session, question, allowed)
        candidates = choose_candidates(
            sparse, dense, session.table, self._config.max_merged_candidates, allowed
        )
        states = snapshot.files(candidates.file_ids.tolist())
        paths = [states[at].path if at in states else "" for at in candidates.file_ids.tolist()]
        evidence = build_evidence(
            question,
            sparse,
            snapshot.sparse if "sparse" not in degraded else None,
            candidates,
            paths,
            self._dense_columns(session, candidates, paths, dense, vector, degraded),
        )
        return rank_files(evidence), evidence, degraded

    def _ask_legs(
        self, session: _Session, question: Question, allowed: Collection[int] | None
    ) -> tuple[SparseFindings, DenseFindings | None, Scores | None, list[str]]:
        config = self._config
        by_words = self._pool.submit(
            ask_sparse, session.snapshot.sparse, question, config.sparse_top_k, allowed
        )
        by_meaning = self._pool.submit(self._ask_dense, session, question, allowed)
        degraded: list[str] = []
        sparse = _outcome(by_words, config.sparse_timeout_ms, "sparse", degraded)
        dense = _outcome(by_meaning, config.dense_timeout_ms, "dense", degraded)
        if sparse is None and dense is None:
            raise SearchUnavailableError("neither the word index nor the vectors answered in time")
        found, vector = dense if dense is not None else (None, None)
        return sparse or NO_SPARSE, found, vector, degraded

    def _ask_dense(
        self, session: _Session, question: Question, allowed: Collection[int] | None
    ) -> tuple[DenseFindings, Scores]:
        vector = self._open_embedder().embed([question.text])[0]
        index = session.snapshot.dense
        scores = index.scores(vector)
        if not vector.any():
            return DenseFindings(index.best(scores, 0), scores), vector
        return DenseFindings(index.best(scores, self._config.dense_top_k, allowed), scores), vector

    def _dense_columns(
        self,
        session: _Session,
        candidates: Candidates,
        paths: list[str],
        dense: DenseFindings | None,
        vector: Scores | None,
        degraded: list[str],
    ) -> tuple[Floats, Floats, Floats, Floats]:
        nothing = np.zeros(len(candidates.file_ids))
        if dense is None or vector is None:
            return np.zeros(len(candidates.chunk_ids)), nothing, nothing, nothing
        best, mean = session.rows.best_and_mean(dense.scores, candidates.file_ids)
        if self._paths is None:
            self._paths = PathVectors(self._open_embedder())
        try:
            by_path = self._paths.similarity(vector, paths)
        except UnavailableError:
            degraded.append("dense")
            by_path = nothing
        return lookup(dense.hits, candidates.chunk_ids), best, mean, by_path

    def _results(
        self,
        session: _Session,
        evidence: Evidence,
        ranked: RankedFiles,
        page: tuple[int, ...],
        *,
        explain: bool,
    ) -> tuple[SearchResult, ...]:
        snapshot = session.snapshot
        files = snapshot.files(evidence.files.ids[list(page)].tolist())
        best = _best_chunks(evidence, page)
        rows = snapshot.chunks([chunk_id for found in best for chunk_id, _ in found])
        results = []
        for at, found in zip(page, best, strict=True):
            state = files[int(evidence.files.ids[at])]
            spans = [
                ScoredSpan(row.id, row.start_line, row.end_line, score)
                for chunk_id, score in found
                if (row := rows.get(chunk_id)) is not None
            ]
            if not spans:
                # Its path or its names alone brought it here: it is shown by its beginning.
                rows.update((row.id, row) for row in snapshot.chunks_of(state.id)[:1])
                spans = [
                    ScoredSpan(row.id, row.start_line, row.end_line, 0.0)
                    for row in rows.values()
                    if row.file_id == state.id
                ]
            shown = _shown(snapshot, choose_spans(spans), rows)
            explanation = _explanation(ranked, at) if explain else None
            results.append(_result(evidence, state, shown, ranked.scores[at], explanation))
        return tuple(results)

    def _suggestions(self, snapshot: Snapshot, allowed: Collection[int] | None) -> tuple[str, ...]:
        if not len(snapshot.dense.chunk_ids):
            return ("The index is empty: there is no text file to search in this folder.",)
        if allowed is not None and not allowed:
            return ("No file passes the filters: widen filePaths, languages or minRecencyDays.",)
        return ("Nothing matches: try broader keywords or check the spelling.",)


def _outcome(
    future: Future[_Found], timeout_ms: int, name: str, degraded: list[str]
) -> _Found | None:
    """What a leg found; None, with its name noted, where it is late or down."""
    try:
        return future.result(timeout_ms / 1000)
    except (LateError, UnavailableError):
        future.cancel()
        degraded.append(name)
        return None


def _best_chunks(evidence: Evidence, page: Sequence[int]) -> list[list[tuple[int, float]]]:
    """For each file of a page its best chunks as pairs of id and score, best first."""
    scores = chunk_scores(evidence)
    order = np.argsort(-scores, kind="stable")
    owners = evidence.chunks.files[order]
    best = []
    for at in page:
        places = order[np.flatnonzero(owners == at)[:_SPANS_LOOKED_AT]]
        ids = evidence.chunks.ids[places].tolist()
        best.append(list(zip(ids, scores[places].tolist(), strict=True)))
    return best


def _shown(
    snapshot: Snapshot, spans: Sequence[ScoredSpan], rows: Mapping[int, ChunkRow]
) -> list[tuple[int, Span]]:
    """The chosen spans with their lines, each with the chunk that it came from."""
    shown = []
    for span in spans:
        row = rows[span.chunk_id]
        text = snapshot.excerpt(row.file_id, row.start, row.end)
        lines = text.split("\n")[: span.end_line - span.start_line + 1]
        shown.append((row.id, Span(span.start_line, span.end_line, "\n".join(lines), row.scope)))
    return shown


def _result(
    evidence: Evidence,
    state: FileState,
    shown: Sequence[tuple[int, Span]],
    score: float,
    explanation: Mapping[str, float] | None,
) -> SearchResult:
    chunk_id, first = shown[0] if shown else (-1, Span(1, 1, "", ""))
    return SearchResult(
        file_path=state.path,
        start_line=first.start_line,
        end_line=first.end_line,
        snippet=first.snippet,
        score=round(min(1.0, float(score)), 5),
        source=_source(evidence, chunk_id),
        metadata=_metadata(state),
        scope=first.scope,
        more_spans=tuple(span for _, span in shown[1:]),
        explanation=explanation,
    )


def _explanation(ranked: RankedFiles, at: int) -> Mapping[str, float]:
    gave = zip(NAMES, ranked.features[at].tolist(), strict=True)
    return {name: round(value, 5) for name, value in gave if value}


def _source(evidence: Evidence, chunk_id: int) -> Source:
    at = np.flatnonzero(evidence.chunks.ids == chunk_id)
    if not len(at):
        return "merged"
    # A cosine may be below zero; 0 means that the leg did not find the chunk.
    by_words, by_meaning = evidence.chunks.bm25[at[0]] != 0, evidence.chunks.dense[at[0]] != 0
    if by_words and by_meaning:
        return "merged"
    return "dense" if by_meaning else "sparse"


def _metadata(state: FileState) -> FileMetadata:
    modified = datetime.fromtimestamp(state.last_modified_s, UTC)
    stamp = modified.isoformat(timespec="seconds").replace("+00:00", "Z")
    return FileMetadata(stamp, state.language, state.size)
