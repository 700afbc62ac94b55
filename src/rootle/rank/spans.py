"""Which lines of a file are shown: its best span and up to three more, sixty lines in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_MORE_SPANS: Final = 3
MAX_LINES: Final = 60


class ScoredSpan(NamedTuple):
    """Lines of a file with the score of the chunk that they came from."""

    chunk_id: int
    start_line: int
    end_line: int
    score: float


def choose_spans(spans: Sequence[ScoredSpan]) -> list[ScoredSpan]:
    """The best spans, best first; the lines of all together are at most sixty.

    A span that does not fit any more is cut at its end, so that its head can still be seen.
    """
    ordered = sorted(spans, key=lambda span: (-span.score, span.start_line))
    chosen: list[ScoredSpan] = []
    left = MAX_LINES
    for span in ordered:
        if left <= 0 or len(chosen) > MAX_MORE_SPANS:
            break
        if any(_overlap(span, other) for other in chosen):
            continue
        end = min(span.end_line, span.start_line + left - 1)
        chosen.append(ScoredSpan(span.chunk_id, span.start_line, end, span.score))
        left -= end - span.start_line + 1
    return chosen


def _overlap(left: ScoredSpan, right: ScoredSpan) -> bool:
    return left.start_line <= right.end_line and right.start_line <= left.end_line
