"""Search the commits of one repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rootle.errors import IndexStorageError
from rootle.index.reader import IndexReader
from rootle.search.agent import SearchAgent
from rootle.serialization.dates import parse_date
from rootle.types import SearchQuery, SearchResponse

_FILTER: Final = re.compile(r'(?<!\S)(since|until):("[^"]+"|[^\s"]+)')


class CommitUpdates(Protocol):
    """Keeps an index of commits current, and asks git about revisions."""

    def snapshot(self) -> IndexReader:
        """Return the newest snapshot; raise IndexStorageError if no commit is indexed yet."""

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""

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
        return _resolve_revisions(text, self.updates.date_of)

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page of commits, without their facts."""
        return self.agent.search(query, explain=explain)

    def index(self) -> IndexReader:
        """Return the index of the commits."""
        return self.open_index()

    def existing_index(self) -> IndexReader | None:
        """Return the index of the commits without updating it; None if there is none."""
        if not self.updates.exists():
            return None
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


def _resolve_revisions(text: str, date_of: Callable[[str], float | None]) -> str:
    """Return a query whose dates are dates; `date_of` returns the Unix time of a revision.

    A name that is no revision stays, so that the filter can report it. A name such as "2024" is a
    date. `since:v2.1` excludes the commit v2.1 itself.
    """
    if "since:" not in text and "until:" not in text:
        return text

    def resolve(found: re.Match[str]) -> str:
        name = found[2].strip('"').rstrip(",;")
        if parse_date(name, 0.0) is not None:
            return found[0]
        date_s = date_of(name)
        return found[0] if date_s is None else f"{found[1]}:@{int(date_s) + 1}"

    return _FILTER.sub(resolve, text)
