"""Pipeline stage: put the files that contain a pasted text first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.protocols import MAX_MATCH_TERMS, Ids, WeightedTerm
from rootle.rank.pasted_text import (
    PastedLine,
    align_rows,
    find_hyphenated_names,
    find_source_lines,
    read_pasted_lines,
)
from rootle.rank.path_features import quotes_messages
from rootle.rank.question.intent import Intent
from rootle.rank.ranking_inputs import Floats, Ints
from rootle.search.long_question import MAX_QUERY_CHARS
from rootle.search.query.scope import Lines, ScopedQuery
from rootle.search.query.stack_frames import FRAME_MARK, Frame, Frames, find_frames
from rootle.search.query.test_reports import REPORT_MARK, read_reported_tests
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
    put_last,
)
from rootle.text.terms import WORD, whole_identifier
from rootle.text.translated_paths import is_catalogue
from rootle.types import Symbol

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

_MAX_FILES_WITH_WORDS: Final = 100  # files whose chunks are compared with a line of the query
_MAX_MATCHED_CHUNKS: Final = 5_000
_MAX_READ_CHUNKS: Final = 48  # chunks that are read for a line of the query
_MAX_TEXTS: Final = 120  # chunks that are read for one query
# A chunk is read if it has this share of a line's words. The source needs a larger share, but some
# of the words may be in the next chunk.
_CHUNK_SHARE: Final = 0.5
_MAX_TERMS: Final = 12
_MIN_TERMS: Final = 2  # fewer words do not identify a line
# A text that occurs in more files is no evidence for one of them.
_MAX_FILES: Final = 6
_MAX_LINES_PER_FILE: Final = 12
# Files and lines whose share is below this fraction of the best share are left out.
_NEAR: Final = 0.9
# The minimum share for descriptions, because parts of a description are often in a document. If
# only documents and tests contain a text, they come first only if they have this share.
_WHOLE: Final = 0.94
# A sentence with fewer words is often in a document, although the question is about code.
_SENTENCE_WORDS: Final = 6
# Quotes do not delimit phrases if a source line has this share of the words, and at least
# _MESSAGE_WORDS words are outside of the quotes. With fewer words, the source must have all words.
_MESSAGE_SHARE: Final = 0.75
_MESSAGE_WORDS: Final = 4
# The shares of documents and tests, which quote the messages of a program, are multiplied by this
# factor.
_QUOTING: Final = 0.7
# The factor for catalogues of translations. It is below _NEAR times _QUOTING, so that a document
# with the same text hides them.
_TRANSLATING: Final = 0.6
_TRANSLATION: Final = re.compile(
    r"\b(translat\w*|locali[sz]\w*|locales?|i18n|l10n|msg(id|str)|gettext|xliff|po files?)\b",
    re.IGNORECASE,
)
# The intents of questions that describe code instead of quoting it.
_DESCRIBING: Final[frozenset[Intent]] = frozenset(("usage", "test", "history"))
# Escape codes for colors in terminals.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")

Shares = dict[int, dict[int, dict[int, float]]]  # by file id, row of the query and line number


@dataclass(frozen=True, slots=True)
class _Sources:
    """The lines from which a text comes."""

    lines: Lines
    is_first: bool = False  # whether the files of these lines are the first results
    share: float = 0.0  # the share of the words that the best line has
    is_ordered: bool = False  # whether the order is that of the frames, innermost first


_NONE: Final = _Sources({})


def find_pasted_text(
    open_finder: Callable[[], SymbolFinder],
    find: FindAnswer,
    request: SearchRequest,
    scoped: ScopedQuery,
) -> RankedAnswer:
    """Return the answer. Files with the text or the stack frames of the query come first.

    If the query contains phrases, catalogues of translations come last, unless it asks for a
    translation. `open_finder` is called only if the query names a test, because opening the finder
    loads a parser.
    """
    answer = _find_pasted_text(open_finder, find, request, scoped)
    parsed = scoped.question.parsed
    if not parsed.phrases or _TRANSLATION.search(parsed.words):
        return answer
    return put_last(answer, _catalogues_in(answer, request.session.index))


def _catalogues_in(answer: RankedAnswer, index: IndexReader) -> set[int]:
    """Return the ids of the catalogues of translations in an answer."""
    states = index.files(answer.file_ids.tolist())
    return {at for at, state in states.items() if is_catalogue(state.path)}


def _find_pasted_text(
    open_finder: Callable[[], SymbolFinder],
    find: FindAnswer,
    request: SearchRequest,
    scoped: ScopedQuery,
) -> RankedAnswer:
    parsed = scoped.question.parsed
    if scoped.lines or parsed.regex or parsed.excluded:
        return find(request, scoped)
    if not parsed.phrases:
        sources = _find_sources(open_finder, request, parsed.text, scoped)
    elif scoped.unquoted is None or parsed.has_filters or not parsed.asks_more_than_phrases:
        return find(request, scoped)
    else:
        # The quotes may be part of a pasted message or of pasted code.
        text = request.query.text_query[:MAX_QUERY_CHARS]
        # In JSON, quotes do not delimit phrases, so the parts in quotes may be searched alone.
        has_parts = text.lstrip().startswith("{")
        sources = _find_sources(open_finder, request, text, scoped.unquoted, has_parts=has_parts)
        if not _is_better_than_phrases(sources, parsed.words):
            return find(request, scoped)
        scoped = scoped.unquoted
    if not sources.lines:
        return find(request, scoped)
    chunk_ids = np.concatenate(
        [scoped.chunk_ids, chunks_with_lines(request.session.index, sources.lines)]
    )
    answer = find(request, replace(scoped, chunk_ids=chunk_ids, lines=sources.lines))
    if not sources.is_first:
        return answer
    if sources.is_ordered:
        return put_first(answer, list(sources.lines))
    return put_first(answer, [at for at in answer.file_ids.tolist() if at in sources.lines])


def _is_better_than_phrases(sources: _Sources, others: str) -> bool:
    """Return whether a query with quotes is a text from a file.

    `others` is the text outside of the quotes.
    """
    has_words = len(WORD.findall(others)) >= _MESSAGE_WORDS
    return sources.share >= (_MESSAGE_SHARE if has_words else 1.0)


def _find_sources(
    open_finder: Callable[[], SymbolFinder],
    request: SearchRequest,
    text: str,
    scoped: ScopedQuery,
    *,
    has_parts: bool = True,
) -> _Sources:
    text = _COLORS.sub("", text)
    index = request.session.index
    frames = Frames({}, {})
    if FRAME_MARK.search(text):
        locate = partial(_locate_function, index, open_finder)
        frames = find_frames(text, index, scoped.files, locate)
    if REPORT_MARK.search(text):
        frames = _add_tests(frames, text, index, open_finder, scoped)
    names, is_only_name = find_hyphenated_names(text)
    message = _find_lines(index, names[0] if is_only_name else text, scoped, has_parts=has_parts)
    if frames.lines:
        rest = {at: found for at, found in message.lines.items() if at not in frames.lines}
        lines = {at: [*found, *message.lines.get(at, ())] for at, found in frames.lines.items()}
        return _Sources({**lines, **rest}, is_first=True, share=1.0, is_ordered=True)
    if message.lines:
        return message
    if frames.doubtful:
        return _Sources(frames.doubtful, is_first=True, share=1.0, is_ordered=True)
    named = (_find_lines(index, name, scoped).lines for name in names)
    return _Sources({at: found for lines in named for at, found in lines.items()})


def _locate_function(
    index: IndexReader, open_finder: Callable[[], SymbolFinder], state: FileState, frame: Frame
) -> int | None:
    """Return the line of the function that a frame names, unless the frame's line is in it.

    Line numbers change between versions, names rarely do. Return None if the line is in the
    function, or if the file does not define the function.
    """
    from rootle.search.symbols.symbol_request import SymbolRequest  # only for stack traces

    request = SymbolRequest(frame.function, files=(state.id,))
    found = open_finder().find_with_files(index, request, is_quick=True)
    symbols = () if found is None else found[0].definitions
    if not symbols or any(one.start_line <= frame.line <= one.end_line for one in symbols):
        return None

    def is_unlikely(symbol: Symbol) -> tuple[bool, int]:
        words = (*WORD.findall(symbol.scope), *WORD.findall(symbol.signature))
        return frame.owner not in words, abs(symbol.line - frame.line)

    return min(symbols, key=is_unlikely).line


def _add_tests(
    frames: Frames,
    text: str,
    index: IndexReader,
    open_finder: Callable[[], SymbolFinder],
    scoped: ScopedQuery,
) -> Frames:
    """Return the frames, with the lines of the tests and functions that a text names."""
    tests = read_reported_tests(text)
    if not tests:
        return frames
    # This loads a parser.
    from rootle.search.symbols.covering_tests.reported_tests import find_reported_tests

    lines = {at: list(found) for at, found in frames.lines.items()}
    found_tests = find_reported_tests(tests, index, open_finder(), scoped.files)
    for at, found in found_tests.items():
        lines[at] = list(dict.fromkeys([*lines.get(at, ()), *found]))
    return replace(frames, lines=lines)


def _find_lines(
    index: IndexReader, text: str, scoped: ScopedQuery, *, has_parts: bool = True
) -> _Sources:
    question = scoped.question.question
    is_whole = question.is_composed or question.intent in _DESCRIBING
    lines = read_pasted_lines(text, partial(_count_files, index))
    search = _Search(index, scoped.files)
    for parts in lines:
        for part in parts if has_parts and not is_whole else parts[:1]:
            if search.find(part, may_lack_words=part.is_marked and not is_whole):
                break
    return _choose(index, lines, search.found, _WHOLE if is_whole else 0.0)


class _Search:
    """Finds the source lines: the lines of files from which the rows of a query come."""

    def __init__(self, index: IndexReader, files: Collection[int] | None) -> None:
        self.found: Shares = {}
        self._index = index
        self._files = files
        self._left = _MAX_TEXTS

    def find(self, line: PastedLine, *, may_lack_words: bool) -> bool:
        """Add the source lines. Return whether one of them is in code that is not a test."""
        if len(line.searched) < (len(set(line.words)) if line.is_compound else _MIN_TERMS):
            return False
        found = self._search_files(line)
        is_in_code = self._has_code(found)
        if may_lack_words and not line.is_compound and not is_in_code:
            further = self._search_chunks(line)
            is_in_code = self._has_code(further)
            found = {**further, **found}
        for file_id, shares in found.items():
            rows = self.found.setdefault(file_id, {}).setdefault(line.row, {})
            for number, share in shares.items():
                rows[number] = max(rows.get(number, 0.0), share)
        return is_in_code

    def _has_code(self, found: Mapping[int, object]) -> bool:
        states = self._index.files(found).values()
        return not all(quotes_messages(state.path) for state in states)

    def _search_files(self, line: PastedLine) -> dict[int, dict[int, float]]:
        """Return the source lines in files that contain all words of a line."""
        sparse = self._index.sparse
        words = line.searched[:MAX_MATCH_TERMS]
        stems = sparse.stems(" ".join(words))
        ids = sparse.files_with(stems, [], _MAX_FILES_WITH_WORDS, self._files)
        if not ids:
            return {}
        terms = list(dict.fromkeys(stems))
        weights = np.zeros(len(terms))
        for word, stem in zip(words, stems, strict=True):
            weights[terms.index(stem)] += line.weights[word]
        chunk_ids, masks = sparse.matches(terms, _MAX_MATCHED_CHUNKS, among="file", ids=ids)
        values = (masks[:, None] >> np.arange(len(terms)) & 1) @ weights
        least = weights.sum() * (_CHUNK_SHARE if line.is_aligned else 1.0) - 1e-9
        wanted = values >= least
        chunk_ids, values = chunk_ids[wanted], values[wanted]
        order = _order_chunks(self._index.dense.find_files(chunk_ids), values)
        return self._read(line, chunk_ids[order].tolist())

    def _search_chunks(self, line: PastedLine) -> dict[int, dict[int, float]]:
        """Return the source lines in the chunks that full-text search finds first.

        A chunk may lack some words, because a message contains values that the program fills in.
        """
        terms = dict.fromkeys(self._index.sparse.stems(" ".join(line.searched[:_MAX_TERMS])))
        wanted = [WeightedTerm(term, 1.0) for term in terms]
        hits = self._index.sparse.query(wanted, _MAX_READ_CHUNKS, self._files)
        return self._read(line, hits.ids.tolist())

    def _read(self, line: PastedLine, chunk_ids: Sequence[int]) -> dict[int, dict[int, float]]:
        """Return the source lines in chunks, until the limit of texts is reached."""
        chosen = chunk_ids[: min(_MAX_READ_CHUNKS, self._left)]
        rows = list(self._index.chunks(chosen).values())
        texts = self._index.excerpts([(row.file_id, row.start, row.end) for row in rows])
        self._left -= len(rows)
        found: dict[int, dict[int, float]] = {}
        for row, text in zip(rows, texts, strict=True):
            for source in find_source_lines(line, text):
                number = row.start_line + source.number - 1
                found.setdefault(row.file_id, {}).setdefault(number, source.share)
        return found


def _order_chunks(files: Ids, values: Floats) -> Ints:
    """Return an order with the best chunk of each file first, and then the second best of each.

    Otherwise, a file with many matching chunks, such as a recorded log, could use up the limit of
    texts.
    """
    by_file = np.lexsort((-values, files))
    ranks = np.arange(len(files)) - files[by_file].searchsorted(files[by_file])
    order: Ints = by_file[np.lexsort((-values[by_file], ranks))]
    return order


def _count_files(index: IndexReader, words: Sequence[str]) -> tuple[int, Sequence[int]]:
    stems = index.sparse.stems(" ".join(map(whole_identifier, words)))
    return index.sparse.file_frequencies(stems)


def _choose(
    index: IndexReader, lines: Sequence[Sequence[PastedLine]], found: Shares, least: float
) -> _Sources:
    """Return the best lines of the best files, best file first; none if too many files match."""
    if not found:
        return _NONE
    paths = {at: state.path for at, state in index.files(found).items()}
    quoting = {at for at in found if quotes_messages(paths[at])}
    factors = dict.fromkeys(quoting, _QUOTING)
    factors |= {at: _TRANSLATING for at in found if is_catalogue(paths[at])}
    shares = {at: align_rows(rows) for at, rows in found.items()}
    values = {
        at: factors.get(at, 1.0)
        * sum(max(row.values()) for row in _rows_with(found[at], shares[at]))
        for at in found
    }
    least_value = max(values.values()) * _NEAR
    share = max(max(shares[at].values()) for at in found)
    near = [at for at in found if values[at] >= least_value]
    if len(near) > _MAX_FILES:  # drop documents and tests, such as recorded logs
        near = [at for at in near if at not in quoting]
    if share < least or not 0 < len(near) <= _MAX_FILES:
        return _NONE
    near.sort(key=lambda at: (-values[at], paths[at]))
    is_first = not quoting.issuperset(near) or _is_long(lines, share)
    return _Sources({at: _best_lines(shares[at]) for at in near}, is_first=is_first, share=share)


def _best_lines(shares: Mapping[int, float]) -> list[int]:
    least = max(shares.values()) * _NEAR
    near = (number for number, share in shares.items() if share >= least)
    return sorted(near, key=lambda number: (-shares[number], number))[:_MAX_LINES_PER_FILE]


def _rows_with(
    rows: Mapping[int, Mapping[int, float]], lines: Mapping[int, float]
) -> list[dict[int, float]]:
    """Return the rows of a query that come from one of the lines."""
    kept = ({at: share for at, share in row.items() if at in lines} for row in rows.values())
    return [row for row in kept if row]


def _is_long(lines: Sequence[Sequence[PastedLine]], share: float) -> bool:
    """Return whether nearly all words of a text are in the source.

    Return False for short sentences without signs of a message or of code.
    """
    return share >= _WHOLE and any(
        parts[0].is_marked or parts[0].is_compound or len(parts[0].words) >= _SENTENCE_WORDS
        for parts in lines
    )
