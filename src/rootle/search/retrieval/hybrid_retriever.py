"""Words and vectors: with deadlines where one may hang, in turn where both are quick."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import SearchUnavailableError, UnavailableError
from rootle.index.local.snapshot import Snapshot
from rootle.protocols import (
    DenseIndex,
    Embedder,
    Matrix,
    QueryEmbedder,
    Ranked,
    SparseIndex,
    Vector,
    WordEmbedder,
)
from rootle.rank.question.parsed import Question
from rootle.search.retrieval.candidates import NO_SPARSE, SparseFindings, ask_sparse
from rootle.search.retrieval.file_vectors import DenseFindings
from rootle.search.session import Session
from rootle.telemetry.spans import dense_stage, sparse_stage


class HybridRetriever:
    """The word index and the vectors; one may fail, or be late where it is asked in a thread."""

    def __init__(
        self,
        embedder: Callable[[], Embedder],
        config: Config,
        dense: DenseIndex | None,
        sparse: SparseIndex | None,
        model: str = "",
    ) -> None:
        """`dense` and `sparse` serve a leg in the place of the snapshot's own index.

        `model` is the fingerprint that the vectors must have; empty: whatever they have.
        """
        self._model = model
        self._open_embedder = embedder
        self._config = config
        self._dense = dense
        self._sparse = sparse
        self._words = DeadlineExecutor("sparse", config.sparse_timeout_ms)
        self._meaning = DeadlineExecutor("dense", config.dense_timeout_ms)
        self._opened: _Opened | None = None

    def close(self) -> None:
        self._words.close()
        self._meaning.close()

    @property
    def are_here(self) -> bool:
        """Whether both are known to answer in this process, without waiting for anybody."""
        return self._is_quick_meaning and self._sparse is None

    @property
    def _is_quick_meaning(self) -> bool:
        opened = self._opened
        return opened is not None and opened.answers_at_once and self._dense is None

    def ask(
        self,
        session: Session,
        question: Question,
        allowed: Collection[int] | None,
        *,
        is_alone: bool,
        in_turn: bool,
    ) -> tuple[SparseFindings, DenseFindings | None, list[str]]:
        """What each leg found, and the names of those that did not answer.

        `is_alone`: no other question is asked at the moment; `in_turn`: this one has a turn, which
        others wait for. Raises SearchUnavailableError where neither leg answers.
        """
        config, index, served = self._config, session.snapshot.sparse, self._sparse
        endpoint = EMBEDDED if served is None else _shown_url(config.sparse_endpoint)
        find_words = sparse_stage(endpoint).wrap(
            partial(ask_sparse, index, question, config.sparse_top_k, allowed, served)
        )
        is_quick_meaning = self._is_quick_meaning
        # Where questions are worked on one at a time the cores belong to this one.
        has_cores = is_alone or (session.is_small and in_turn)
        find_meaning = dense_stage(config.embedding_model_id).wrap(
            partial(self._ask_dense, session, question, allowed, is_alone=has_cores)
        )
        # Threads are of no use where all of it takes some milliseconds, or where others ask too:
        # then the deadline of a part in this process would only measure how busy the machine is.
        is_here = (session.is_small and is_quick_meaning) or not is_alone
        by_words = None if is_here and served is None else self._words.start(find_words)
        if is_here and is_quick_meaning:
            by_meaning = self._meaning.run_inline(find_meaning)
        else:
            by_meaning = self._meaning.start(find_meaning)
        by_words = by_words or self._words.run_inline(find_words)
        sparse, dense = by_words.result(), by_meaning.result()
        if served is not None and sparse is not None:
            sparse = replace(sparse, body=_within(sparse.body, session, allowed))
        if sparse is None and dense is None:
            raise SearchUnavailableError(
                "service unavailable: neither leg of the search answered "
                f"(words: {by_words.failure}; vectors: {by_meaning.failure})"
            )
        legs = (("sparse", sparse), ("dense", dense))
        degraded = [name for name, found in legs if found is None]
        lists = (sparse.body if sparse else None, dense.hits if dense else None)
        if any(found and found.is_behind(session.snapshot.generation) for found in lists):
            degraded.append("stale")
        return sparse or NO_SPARSE, dense, degraded

    def _ask_dense(
        self,
        session: Session,
        question: Question,
        allowed: Collection[int] | None,
        *,
        is_alone: bool,
    ) -> DenseFindings | None:
        """What the vectors say; None where no chunk has one yet, which is no failure of the leg."""
        index = session.snapshot.dense
        if index.pending and index.pending == index.count:
            return None
        if self._model not in ("", session.embedding):
            raise UnavailableError(
                f"the vectors in the index are of {session.embedding}, not of {self._model}"
            )
        embedder, opened = self._open_embedder(), self._opened
        if opened is None or opened.embedder is not embedder:
            self._opened = opened = _opened(embedder)
        vector = _vector_of(question, opened.embed, session.snapshot)
        if self._dense is not None and vector.any():
            found = self._dense.query(vector, self._config.dense_top_k, allowed)
            found = _within(found, session, allowed)
            if not len(found.ids) and _has_rows(session, allowed):
                raise UnavailableError("the server of the vectors found nothing at all")
            return DenseFindings(found, vector)
        k = self._config.dense_top_k if vector.any() else 0
        found = index.nearest(vector, k, allowed, is_alone=is_alone)
        return DenseFindings(found.hits, vector, found.scan)


def _within(found: Ranked, session: Session, allowed: Collection[int] | None) -> Ranked:
    """What belongs to the allowed files: a filter holds, whatever others make of it."""
    if allowed is None:
        return found
    kept = np.isin(session.table.files_of(found.ids), np.fromiter(allowed, np.int64, len(allowed)))
    return found if kept.all() else replace(found, ids=found.ids[kept], scores=found.scores[kept])


def _shown_url(endpoint: str) -> str:
    from rootle.http.client import redact_url  # a search without servers loads no HTTP

    return redact_url(endpoint)


def _has_rows(session: Session, allowed: Collection[int] | None) -> bool:
    """Whether any vector may be found."""
    if allowed is None:
        return len(session.table.chunk_ids) > 0
    files = np.fromiter(sorted(allowed), np.int64, len(allowed))
    return len(session.rows.rows_of(files)[0]) > 0


class _Opened(NamedTuple):
    """An embedder, looked at once: what a protocol asks of it takes long to find out."""

    embedder: Embedder
    embed: Callable[[str], Matrix]  # a question, as one row
    answers_at_once: bool  # a table in this process, open now, can neither hang nor be late


def _opened(embedder: Embedder) -> _Opened:
    at_once = isinstance(embedder, WordEmbedder)
    if isinstance(embedder, QueryEmbedder):
        embed_query = embedder.embed_query
        return _Opened(embedder, lambda text: embed_query(text)[None, :], at_once)
    return _Opened(embedder, lambda text: embedder.embed([text]), at_once)


def _vector_of(question: Question, embed: Callable[[str], Matrix], snapshot: Snapshot) -> Vector:
    """Raises UnavailableError for what is no vector that can be compared with those of chunks."""
    index = snapshot.dense
    vectors = embed(question.text)
    # An empty index may not know yet how long a vector is, and compares it with nothing.
    is_comparable = vectors.shape == (1, index.dimensions) or not len(index.chunk_ids)
    if not (is_comparable and np.isfinite(vectors).all()):
        raise UnavailableError(
            f"the embedder gave numbers of shape {vectors.shape} for a question, expected "
            f"{index.dimensions} finite ones; check embeddingModelID"
        )
    vector: Vector = vectors[0]
    return vector
