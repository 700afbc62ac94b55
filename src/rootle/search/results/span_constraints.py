"""What the lines of a result must have, or must not have, by the letter of the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import ChunkRow
from rootle.rank.spans import INITIAL_LINES_WITH_MATCH, ScoredSpan
from rootle.search.query.phrase_match import ExactMatches
from rootle.types import Span

# Above every score of a chunk: what was asked for by the letter comes before what is like it.
_EXACT_SCORE: Final = 1_000.0
_LINES_BEFORE_MATCH: Final = 5

# For each (file, start, end) the characters of the file's text.
Excerpts = Callable[[Sequence[tuple[int, int, int]]], list[str]]
Rows = MutableMapping[int, ChunkRow]  # chunks by their ids, as far as they are known


@dataclass(frozen=True, slots=True)
class SpanConstraints:
    """Where the phrases and matches stand, and what finds the excluded words."""

    exact: ExactMatches | None
    unwanted: re.Pattern[str] | None

    def met_by(
        self, spans: list[ScoredSpan], file_id: int, rows: Rows, snapshot: Snapshot
    ) -> list[ScoredSpan]:
        """Those of a file's spans that may be shown, after those with what must be."""
        if self.exact is not None:
            scores = {span.chunk_id: span.score for span in spans}
            places = self.exact.places.get(file_id, ())
            spans = [*_exact_spans(places, scores, file_id, rows, snapshot), *spans]
        if self.unwanted is None:
            return spans
        texts = (shown.snippet for shown in shown_spans(snapshot.excerpts, spans, rows))
        pairs = zip(spans, texts, strict=True)
        return [span for span, text in pairs if not self.unwanted.search(text)]


def _exact_spans(
    places: Sequence[Sequence[int]],
    scores: Mapping[int, float],
    file_id: int,
    rows: Rows,
    snapshot: Snapshot,
) -> Iterator[ScoredSpan]:
    """The chunks with what was asked for, those with most of it first."""
    for row in snapshot.chunks_of(file_id):
        here = [[at for at in some if row.start <= at < row.end] for some in places]
        count = sum(bool(some) for some in here)
        if count:
            rows[row.id] = row
            start = _start_line(row, min(at for some in here for at in some), snapshot)
            score = count * _EXACT_SCORE + scores.get(row.id, 0.0)
            yield ScoredSpan(row.id, start, row.end_line, score)


def _start_line(row: ChunkRow, place: int, snapshot: Snapshot) -> int:
    """The first line of a chunk, or a later one from which a place in it is sure to be seen."""
    if row.end_line - row.start_line < INITIAL_LINES_WITH_MATCH:
        return row.start_line
    before = snapshot.excerpts([(row.file_id, row.start, place)])[0].count("\n")
    far = before >= INITIAL_LINES_WITH_MATCH - _LINES_BEFORE_MATCH
    return row.start_line + (before - _LINES_BEFORE_MATCH if far else 0)


def shown_spans(
    excerpts: Excerpts, spans: Sequence[ScoredSpan], rows: Mapping[int, ChunkRow]
) -> Iterator[Span]:
    """Spans with their lines."""
    chunks = [rows[span.chunk_id] for span in spans]
    texts = excerpts([(row.file_id, row.start, row.end) for row in chunks])
    for (_, start, last, _), row, text in zip(spans, chunks, texts, strict=True):
        first, end = start - row.start_line, last - row.start_line + 1
        is_whole = first == 0 and text.count("\n") < end
        snippet = text if is_whole else "\n".join(text.split("\n", end)[first:end])
        yield Span(start, last, snippet, row.scope)
