"""A question's ranked files: what is cached, and what every page of it is cut from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rootle.protocols import Ids
from rootle.search.query.parse import ParsedQuestion
from rootle.search.results.page import Ranking
from rootle.types import SearchResult


class _Page(NamedTuple):
    offset: int
    results: tuple[SearchResult, ...]
    explain: bool


@dataclass(slots=True)
class RankedAnswer:
    """All files that answer, best first, each once however many copies there are of it."""

    asked: ParsedQuestion
    ranking: Ranking
    order: Sequence[int]  # positions among the candidate files
    copies: Mapping[int, tuple[str, ...]]  # by file id, the paths that are not shown
    degraded: tuple[str, ...]
    said: tuple[str, ...]  # remarks, and suggestions where nothing was found
    as_of_s: float
    until_s: float  # when a file grows too old for it
    files: Ids = field(init=False)  # their ids in the same order
    _pages: list[_Page] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.files = self.ranking.evidence.files.ids[list(self.order)]

    @property
    def confident(self) -> bool | None:
        """Whether an answer is likely among the first results; None where nothing tells.

        What was quoted or asked by a pattern stands there or not: no chance is needed for that.
        """
        judgement = self.ranking.judgement
        return None if judgement is None or self.asked.parsed.is_exact else judgement.confident

    def holds_at(self, now_s: float) -> bool:
        return self.as_of_s <= now_s < self.until_s

    def page(self, offset: int, limit: int, *, explain: bool) -> tuple[SearchResult, ...] | None:
        """Results that were cut before; None where some of them were not."""
        end = min(offset + limit, len(self.order))
        for page in self._pages:
            if page.explain == explain and page.offset <= offset:
                first = offset - page.offset
                if end <= page.offset + len(page.results):
                    return page.results[first : first + limit]
        return None

    def keep_page(self, offset: int, results: tuple[SearchResult, ...], *, explain: bool) -> None:
        self._pages.append(_Page(offset, results, explain))
