"""Pipeline stage: keep recent answers in memory, in an LRU cache with a time to live."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from rootle.search.request import SearchRequest
from rootle.search.results.page import FindPage, ResultPage
from rootle.search.session import Session
from rootle.search.stages.ranked_answer import RankedAnswer

_T = TypeVar("_T")

Present = Callable[[SearchRequest, RankedAnswer], ResultPage]


class LRUCache(Generic[_T]):
    """Keeps a limited number of values for a limited time. Safe to use from many threads."""

    def __init__(
        self, max_entries: int, ttl_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries: OrderedDict[bytes, tuple[float, _T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> _T | None:
        """Return the value of a key, or None if the key is unknown or its value has expired."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if self._clock() - entry[0] >= self._ttl_s:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry[1]

    def put(self, key: bytes, value: _T) -> None:
        """Store a value; drop the least recently used one if there are too many."""
        with self._lock:
            self._entries[key] = (self._clock(), value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _CachedPage:
    offset: int
    explain: bool
    page: ResultPage


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    """A ranked answer and the pages that were cut from it."""

    answer: RankedAnswer
    pages: list[_CachedPage]

    def find_page(self, request: SearchRequest) -> ResultPage | None:
        """Return the requested page if a cached page contains it."""
        end = min(request.offset + request.limit, len(self.answer.file_ids))
        for cached in self.pages:
            first = request.offset - cached.offset
            if cached.explain == request.explain and first >= 0:
                results = cached.page.results
                if end <= cached.offset + len(results):
                    return replace(cached.page, results=results[first : first + request.limit])
        return None


class AnswerCache:
    """Answers repeated queries, and queries for further pages, without searching again.

    Answers from another generation of the index are never used. Degraded answers are not cached.
    """

    def __init__(
        self, max_entries: int, ttl_s: float, present: Present, clock: Callable[[], float]
    ) -> None:
        """`present` is the step that cuts pages from a ranked answer."""
        self._max_entries = max_entries
        self._ttl_s = ttl_s
        self._present = present
        self._clock = clock
        self._caches: WeakKeyDictionary[Session, LRUCache[_CachedAnswer]] = WeakKeyDictionary()

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Return the page from the cache, or search for it."""
        cache = self._get_cache(request.session)
        cached = cache.get(request.digest)
        if cached is not None and _is_valid(cached.answer, request):
            request.trace.record_cache_hit()
            page = cached.find_page(request)
            if page is None:
                page = self._present(request, cached.answer)
                cached.pages.append(_cached_page(request, page))
            return page
        page = find(request)
        if page.answer is not None and not page.degraded:
            pages = [_cached_page(request, page)]
            cache.put(request.digest, _CachedAnswer(page.answer, pages))
        return page

    def _get_cache(self, session: Session) -> LRUCache[_CachedAnswer]:
        cache = self._caches.get(session)
        if cache is None:
            new: LRUCache[_CachedAnswer] = LRUCache(self._max_entries, self._ttl_s, self._clock)
            cache = self._caches.setdefault(session, new)
        return cache


def _cached_page(request: SearchRequest, page: ResultPage) -> _CachedPage:
    # The files may have changed when the page is requested again.
    return _CachedPage(request.offset, request.explain, replace(page, unchanged=()))


def _is_valid(answer: RankedAnswer, request: SearchRequest) -> bool:
    """Return whether the answer covers the page, and all its files are still recent enough."""
    is_current = answer.as_of_s <= request.now_s < answer.valid_until_s
    return is_current and answer.reaches(request.offset + request.limit)
