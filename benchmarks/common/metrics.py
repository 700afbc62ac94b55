"""Ranking metrics over hits with line ranges: NDCG@10 and the ranks of targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

TOP_K: Final = 10
ROOTLE: Final = "rootle"  # the name of the system under test in every report

LineRange = tuple[int, int]  # first and last line, from 1, both inclusive


@dataclass(frozen=True)
class Hit:
    """One result of a system: a file and the line ranges shown from it."""

    path: str
    ranges: tuple[LineRange, ...]

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether a shown range shares a line with `start` to `end`."""
        return any(first <= end and start <= last for first, last in self.ranges)

    def first_lines(self, count: int) -> Hit:
        """Return the hit cut to its first `count` shown lines."""
        left, ranges = count, []
        for start, end in self.ranges:
            if left > 0:
                ranges.append((start, min(end, start + left - 1)))
                left -= end - start + 1
        return Hit(self.path, tuple(ranges))


@dataclass(frozen=True)
class Answer:
    """The hits for one question, best first, and the search time."""

    hits: tuple[Hit, ...]
    latency_ms: float = 0.0


def ndcg(ranks: Collection[int], targets: int) -> float:
    """Return NDCG@10 with binary gains for targets found at these ranks (from 1).

    The ideal ranking has all targets, at most ten, at the top.
    """
    ideal = discounted_gain(range(1, min(targets, TOP_K) + 1))
    return discounted_gain(ranks) / ideal


def discounted_gain(ranks: Iterable[int]) -> float:
    """Return the sum of 1 / log2(rank + 1)."""
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def match_targets(
    targets: Iterable[T], hits: Sequence[Hit], is_match: Callable[[Hit, T], bool]
) -> set[int]:
    """Return the ranks at which targets are found; each hit counts for one target only."""
    ranks: set[int] = set()
    for target in targets:
        free = (
            rank
            for rank, hit in enumerate(hits, start=1)
            if rank not in ranks and is_match(hit, target)
        )
        ranks.add(next(free, 0))
    return ranks - {0}
