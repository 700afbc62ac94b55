"""Which lines of a file are shown: its best span and up to three more, sixty lines in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rootle.rank.features import share_of_max
from rootle.rank.ranking_inputs import Flags, Floats

MAX_MORE_SPANS: Final = 3
MAX_LINES: Final = 60
# A long function must not leave room for nothing else. With heads of eight lines there is room for
# four of them; the lines that they leave go back to the best, so that no more of it is lost than
# others gain (docs/decisions/0020-spans-start-with-eight-lines.md).
LINES_AT_FIRST: Final = 8
# What must be in view by the letter of the question has more around it.
LINES_WITH_MATCH: Final = 24
# Words tell the lines of a file apart better than meaning does, which its lines have in common.
_DENSE_WEIGHT: Final = 0.75
_DEFINES: Final = 0.3
_DEFINES_SYMBOL: Final = 2.0


class ScoredSpan(NamedTuple):
    """Lines of a file with the score of the chunk that they came from."""

    chunk_id: int
    start_line: int
    end_line: int
    score: float


def has_room(chosen: Sequence[ScoredSpan], at_first: int = LINES_AT_FIRST) -> bool:
    """Whether one more span might have been shown, before the chosen got the lines it left."""
    lines = sum(min(span.end_line - span.start_line + 1, at_first) for span in chosen)
    return len(chosen) <= MAX_MORE_SPANS and lines < MAX_LINES


def span_scores(bm25: Floats, dense: Floats, defines: Flags, *, is_symbol: bool) -> Floats:
    """How well each chunk of the files on a page answers, in the order of the chunks."""
    asked = _DEFINES_SYMBOL if is_symbol else _DEFINES
    scores: Floats = share_of_max(bm25) + _DENSE_WEIGHT * share_of_max(dense) + asked * defines
    return scores


def lines_at_first(*, is_symbol: bool, is_exact: bool) -> int:
    """How many lines a span keeps before others have theirs."""
    if is_symbol:
        # A name may stand anywhere in the chunk that has it: the chunk is not cut for others.
        return MAX_LINES
    return LINES_WITH_MATCH if is_exact else LINES_AT_FIRST


def choose_spans(spans: Sequence[ScoredSpan], at_first: int = LINES_AT_FIRST) -> list[ScoredSpan]:
    """The best spans, best first; the lines of all together are at most sixty.

    One of more than `at_first` lines is cut at its end, so that its head can still be seen and
    others find room; what they leave goes back to it.
    """
    wanted: list[ScoredSpan] = []
    shown: list[tuple[int, int]] = []
    left = MAX_LINES
    for span in sorted(spans, key=lambda span: (-span.score, span.start_line)):
        if left <= 0 or len(wanted) > MAX_MORE_SPANS:
            break
        start, end = span.start_line, span.end_line
        if end - start >= (most := min(left, at_first)):
            end = start + most - 1
        for first, last in shown:
            if start <= last and first <= end:
                break
        else:
            wanted.append(span)
            shown.append((start, end))
            left -= end - start + 1
    for at, span in enumerate(wanted if left > 0 else ()):
        start, end = shown[at]
        if left > 0 and end < span.end_line:
            below = [first for first, _ in shown if first > end]
            longer = min(span.end_line, end + left, min(below, default=span.end_line + 1) - 1)
            left -= longer - end
            shown[at] = (start, longer)
    return [
        span if end == span.end_line else ScoredSpan(span.chunk_id, start, end, span.score)
        for span, (start, end) in zip(wanted, shown, strict=True)
    ]
