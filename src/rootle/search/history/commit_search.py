"""Search the commits of one repository."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rootle.errors import IndexStorageError
from rootle.index.reader import IndexReader
from rootle.search.agent import SearchAgent
from rootle.search.query.revision_dates import resolve_revisions
from rootle.types import SearchQuery, SearchResponse


class CommitUpdates(Protocol):
    """Keeps an index of commits current, and asks git about revisions."""

    def snapshot(self) -> IndexReader:
        """Return the newest snapshot; raise IndexStorageError if no commit is indexed yet."""

    def prepare(self, wait_s: float) -> bool:
        """Index new commits for a limited time; return whether all are indexed."""

    def date_of(self, revision: str) -> float | None:
        """Return the Unix time of a commit, tag or branch; None if there is none."""

    def list_range(self, older: str, newer: str) -> Sequence[str] | None:
        """Return the hashes in the history of `newer` but not of `older`, newest first."""


@dataclass(frozen=True, slots=True)
class CommitSearch:
    """The pipeline that searches commits, and the index behind it."""

    agent: SearchAgent
    updates: CommitUpdates
    open_index: Callable[[], IndexReader]
    wait_s: float  # how long a question waits for commits that are not indexed yet

    def prepare(self) -> bool:
        """Index new commits for a limited time; return whether all are indexed."""
        return self.updates.prepare(self.wait_s)

    def resolve_dates(self, text: str) -> str:
        """Return a query whose `since:` and `until:` name dates instead of tags or branches."""
        return resolve_revisions(text, self.updates.date_of)

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page of commits, without their facts."""
        return self.agent.search(query, explain=explain)

    def index(self) -> IndexReader:
        """Return the index of the commits."""
        return self.open_index()

    def existing_index(self) -> IndexReader | None:
        """Return the index of the commits as it is; None if no commit is indexed yet."""
        try:
            return self.open_index()
        except IndexStorageError:
            return None

    def list_range(self, older: str, newer: str) -> Sequence[str] | None:
        """Return the hashes in the history of `newer` but not of `older`, newest first.

        None if one of the revisions does not exist.
        """
        return self.updates.list_range(older, newer)

    def close(self) -> None:
        """Stop the threads of the pipeline."""
        self.agent.close()
