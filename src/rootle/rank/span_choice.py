"""Choose the spans of a file to show: up to four, with at most sixty lines in total."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from rootle.rank.features import share_of_max
from rootle.rank.ranking_inputs import Flags, Floats, Ints, RankingInputs

MAX_MORE_SPANS: Final = 3
MAX_LINES: Final = 60
# A long function must not use all the lines. Spans start with eight lines each, and the remaining
# lines are distributed in rank order (docs/decisions/0020-spans-start-with-eight-lines.md).
INITIAL_LINES: Final = 8
# A span with an exact match shows more of its surroundings.
INITIAL_LINES_WITH_MATCH: Final = 24
# The weight of the vector score of a chunk. Within a file, words distinguish chunks better than
# vectors, which are similar to each other.
_DENSE_WEIGHT: Final = 0.75
# If a chunk of a document has fewer characters, its score is reduced in proportion to its length. A
# statement in a notebook has about 20 characters, and a short sentence 80. A gradual curve would
# also reduce the scores of short paragraphs. When such a curve was tried with the document
# questions, some PDF files lost their correct first span.
_FULL_CONTENT_CHARS: Final = 80
_DEFINES: Final = 0.3
_DEFINES_SYMBOL: Final = 2.0


class ScoredSpan(NamedTuple):
    """Lines of a file, with the score of their chunk. Line numbers are 1-based and inclusive."""

    chunk_id: int
    start_line: int
    end_line: int
    score: float


def has_room(chosen: Sequence[ScoredSpan], initial_lines: int = INITIAL_LINES) -> bool:
    """Return whether another span would fit if the chosen spans were not extended."""
    lines = sum(min(span.end_line - span.start_line + 1, initial_lines) for span in chosen)
    return len(chosen) <= MAX_MORE_SPANS and lines < MAX_LINES


def span_scores(bm25: Floats, dense: Floats, defines: Flags, *, is_symbol: bool) -> Floats:
    """Return a score for each chunk of the files on a page, in the order of the chunks."""
    weight = _DEFINES_SYMBOL if is_symbol else _DEFINES
    scores: Floats = share_of_max(bm25) + _DENSE_WEIGHT * share_of_max(dense) + weight * defines
    return scores


def find_likely_chunks(inputs: RankingInputs) -> Ints:
    """Return the chunk that is likely to be shown from each candidate file, or -1 if unknown."""
    chunks = inputs.chunks
    likely = np.full(len(inputs.files.ids), -1, dtype=np.int64)
    scores = span_scores(
        chunks.bm25, chunks.dense, chunks.defines, is_symbol=inputs.question.is_symbol
    )
    ascending = scores.argsort(kind="stable")
    likely[chunks.files[ascending]] = chunks.ids[ascending]  # the last assignment wins
    return likely


def content_share(chars: int) -> float:
    """Return the factor, up to 1, for the score of a chunk with this many characters."""
    return min(1.0, chars / _FULL_CONTENT_CHARS)


def count_initial_lines(*, is_symbol: bool, is_exact: bool) -> int:
    """Return the number of lines that a span has before the remaining lines are distributed."""
    if is_symbol:
        # The name may be anywhere in its chunk, so the chunk is not truncated.
        return MAX_LINES
    return INITIAL_LINES_WITH_MATCH if is_exact else INITIAL_LINES


def choose_spans(
    spans: Sequence[ScoredSpan], initial_lines: int = INITIAL_LINES
) -> list[ScoredSpan]:
    """Return the best spans that do not overlap, best first, with at most sixty lines in total.

    A span longer than `initial_lines` is truncated at its end. When all spans are chosen, the
    remaining lines extend the truncated spans in rank order.
    """
    chosen: list[ScoredSpan] = []
    ranges: list[tuple[int, int]] = []
    left = MAX_LINES
    for span in sorted(spans, key=lambda span: (-span.score, span.start_line)):
        if left <= 0 or len(chosen) > MAX_MORE_SPANS:
            break
        start, end = span.start_line, span.end_line
        if end - start >= (limit := min(left, initial_lines)):
            end = start + limit - 1
        for first, last in ranges:
            if start <= last and first <= end:
                break
        else:
            chosen.append(span)
            ranges.append((start, end))
            left -= end - start + 1
    for at, span in enumerate(chosen if left > 0 else ()):
        start, end = ranges[at]
        if left > 0 and end < span.end_line:
            later = [first for first, _ in ranges if first > end]
            extended = min(span.end_line, end + left, min(later, default=span.end_line + 1) - 1)
            left -= extended - end
            ranges[at] = (start, extended)
    return [
        span if end == span.end_line else ScoredSpan(span.chunk_id, start, end, span.score)
        for span, (start, end) in zip(chosen, ranges, strict=True)
    ]


def slice_range(positions: Sequence[int], start: int, end: int) -> Sequence[int]:
    """Return the sorted positions from start to end - 1."""
    return positions[bisect_left(positions, start) : bisect_left(positions, end)]


def find_closest(places: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return the start and length of the shortest range that has a position of each sequence."""
    merged = sorted((at, kind) for kind, some in enumerate(places) for at in some)
    last: dict[int, int] = {}
    best = (merged[0][0], merged[-1][0] - merged[0][0])
    for at, kind in merged:
        last[kind] = at
        if len(last) == len(places):
            first = min(last.values())
            if at - first < best[1]:
                best = (first, at - first)
    return best
