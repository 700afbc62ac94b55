"""Step 3: retrieve candidates with both legs, within their deadlines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rootle.concurrency.deadline import DeadlineExecutor, PendingCall
from rootle.config.fields import EMBEDDED, Config
from rootle.errors import SearchUnavailableError
from rootle.http.urls import redact_url
from rootle.index.reader import Neighbors
from rootle.protocols import DenseIndex, Embedder, SparseIndex
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.retrieval.legs import NO_SPARSE, DenseLeg, SparseFindings, search_sparse
from rootle.search.retrieval.merged_candidates import Candidates, gather_candidates
from rootle.telemetry.spans import dense_stage, sparse_stage


class HybridRetriever:
    """Searches words and vectors. If one leg fails or is late, only the other one is used."""

    def __init__(
        self,
        open_embedder: Callable[[], Embedder],
        config: Config,
        *,
        dense: DenseIndex | None = None,
        sparse: SparseIndex | None = None,
        model: str = "",
    ) -> None:
        """`dense` and `sparse` are search servers, each of which replaces one leg of the index.

        If the vectors were made by a model whose fingerprint is not `model`, the dense leg fails;
        an empty string accepts any model.
        """
        self._config = config
        self._dense = DenseLeg(open_embedder, config.dense_top_k, server=dense, model=model)
        self._server = sparse
        self._has_servers = dense is not None or sparse is not None
        self._sparse_executor = DeadlineExecutor("sparse", config.sparse_timeout_ms)
        self._dense_executor = DeadlineExecutor("dense", config.dense_timeout_ms)

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> Candidates:
        """Return the candidates. Raise SearchUnavailableError if both legs fail."""
        sparse_call, dense_call = self._start_legs(request, scoped)
        sparse, neighbors = sparse_call.result(), dense_call.result()
        if sparse is None and neighbors is None and self._server is None:
            # On an overloaded machine or a slow disk, a late answer is better than an error.
            sparse = sparse_call.late_result()
        if sparse is None and neighbors is None:
            raise SearchUnavailableError(
                "service unavailable: neither full-text nor vector search answered "
                f"(words: {sparse_call.failure}; "
                f"vectors: {dense_call.failure or 'no text has a vector yet'})"
            )
        return gather_candidates(
            request,
            scoped,
            sparse or NO_SPARSE,
            neighbors,
            limit=self._config.max_merged_candidates,
            degraded=self._find_degraded(sparse, neighbors, request.session.index.generation),
        )

    def close(self) -> None:
        """Stop the threads."""
        self._sparse_executor.close()
        self._dense_executor.close()

    @property
    def is_local(self) -> bool:
        """Whether both legs are known to answer in this process, without waiting for a server."""
        return self._dense.is_immediate and self._server is None

    def _start_legs(
        self, request: SearchRequest, scoped: ScopedQuery
    ) -> tuple[PendingCall[SparseFindings], PendingCall[Neighbors | None]]:
        is_small, is_alone = request.session.is_small, request.active.is_alone
        # A query may use all cores if no other query runs at the same time.
        may_use_all_cores = is_alone or request.is_exclusive
        search_words, search_vectors = self._searches(request, scoped, may_use_all_cores)
        # If a search takes a few milliseconds, threads cost more time than they save. While other
        # queries run, a thread could miss its deadline because the machine is busy.
        is_dense_immediate = self._dense.is_immediate
        runs_here = (is_small and is_dense_immediate) or not is_alone
        sparse_call = None
        if not runs_here or self._server is not None:
            sparse_call = self._sparse_executor.start(search_words)
        if runs_here and is_dense_immediate:
            dense_call = self._dense_executor.run_inline(search_vectors)
        else:
            dense_call = self._dense_executor.start(search_vectors)
        return sparse_call or self._sparse_executor.run_inline(search_words), dense_call

    def _searches(
        self, request: SearchRequest, scoped: ScopedQuery, may_use_all_cores: bool
    ) -> tuple[Callable[[], SparseFindings], Callable[[], Neighbors | None]]:
        """Return the search functions of both legs, wrapped in their telemetry stages."""
        config, session, question = self._config, request.session, scoped.question.question
        endpoint = EMBEDDED if self._server is None else redact_url(config.sparse_endpoint)
        arguments = (session.index, question, config.sparse_top_k, scoped.files, self._server)
        search_words = partial(search_sparse, *arguments)
        search_vectors = partial(
            self._dense.search, session, question, scoped.files, is_alone=may_use_all_cores
        )
        return (
            sparse_stage(endpoint).wrap(search_words),
            dense_stage(config.embedding_model_id).wrap(search_vectors),
        )

    def _find_degraded(
        self, sparse: SparseFindings | None, neighbors: Neighbors | None, generation: int
    ) -> tuple[str, ...]:
        """Return the legs that did not answer, and "stale" if a server is behind the index."""
        legs = (("sparse", sparse), ("dense", neighbors))
        degraded = [name for name, found in legs if found is None]
        if self._has_servers:
            hits = (sparse.body if sparse else None, neighbors.hits if neighbors else None)
            if any(found and found.is_behind(generation) for found in hits):
                degraded.append("stale")
        return tuple(degraded)
