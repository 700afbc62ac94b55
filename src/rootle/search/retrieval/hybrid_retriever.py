"""Step 3: retrieve candidates with both legs, within their deadlines."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

import numpy as np

from rootle.concurrency.deadline import DeadlineExecutor, PendingCall
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import SearchUnavailableError, UnavailableError
from rootle.index.reader import IndexReader, Neighbors
from rootle.protocols import DenseIndex, Embedder, Ranked, SparseIndex
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.retrieval.candidates import Candidates, gather_candidates
from rootle.search.retrieval.legs import NO_SPARSE, QuestionEncoder, SparseFindings, search_sparse
from rootle.telemetry.spans import dense_stage, sparse_stage


class HybridRetriever:
    """Searches words and vectors. One leg may fail or be late; the other one then answers alone."""

    def __init__(
        self,
        open_embedder: Callable[[], Embedder],
        config: Config,
        *,
        dense: DenseIndex | None = None,
        sparse: SparseIndex | None = None,
        model: str = "",
        is_limited: bool = True,
    ) -> None:
        """Take the servers that replace a leg of the index, if any.

        `model` is the fingerprint that the vectors of an index must have; if it is empty, any model
        is accepted. `is_limited`: queries that need no server run only a few at a time.
        """
        self._config = config
        self._encoder = QuestionEncoder(open_embedder)
        self._dense_server = dense
        self._sparse_server = sparse
        self._model = model
        self._is_limited = is_limited
        self._sparse_leg = DeadlineExecutor("sparse", config.sparse_timeout_ms)
        self._dense_leg = DeadlineExecutor("dense", config.dense_timeout_ms)

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> Candidates:
        """Return the candidates; raise SearchUnavailableError if both legs fail."""
        sparse_call, dense_call = self._start_legs(request, scoped)
        sparse, neighbors = sparse_call.result(), dense_call.result()
        if sparse is None and neighbors is None:
            raise SearchUnavailableError(
                "service unavailable: neither leg of the search answered "
                f"(words: {sparse_call.failure}; vectors: {dense_call.failure})"
            )
        index = request.session.index
        if self._sparse_server is not None and sparse is not None:
            sparse = replace(sparse, body=_keep_allowed(sparse.body, index, scoped.files))
        degraded = _degraded_legs(sparse, neighbors, index.generation)
        candidates = gather_candidates(
            request,
            scoped,
            sparse or NO_SPARSE,
            neighbors,
            limit=self._config.max_merged_candidates,
            degraded=degraded,
        )
        request.trace.record_retrieval(
            sparse_hits=len(sparse.body.ids) if sparse else 0,
            dense_hits=len(neighbors.hits.ids) if neighbors else 0,
            candidates=len(candidates.inputs.chunks.ids),
        )
        return candidates

    @property
    def is_local(self) -> bool:
        """Whether both legs are known to answer in this process, without waiting for a server."""
        return self._is_dense_immediate and self._sparse_server is None

    def close(self) -> None:
        """Stop the threads."""
        self._sparse_leg.close()
        self._dense_leg.close()

    @property
    def _is_dense_immediate(self) -> bool:
        return self._encoder.is_immediate and self._dense_server is None

    def _start_legs(
        self, request: SearchRequest, scoped: ScopedQuery
    ) -> tuple[PendingCall[SparseFindings], PendingCall[Neighbors | None]]:
        is_small, is_alone = request.session.is_small, request.active.is_alone
        search_words = self._sparse_search(request, scoped)
        # If queries run one at a time, this one may use all cores.
        may_use_all_cores = is_alone or (is_small and self._is_limited and self.is_local)
        search_vectors = dense_stage(self._config.embedding_model_id).wrap(
            partial(self._search_vectors, request, scoped, is_alone=may_use_all_cores)
        )
        # Threads do not pay off if everything takes a few milliseconds, or if other queries run
        # too: a deadline in this process would then only measure how busy the machine is.
        is_dense_immediate = self._is_dense_immediate
        runs_here = (is_small and is_dense_immediate) or not is_alone
        sparse_call = None
        if not runs_here or self._sparse_server is not None:
            sparse_call = self._sparse_leg.start(search_words)
        if runs_here and is_dense_immediate:
            dense_call = self._dense_leg.run_inline(search_vectors)
        else:
            dense_call = self._dense_leg.start(search_vectors)
        return sparse_call or self._sparse_leg.run_inline(search_words), dense_call

    def _sparse_search(
        self, request: SearchRequest, scoped: ScopedQuery
    ) -> Callable[[], SparseFindings]:
        config, server = self._config, self._sparse_server
        endpoint = EMBEDDED if server is None else _redacted_url(config.sparse_endpoint)
        return sparse_stage(endpoint).wrap(
            partial(
                search_sparse,
                request.session.index.sparse,
                scoped.question.question,
                config.sparse_top_k,
                scoped.files,
                server,
            )
        )

    def _search_vectors(
        self, request: SearchRequest, scoped: ScopedQuery, *, is_alone: bool
    ) -> Neighbors | None:
        """Return the nearest chunks, None if no chunk has a vector yet: that is not a failure."""
        session, allowed = request.session, scoped.files
        index = session.index.dense
        if index.pending and index.pending == index.count:
            return None
        if self._model not in ("", session.embedding_model):
            raise UnavailableError(
                f"the vectors in the index are from {session.embedding_model}, "
                f"not from {self._model}"
            )
        vector = self._encoder.encode(scoped.question.question.text, index)
        is_empty = not vector.any()
        if self._dense_server is None or is_empty:
            k = 0 if is_empty else self._config.dense_top_k
            return index.nearest(vector, k, allowed, is_alone=is_alone)
        hits = self._dense_server.query(vector, self._config.dense_top_k, allowed)
        hits = _keep_allowed(hits, session.index, allowed)
        if not len(hits.ids) and _has_chunks(session.index, allowed):
            raise UnavailableError("the vector server returned no results")
        return Neighbors(hits, vector)


def _degraded_legs(
    sparse: SparseFindings | None, neighbors: Neighbors | None, generation: int
) -> tuple[str, ...]:
    """Return the legs that failed, and "stale" if a server is behind the index."""
    legs = (("sparse", sparse), ("dense", neighbors))
    degraded = [name for name, found in legs if found is None]
    hits = (sparse.body if sparse else None, neighbors.hits if neighbors else None)
    if any(found and found.is_behind(generation) for found in hits):
        degraded.append("stale")
    return tuple(degraded)


def _keep_allowed(found: Ranked, index: IndexReader, allowed: Collection[int] | None) -> Ranked:
    """Drop the chunks of other files: filters hold even if a server ignores them."""
    if allowed is None:
        return found
    files = index.dense.files_of(found.ids)
    kept = np.isin(files, np.fromiter(allowed, np.int64, len(allowed)))
    return found if kept.all() else replace(found, ids=found.ids[kept], scores=found.scores[kept])


def _has_chunks(index: IndexReader, allowed: Collection[int] | None) -> bool:
    if allowed is None:
        return index.dense.count > 0
    files = np.fromiter(sorted(allowed), np.int64, len(allowed))
    return len(index.dense.chunks_of(files).chunk_ids) > 0


def _redacted_url(endpoint: str) -> str:
    # Without a server nothing of HTTP is loaded.
    from rootle.http.client import redact_url

    return redact_url(endpoint)
