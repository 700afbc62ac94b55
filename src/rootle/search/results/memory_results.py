"""Pipeline stage: add memories that match the question or the files of the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.search.request import SearchRequest
from rootle.types import Memory, SearchResponse

MEMORY: Final = "memory"  # the name of this stage in `degraded`

# Takes a question and the paths of its results; returns the memories to show.
FindMemories = Callable[[str, Sequence[str]], Sequence[Memory]]


class MemoryResults:
    """Adds memories to the first page of an answer, within a deadline."""

    def __init__(
        self,
        find: FindMemories,
        timeout_ms: int,
        may_have_some: Callable[[], bool],
        *,
        is_local: bool,
    ) -> None:
        """`find` searches the memories.

        `may_have_some` returns whether there may be any memories. It is called for each query, so
        it must be fast. Set `is_local` if `find` does not wait for a server.
        """
        self._find = find
        self._may_have_some = may_have_some
        self._is_local = is_local
        self._executor = DeadlineExecutor(MEMORY, timeout_ms)

    def __call__(self, request: SearchRequest, response: SearchResponse) -> SearchResponse:
        """Return the response with memories; mark it as degraded if they are not found in time."""
        if request.query.cursor is not None or not self._may_have_some():
            return response
        started = time.perf_counter()
        paths = [result.file_path for result in response.results]
        with request.session.concurrency_limit.acquire(is_local=self._is_local):
            find = partial(self._find, request.query.text_query, paths)
            found = self._executor.start(find).result()
        took_ms = round(response.took_ms + (time.perf_counter() - started) * 1000, 3)
        if found is None:
            return replace(response, degraded=(*response.degraded, MEMORY), took_ms=took_ms)
        return replace(response, memories=tuple(found), took_ms=took_ms)

    def close(self) -> None:
        """Stop the threads."""
        self._executor.close()
