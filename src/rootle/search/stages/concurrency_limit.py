"""Pipeline stage: limit how many queries of an index run at the same time.

Because of the interpreter lock, parallel queries delay each other. If many queries arrive at once,
each is answered sooner if only a few run at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from rootle.search.request import SearchRequest
from rootle.search.results.page import FindPage, ResultPage


class LocalAnswers(Protocol):
    """The part of the pipeline that may wait for a server."""

    @property
    def is_local(self) -> bool:
        """Whether queries are answered in this process, without waiting for a server."""


class LimitedQueries:
    """Lets a query wait while too many others run."""

    def __init__(self, answers: LocalAnswers) -> None:
        """Queries are not limited while `answers` waits for a server: waiting takes no CPU time."""
        self._answers = answers

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Return the page, as soon as the query may run."""
        is_local, session = self._answers.is_local, request.session
        with session.concurrency_limit.acquire(is_local=is_local):
            if is_local and session.is_small:  # the limit is one query
                request = replace(request, is_exclusive=True)
            return find(request)
