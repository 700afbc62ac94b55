"""Page stage: limit how many queries run at the same time."""

from __future__ import annotations

from contextlib import nullcontext

from rootle.search.request import SearchRequest
from rootle.search.results.page import FindPage, ResultPage
from rootle.search.retrieval.hybrid_retriever import HybridRetriever


class ConcurrencyLimit:
    """Page stage: limit the queries that run at once, unless a leg waits for a server."""

    def __init__(self, retriever: HybridRetriever) -> None:
        self._retriever = retriever

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Find the page when it is the query's turn."""
        is_local = self._retriever.is_local
        with request.session.semaphore.acquire() if is_local else nullcontext():
            return find(request)
