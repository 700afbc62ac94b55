"""Select the lines that are shown from each file."""

from __future__ import annotations

import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np

from rootle.index.reader import ChunkRow, FileState, IndexReader, TextRange
from rootle.protocols import Ids
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs
from rootle.rank.span_choice import (
    INITIAL_LINES_WITH_MATCH,
    ScoredSpan,
    choose_spans,
    content_share,
    count_initial_lines,
    find_closest,
    has_room,
    slice_range,
)
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.merged_candidates import is_among, lookup
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.text.definition_head import (
    find_comment_start,
    find_statement_end,
    is_below_definition,
)
from rootle.text.file_kinds import is_document
from rootle.text.markdown.table_rows import find_named_row
from rootle.text.terms import compose, split_identifier
from rootle.text.whole_names import find_word
from rootle.types import Span

# At most four spans per file are shown. If chunks do not overlap, considering the best four is
# enough. Overlapping chunks may be skipped, so more of them are considered.
_MAX_SPANS: Final = 4
_MAX_OVERLAPPING_SPANS: Final = 8
# The maximum number of chunks per page that get a BM25 score. The others contain few words of the
# question.
_MAX_CHUNKS_WITH_WORDS: Final = 200
# The score of an exact match, higher than that of any chunk, so that exact matches come first.
_MATCH_SCORE: Final = 1_000.0
# The score of a row of a table that describes the option of the question. It is higher than that of
# lines that only mention the option.
_ROW_SCORE: Final = _MATCH_SCORE * 3
# The score of the statement of a variable whose name consists of words of the question, and the
# number of files that are searched for such names.
_DECLARED_SCORE: Final = 10.0
_MAX_DECLARING_FILES: Final = 3
_VALUE: Final = re.compile(r"\w++[^()=\n]{0,80}+=(?![=>~])")  # a name, perhaps a type, and "="
# Matches at this distance get half of the bonus for closeness that adjacent matches get.
_NEAR_CHARS: Final = 200
_LINES_BEFORE_MATCH: Final = 5
_LINES_BEFORE_LINE: Final = 2
# A line with a directive, a label or an option of a directive in reStructuredText.
_DIRECTIVE: Final = re.compile(r"^[^\S\n]*+(?:\.\.(?:[^\S\n]|$)|:[\w-]{1,40}:).*", re.MULTILINE)

ReadExcerpts = Callable[[Sequence[TextRange]], Sequence[str]]
Rows = MutableMapping[int, ChunkRow]  # chunks by id


@dataclass(frozen=True, slots=True)
class ScoredChunks:
    """All chunks of several files, grouped by file, in ascending order of file ids."""

    ids: Ids
    files: Ids
    scores: Floats
    has_words: Flags  # whether the chunk contains a word of the question


@dataclass(frozen=True, slots=True)
class SelectedSpans:
    """The spans of several files, and the chunks that contain these spans."""

    by_file: Sequence[Sequence[ScoredSpan]]  # in the order of the files
    rows: Mapping[int, ChunkRow]


class ExcerptReader:
    """Reads ranges of the indexed text from files if possible, otherwise from the index."""

    def __init__(
        self, tree: WorkingTree | None, index: IndexReader, states: Mapping[int, FileState]
    ) -> None:
        """`states` are the states of files by id. Files without a state are read from the index."""
        self._tree = tree
        self._index = index
        self._states = states
        self.unchanged: set[int] = set()  # files that have been read, and are as they were indexed

    def read(self, ranges: Sequence[TextRange]) -> list[str]:
        """Return the text of each range. Ranges of the same file must be adjacent in the list."""
        found: list[str | None] = []
        for file_id, group in groupby(ranges, itemgetter(0)):
            in_file, state = list(group), self._states.get(file_id)
            texts = self._tree.read_ranges(state, in_file) if self._tree and state else None
            if texts:
                self.unchanged.add(file_id)
            found += texts or [None] * len(in_file)
        missing = [one for one, text in zip(ranges, found, strict=True) if text is None]
        if not missing:
            return [text for text in found if text is not None]
        indexed = iter(self._index.excerpts(missing))
        return [next(indexed) if text is None else text for text in found]

    def read_chunks(self, chunk_ids: Iterable[int]) -> dict[int, str]:
        """Map the ids of known chunks to their texts. Chunks of the same file must be adjacent."""
        rows = self._index.chunks(list(chunk_ids))
        texts = self.read([(row.file_id, row.start, row.end) for row in rows.values()])
        return dict(zip(rows, texts, strict=True))


