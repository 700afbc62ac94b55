"""Search the files of an earlier version of a repository."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from rootle.errors import IndexMissingError, IndexStorageError, QueryError, UnreadableIndexError
from rootle.history.past_question import HISTORY
from rootle.index.reader import IndexReader
from rootle.search.agent import SearchAgent
from rootle.search.query.operators import parse_query
from rootle.serialization.path_text import short_date, short_hash
from rootle.serialization.timestamps import format_commit_time
from rootle.types import (
    SearchedRevision,
    SearchQuery,
    SearchResponse,
    SearchResult,
    SymbolAnswer,
)

_T = TypeVar("_T")

# The number of revisions that stay open. Searching an open revision is as fast as searching the
# folder.
_MAX_OPEN: Final = 3
# The values of `in:` that name text outside the files of a commit.
_OTHER_TEXT: Final = {
    HISTORY: "commits",
    "deps": "installed packages",
    "web": "added sources",
    "memory": "memories",
}


class FoundRevision(Protocol):
    """A commit that a query names."""

    @property
    def name(self) -> str:
        """The name in the query."""

    @property
    def sha(self) -> str:
        """The hash of the commit."""

    @property
    def seconds(self) -> int:
        """The Unix time of the commit."""


class OpenRevision(Protocol):
    """The index of a revision."""

    def snapshot(self) -> IndexReader:
        """Return the index."""

    def close(self) -> None:
        """Close its files."""


class RevisionUpdates(Protocol):
    """Finds revisions and creates their indexes."""

    def find(self, name: str) -> FoundRevision:
        """Return the commit that a name denotes; raise QueryError if there is none."""

    def open(self, sha: str) -> OpenRevision:
        """Return the index of a commit, after creating it if it does not exist."""

    def note_use(self, sha: str) -> bool:
        """Record that an index is used; return False if it was deleted since it was opened."""

    def discard(self) -> None:
        """Delete all indexes, because one of them is damaged."""


class RevisionSearch:
    """Answers questions from the indexes of revisions. Thread-safe."""

    def __init__(
        self,
        updates: RevisionUpdates,
        open_agent: Callable[[Callable[[], IndexReader]], SearchAgent],
    ) -> None:
        """`open_agent` returns a search pipeline for an index."""
        self._updates = updates
        self._open_agent = open_agent
        self._lock = threading.Lock()
        self._opened: dict[str, tuple[OpenRevision, SearchAgent]] = {}

    def search(self, query: SearchQuery, name: str, *, explain: bool) -> SearchResponse:
        """Return one page of the answer. The paths of results begin with the hash and a colon.

        Raise QueryError if the query is invalid or there is no such revision.
        """
        for kind in parse_query(query.text_query).kinds:
            if kind in _OTHER_TEXT:
                raise QueryError(
                    f"in:{kind} searches {_OTHER_TEXT[kind]}, and at:{name} files of one commit; "
                    "leave out one of them"
                )
        found = self._updates.find(name)
        place = f"{short_hash(found.sha)}:"
        query = replace(
            query, at=None, exclude=tuple(one.removeprefix(place) for one in query.exclude)
        )
        response = self._retry_damaged(
            found.sha, lambda _, agent: agent.search(query, explain=explain)
        )
        date = format_commit_time(found.seconds)
        note = f"searched {name} = {short_hash(found.sha)}, {short_date(date)}"
        return replace(
            response,
            results=tuple(_add_place(result, place) for result in response.results),
            symbols=None if response.symbols is None else add_symbol_place(response.symbols, place),
            suggestions=(note, *response.suggestions),
            revision=SearchedRevision(name, found.sha, date),
        )

    def read_index(self, name: str, read: Callable[[IndexReader, str], _T]) -> _T:
        """Call `read` with an index and the prefix of its paths, and return the result."""
        found = self._updates.find(name)
        place = f"{short_hash(found.sha)}:"
        return self._retry_damaged(found.sha, lambda opened, _: read(opened.snapshot(), place))

    def close(self) -> None:
        """Close all indexes and pipelines."""
        with self._lock:
            opened, self._opened = self._opened, {}
        for revision, agent in opened.values():
            agent.close()
            revision.close()

    def _retry_damaged(self, sha: str, answer: Callable[[OpenRevision, SearchAgent], _T]) -> _T:
        """Return an answer. If the index is damaged or missing, create it again and retry once."""
        try:
            return answer(*self._open(sha))
        except UnreadableIndexError:
            raise
        except IndexStorageError as error:
            if isinstance(error.__cause__, OSError):  # such as a full disk
                raise
            self.close()
            if not isinstance(error, IndexMissingError) or self._updates.note_use(sha):
                self._updates.discard()
        return answer(*self._open(sha))

    def _open(self, sha: str) -> tuple[OpenRevision, SearchAgent]:
        with self._lock:
            found = self._opened.pop(sha, None)
            if found is not None and not self._updates.note_use(sha):
                _close(found)
                found = None
            if found is None:
                revision = self._updates.open(sha)
                found = revision, self._open_agent(revision.snapshot)
            self._opened[sha] = found  # the last entry is the most recently used one
            while len(self._opened) > _MAX_OPEN:
                _close(self._opened.pop(next(iter(self._opened))))
            return found


def _close(opened: tuple[OpenRevision, SearchAgent]) -> None:
    revision, agent = opened
    agent.close()
    revision.close()


def _add_place(result: SearchResult, place: str) -> SearchResult:
    return replace(
        result,
        file_path=f"{place}{result.file_path}",
        duplicates=tuple(f"{place}{path}" for path in result.duplicates),
        translations=tuple(f"{place}{path}" for path in result.translations),
    )


def add_symbol_place(answer: SymbolAnswer, place: str) -> SymbolAnswer:
    """Return an answer about a name, with `place` added before each of its paths."""
    return replace(
        answer,
        definitions=tuple(replace(one, path=f"{place}{one.path}") for one in answer.definitions),
        uses=tuple(
            replace(
                one,
                path=f"{place}{one.path}",
                target=f"{place}{one.target}" if one.target else "",
            )
            for one in answer.uses
        ),
    )
