"""One generation of an index and the state that its queries share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rootle.concurrency.concurrent_query_limit import ConcurrencyLimit
from rootle.index.reader import IndexReader
from rootle.rank.path_features import path_parts
from rootle.types import COMMIT_KIND

# Below this number of chunks, the legs run one after the other, because two threads that share the
# interpreter lock take longer than one. With 101,972 chunks, a query took 9.7 ms sequentially and
# 10.9 ms in parallel (medians; 95th percentiles 12.9 and 17 ms). Lookups in the index release the
# lock, so two threads are faster if these lookups take long enough.
_CHUNKS_FOR_THREADS: Final = 200_000
# A process that runs a third query will probably run more queries, so all rows of a small index are
# loaded then. This takes 35 ms with 9,000 chunks and saves a tenth of the time of each query.
# Extracting the features of all paths takes 11 ms for a thousand files, and saves another 3%.
_QUERIES_BEFORE_PRELOAD: Final = 3
_MAX_CHUNKS_TO_PRELOAD: Final = 50_000


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Session:
    """An open index. Each generation has its own session, so no state outlives its generation."""

    index: IndexReader
    state_id: str
    embedding_model: str  # the fingerprint of the model that made the vectors
    is_small: bool  # small enough to run the legs one after the other
    concurrency_limit: ConcurrencyLimit


class Sessions:
    """Opens a session for each new generation of an index."""

    def __init__(self, open_index: Callable[[], IndexReader]) -> None:
        """`open_index` returns the newest generation of the index."""
        self._open_index = open_index
        self._session: Session | None = None
        self._queries = 0  # the number of queries in this session

    def current(self) -> Session:
        """Return the session of the newest generation."""
        index = self._open_index()
        session = self._session
        if session is None or session.index is not index:
            self._session = session = _open_session(index)
            self._queries = 0
        self._queries += 1
        if self._queries == _QUERIES_BEFORE_PRELOAD:
            index.preload()
            _preload_paths(index)
        return session

    def close(self) -> None:
        """Release the session. Its index is closed as soon as no query reads from it."""
        self._session = None


def _open_session(index: IndexReader) -> Session:
    is_small = index.dense.count < _CHUNKS_FOR_THREADS
    limit = ConcurrencyLimit(is_small=is_small)
    return Session(index, index.state_id(), index.embedding_model(), is_small, limit)


def _preload_paths(index: IndexReader) -> None:
    """Fill the cache of `path_parts` with the paths of a small index.

    Commits are left out: splitting the hashes of 10,000 commits takes two seconds, and a question
    compares few of them.
    """
    if 0 < index.dense.count <= _MAX_CHUNKS_TO_PRELOAD:
        for state in index.all_files():
            if state.kind != COMMIT_KIND:
                path_parts(state.path)