def score_chunks(index: IndexReader, answer: RankedAnswer, file_ids: Sequence[int]) -> ScoredChunks:
    """Score every chunk of the given files, including chunks that neither leg found."""
    candidates = answer.candidates
    chunks, inputs = candidates.chunks, candidates.inputs
    kept = is_among(chunks.file_ids, np.array(file_ids, dtype=np.int64))
    ids = chunks.chunk_ids[kept]
    bm25, dense = np.zeros(len(ids)), np.zeros(len(ids))
    if chunks.cosines is not None:
        dense = chunks.cosines[kept].astype(np.float64)
    question = inputs.question
    if candidates.has_words and len(ids):
        limit = min(len(ids), _MAX_CHUNKS_WITH_WORDS)
        found = index.sparse.field_scores(
            "chunks", ("body",), question.searched_terms, limit, files=file_ids
        )
        # `lookup` needs ascending ids. Reindexed files get higher ids, so the ids of several files
        # are not in order.
        order = ids.argsort()
        bm25[order] = lookup([found], ids[order])[0]
    defines = is_among(ids, inputs.chunks.ids[inputs.chunks.defines])
    scores = answer.score_spans(bm25, dense, defines, is_symbol=question.is_symbol)
    return ScoredChunks(ids, chunks.file_ids[kept], scores, bm25 > 0)


def select_spans(
    index: IndexReader, answer: RankedAnswer, chunks: ScoredChunks, file_ids: Sequence[int]
) -> SelectedSpans:
    """Return the spans that are shown from each file, best first."""
    if answer.spans is not None:
        by_file = [answer.spans[file_id] for file_id in file_ids]
        rows = index.chunks([span.chunk_id for spans in by_file for span in spans])
        return SelectedSpans(by_file, rows)
    scoped = answer.candidates.scoped
    is_symbol = answer.candidates.inputs.question.is_symbol
    is_exact = scoped.is_exact or bool(answer.lines)
    max_lines = count_initial_lines(is_symbol=is_symbol, is_exact=is_exact)
    scored, states = _best_chunks(chunks, file_ids), answer.candidates.states
    rows = index.chunks([at for found in scored for at, _ in found[:_MAX_SPANS]])
    best = _rescore_documents(index, scored, states, file_ids, rows)
    declared = _find_declared(index, scored, answer.candidates.inputs)
    rows.update(index.chunks([at for at in declared if at not in rows]))
    tables = {at for at in file_ids if states[at].language == "markdown"}
    selector = _SpanSelector(index, scoped, rows, answer.lines, tables, declared)
    by_file = []
    for file_id, found in zip(file_ids, best, strict=True):
        spans = choose_spans(selector.choose_spans(file_id, found[:_MAX_SPANS]), max_lines)
        if len(found) > _MAX_SPANS and has_room(spans, max_lines):
            rows.update(index.chunks([at for at, _ in found[_MAX_SPANS:]]))
            spans = choose_spans(selector.choose_spans(file_id, found), max_lines)
        by_file.append(spans)
    return SelectedSpans(by_file, rows)


def read_spans(
    read_excerpts: ReadExcerpts, spans: Sequence[ScoredSpan], rows: Mapping[int, ChunkRow]
) -> list[Span]:
    """Return spans with their text."""
    chunks = [rows[span.chunk_id] for span in spans]
    texts = read_excerpts([(row.file_id, row.start, row.end) for row in chunks])
    found = []
    for (_, start, last, _), row, text in zip(spans, chunks, texts, strict=True):
        first, end = start - row.start_line, last - row.start_line + 1
        is_whole = first == 0 and text.count("\n") < end
        snippet = text if is_whole else "\n".join(text.split("\n", end)[first:end])
        is_below = row.scope and is_below_definition(text.split("\n"), first, end)
        found.append(Span(start, last, snippet, "" if is_below else row.scope))
    return found


