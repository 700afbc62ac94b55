"""What was remembered, beside the code that answers: asked with a deadline, and never missed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Final

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.concurrency.fair_semaphore import FairSemaphore
from rootle.types import Memory, SearchQuery, SearchResponse

MEMORY: Final = "memory"  # its name in `degraded`

# A question, and the files that answer it: the memories that are worth showing.
FindMemories = Callable[[str, Sequence[str]], Sequence[Memory]]


class MemoryResults:
    """Adds memories to the first page of an answer."""

    def __init__(
        self,
        find: FindMemories,
        timeout_ms: int,
        may_have_some: Callable[[], bool],
        *,
        is_here: bool,
    ) -> None:
        """`may_have_some` is asked before each search: it is no more than a look at a file.

        `is_here`: this process does the work, and nobody else is waited for.
        """
        self._find = find
        self._may_have_some = may_have_some
        self._is_here = is_here
        self._leg = DeadlineExecutor(MEMORY, timeout_ms)

    def added(
        self, query: SearchQuery, response: SearchResponse, turns: Callable[[], FairSemaphore]
    ) -> SearchResponse:
        """The response with its memories, or with a word in `degraded` where they did not come."""
        if query.cursor is not None or not self._may_have_some():
            return response
        started = time.perf_counter()
        paths = [result.file_path for result in response.results]
        with turns().acquire() if self._is_here else nullcontext():
            found = self._leg.start(partial(self._find, query.text_query, paths)).result()
        took_ms = round(response.took_ms + (time.perf_counter() - started) * 1000, 3)
        if found is None:
            return replace(response, degraded=(*response.degraded, MEMORY), took_ms=took_ms)
        return replace(response, memories=tuple(found), took_ms=took_ms)

    def close(self) -> None:
        self._leg.close()
