"""Pipeline stage: put the files that contain a pasted text first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.rank.hyphenated_names import find_hyphenated_names
from rootle.rank.log_lines import is_logged
from rootle.rank.pasted_text import (
    PastedLine,
    align_rows,
    read_pasted_lines,
)
from rootle.rank.path_features import quotes_messages
from rootle.rank.question.intent import Intent
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
from rootle.search.stages.source_search import Shares, SourceSearch
from rootle.text.terms import WORD, whole_identifier
from rootle.text.translated_paths import is_catalogue
from rootle.types import Symbol

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

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


@dataclass(frozen=True, slots=True)
class _Sources:
    """The lines from which a text comes."""

    lines: Lines
    is_first: bool = False  # whether the files of these lines are the first results
    share: float = 0.0  # the share of the words that the best line has
    is_ordered: bool = False  # whether the order is that of the frames, innermost first
    has_message: bool = False  # whether code contains the message, except for filled-in values


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
    answer = replace(answer, has_source=sources.has_message)
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
    is_logged = len({line for lines in frames.lines.values() for line in lines}) == 1
    place = frames if is_logged else None  # a logger writes only one place
    if REPORT_MARK.search(text):
        frames = _add_tests(frames, text, index, open_finder, scoped)
    names, is_only_name = find_hyphenated_names(text)
    message = _find_lines(index, names[0] if is_only_name else text, scoped, has_parts=has_parts)
    if frames.lines:
        return _add_frames(message, frames.lines, is_logged=frames is place)
    if message.lines:
        return message
    if frames.doubtful:
        return _Sources(frames.doubtful, is_first=True, share=1.0, is_ordered=True)
    named = (_find_lines(index, name, scoped).lines for name in names)
    return _Sources({at: found for lines in named for at, found in lines.items()})


def _add_frames(message: _Sources, frames: Lines, *, is_logged: bool) -> _Sources:
    """Return the lines of frames and those of a message.

    The frames come first. A logger writes the place of the statement with the message. If the file
    of this place has the message, its line comes first, because the file may have changed.
    """
    places = [at for at in frames if at in message.lines] if is_logged else []
    lines: dict[int, Sequence[int]] = {
        at: list(dict.fromkeys([*message.lines[at], *frames[at]])) for at in places
    }
    for at in (*frames, *message.lines):
        found = [*frames.get(at, ()), *message.lines.get(at, ())]
        lines.setdefault(at, list(dict.fromkeys(found)))
    return _Sources(
        lines, is_first=True, share=1.0, is_ordered=True, has_message=message.has_message
    )


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
    is_whole = is_whole and not is_logged(text)
    lines = read_pasted_lines(text, partial(_count_files, index))
    search = SourceSearch(index, scoped.files)
    for parts in lines:
        for part in parts if has_parts and not is_whole else parts[:1]:
            if search.find(part, may_lack_words=part.is_marked and not is_whole):
                break
    return _choose(index, lines, search.found, _WHOLE if is_whole else 0.0)


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
    return _Sources(
        {at: _best_lines(shares[at]) for at in near},
        is_first=is_first,
        share=share,
        has_message=is_first and share >= _NEAR,
    )


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