def drop_excluded(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Pipeline stage: drop the files whose spans all contain an excluded word of the query."""
    answer = find(request, scoped)
    index = request.session.index
    ids = answer.file_ids.tolist()
    selected = select_spans(index, answer, score_chunks(index, answer, ids), ids)
    spans = {file_id: list(found) for file_id, found in zip(ids, selected.by_file, strict=True)}
    order = tuple(at for at, file_id in zip(answer.order, ids, strict=True) if spans[file_id])
    return replace(answer, order=order, spans=spans)


def _best_chunks(chunks: ScoredChunks, file_ids: Sequence[int]) -> list[list[tuple[int, float]]]:
    """Return the chunks of each file that score above zero, with their scores, best first."""
    starts = chunks.files.searchsorted(file_ids).tolist()
    ends = chunks.files.searchsorted(file_ids, side="right").tolist()
    best = []
    for start, end in zip(starts, ends, strict=True):
        scores = chunks.scores[start:end]
        top = (-scores).argsort(kind="stable")[:_MAX_OVERLAPPING_SPANS]
        pairs = zip(chunks.ids[start:end][top].tolist(), scores[top].tolist(), strict=True)
        best.append([(chunk_id, score) for chunk_id, score in pairs if score > 0])
    return best


def _rescore_documents(
    index: IndexReader,
    best: Sequence[Sequence[tuple[int, float]]],
    states: Mapping[int, FileState],
    file_ids: Sequence[int],
    rows: Rows,
) -> list[Sequence[tuple[int, float]]]:
    """Lower the scores of short chunks of documents. Chunks that are read are added to `rows`.

    A chunk is also found by the words of its headings. A chunk with little other text, such as a
    cell with one statement, would therefore come before the text that the headings introduce.
    """
    shown = (states[file_id] for file_id in file_ids)
    languages = {one.id: one.language for one in shown if is_document(one.path, one.language)}
    if not languages:
        return list(best)
    found = dict(zip(file_ids, best, strict=True))
    read = [at for file_id in languages for at, _ in found[file_id]]
    rows.update(index.chunks([at for at in read if at not in rows]))
    for file_id, language in languages.items():
        known = [rows[at] for at, _ in found[file_id] if at in rows]
        shares = _content_shares(index, known, language)
        scored = [(at, score * shares.get(at, 1.0)) for at, score in found[file_id]]
        found[file_id] = sorted(scored, key=lambda pair: -pair[1])
    return [found[file_id] for file_id in file_ids]


def _find_declared(
    index: IndexReader, best: Sequence[Sequence[tuple[int, float]]], inputs: RankingInputs
) -> dict[int, str]:
    """Map the best chunks to names in them that consist of at least two words of the question."""
    if inputs.question.is_composed:  # so many words that unrelated names consist of them too
        return {}
    words = {word.removesuffix("s") for word in inputs.question.words}
    with_words = set(inputs.chunks.ids[inputs.chunks.symbols > 0].tolist())
    declared = {}
    for at in (at for found in best[:_MAX_DECLARING_FILES] for at, _ in found if at in with_words):
        for name in index.list_symbols([at]):
            parts = {part.removesuffix("s") for part in split_identifier(name)}
            if len(parts) > 1 and parts <= words:
                declared[at] = name
    return declared


def _content_shares(
    index: IndexReader, rows: Sequence[ChunkRow], language: str
) -> Mapping[int, float]:
    if language != "rst":
        return {row.id: content_share(row.end - row.start) for row in rows}
    # Directives and labels do not count, because many documents begin with a chunk that contains
    # nothing else.
    texts = index.excerpts([(row.file_id, row.start, row.end) for row in rows])
    chars = [
        len(text) - text.count("\n") - sum(map(len, _DIRECTIVE.findall(text))) for text in texts
    ]
    return {row.id: content_share(count) for row, count in zip(rows, chars, strict=True)}


class _SpanSelector:
    """Finds the spans of a file that may be shown."""

    def __init__(
        self,
        index: IndexReader,
        scoped: ScopedQuery,
        rows: Rows,
        lines: Mapping[int, Sequence[int]],
        tables: Collection[int],
        declared: Mapping[int, str],
    ) -> None:
        """`rows` are the chunks that have already been read. Chunks that are read later are added.

        `lines` are the lines that must be shown, by file. `tables` are the files that may have
        tables in Markdown. `declared` maps chunks to names.
        """
        self._text = scoped.question.parsed.text
        self._tables = tables
        self._declared = declared
        self._lines = lines
        self._index = index
        self._matches = scoped.matches
        # Without other words, only the matches are asked for.
        self._has_other_words = scoped.question.parsed.asks_more_than_phrases
        self._excluded: re.Pattern[str] | None = scoped.question.parsed.excluded_pattern
        self._rows = rows

    def choose_spans(self, file_id: int, found: Sequence[tuple[int, float]]) -> list[ScoredSpan]:
        spans = [
            ScoredSpan(row.id, row.start_line, row.end_line, score)
            for chunk_id, score in found
            if (row := self._rows.get(chunk_id)) is not None
        ]
        if not spans:
            # Only the path or the symbols of the file matched: show its beginning.
            for row in self._index.list_chunks(file_id)[:1]:
                self._rows[row.id] = row
                spans.append(ScoredSpan(row.id, row.start_line, row.end_line, 0.0))
        spans = [*self._declaring_spans(file_id), *spans]
        if self._matches is None:
            spans = [*self._row_spans(file_id, spans), *spans]
        else:
            scores = {span.chunk_id: span.score for span in spans}
            places = self._matches.places.get(file_id, ())
            matching = list(self._match_spans(file_id, places, scores))
            spans = [*matching, *(spans if self._has_other_words or not matching else ())]
        if file_id in self._lines:
            spans = [*self._line_spans(file_id), *spans]
        if self._excluded is None:
            return spans
        texts = read_spans(self._index.excerpts, spans, self._rows)
        pairs = zip(spans, texts, strict=True)
        return [span for span, text in pairs if not self._excluded.search(compose(text.snippet))]

    def _row_spans(self, file_id: int, spans: Sequence[ScoredSpan]) -> Iterator[ScoredSpan]:
        """Yield spans that begin at a row of a table that describes the option of the question."""
        if file_id not in self._tables:
            return
        chunks = [self._rows[span.chunk_id] for span in spans]
        texts = self._index.excerpts([(row.file_id, row.start, row.end) for row in chunks])
        for span, text in zip(spans, texts, strict=True):
            at = find_named_row(text.split("\n"), self._text) if "|" in text else None
            if at is not None:
                score = span.score + _ROW_SCORE
                yield ScoredSpan(span.chunk_id, span.start_line + at, span.end_line, score)

    def _declaring_spans(self, file_id: int) -> Iterator[ScoredSpan]:
        """Yield the statements of variables. Functions have chunks of their own."""
        for chunk_id, name in self._declared.items():
            row = self._rows.get(chunk_id)
            if row is None or row.file_id != file_id or row.scope.endswith(name):
                continue
            text = self._index.excerpts([(row.file_id, row.start, row.end)])[0]
            lines, above = text.split("\n"), row.start_line - 1
            at = next((at for at in find_word(text, name) if _VALUE.match(text, at)), None)
            if at is not None:
                line = text.count("\n", 0, at) + 1
                first, last = find_comment_start(lines, line), find_statement_end(lines, line)
                yield ScoredSpan(row.id, above + first, above + last, _DECLARED_SCORE)

    def _match_spans(
        self, file_id: int, places: Sequence[Sequence[int]], scores: Mapping[int, float]
    ) -> Iterator[ScoredSpan]:
        """Yield a span for each chunk with matches.

        The more phrases and regexes match in the chunk, and the closer the matches are to each
        other, the higher the score of the span. The closest matches determine where the span
        starts.
        """
        for row in self._index.list_chunks(file_id):
            here = [slice_range(some, row.start, row.end) for some in places]
            here = [some for some in here if some]
            if here:
                self._rows[row.id] = row
                first, distance = find_closest(here)
                closeness = 0.5 / (1 + distance / _NEAR_CHARS)
                score = (len(here) + closeness) * _MATCH_SCORE + scores.get(row.id, 0.0)
                yield ScoredSpan(row.id, self._start_line(row, first), row.end_line, score)

    def _line_spans(self, file_id: int) -> Iterator[ScoredSpan]:
        """Yield a span for each line that must be shown. The first span has the highest score."""
        rows = self._index.list_chunks(file_id)
        for at, line in enumerate(self._lines[file_id]):
            row = next((row for row in rows if row.start_line <= line <= row.end_line), None)
            if row is not None:
                self._rows[row.id] = row
                is_short = row.end_line - row.start_line < INITIAL_LINES_WITH_MATCH
                start = max(row.start_line, 0 if is_short else line - _LINES_BEFORE_LINE)
                yield ScoredSpan(row.id, start, row.end_line, _MATCH_SCORE * 2 - at)

    def _start_line(self, row: ChunkRow, position: int) -> int:
        """Return the first line of a chunk, or a later line if the match is far below it."""
        if row.end_line - row.start_line < INITIAL_LINES_WITH_MATCH:
            return row.start_line
        before = self._index.excerpts([(row.file_id, row.start, position)])[0].count("\n")
        is_far = before >= INITIAL_LINES_WITH_MATCH - _LINES_BEFORE_MATCH
        return row.start_line + (before - _LINES_BEFORE_MATCH if is_far else 0)
