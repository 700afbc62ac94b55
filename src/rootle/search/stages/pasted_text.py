"""Pipeline stage: put the files that contain a pasted text first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.search.long_question import MAX_QUERY_CHARS
from rootle.search.query.scope import Lines, ScopedQuery
from rootle.search.query.stack_frames import FRAME_MARK, Frame, Frames, find_frames
from rootle.search.query.test_reports import REPORT_MARK, read_reported_tests
from rootle.search.request import SearchRequest
from rootle.search.stages.message_uses import add_message_uses
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
    put_last,
)
from rootle.search.stages.source_search import TextSources, find_files_with_names, find_sources
from rootle.text.terms import WORD
from rootle.text.translated_paths import is_catalogue
from rootle.types import Symbol

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

# Quotes do not delimit phrases if a source line has this share of the words, and at least
# _MESSAGE_WORDS words are outside of the quotes. With fewer words, the source must have all words.
_MESSAGE_SHARE: Final = 0.75
_MESSAGE_WORDS: Final = 4
_TRANSLATION: Final = re.compile(
    r"\b(translat\w*|locali[sz]\w*|locales?|i18n|l10n|msg(id|str)|gettext|xliff|po files?)\b",
    re.IGNORECASE,
)
# Escape codes for colors in terminals.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


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


def _is_better_than_phrases(sources: TextSources, others: str) -> bool:
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
) -> TextSources:
    text = _COLORS.sub("", text)
    index = request.session.index
    frames = Frames({}, {})
    if FRAME_MARK.search(text):
        locate = partial(_locate_function, index, open_finder)
        frames = find_frames(text, index, scoped.files, locate)
    is_logged = len({line for lines in frames.lines.values() for line in lines}) == 1
    place = frames if is_logged else None  # a logger writes only one place
    others: Mapping[int, Collection[int]] = {}
    if REPORT_MARK.search(text):
        frames, others = _add_tests(frames, text, index, open_finder, scoped)
    message, names = find_sources(index, text, scoped, has_parts=has_parts)
    message = replace(message, lines=_drop_lines(message.lines, others))
    if message.catalogues:
        message = add_message_uses(index, message, scoped.files)
    if frames.lines:
        return _add_frames(message, frames.lines, is_logged=frames is place)
    if message.lines:
        return message
    if frames.doubtful:
        return TextSources(frames.doubtful, is_first=True, share=1.0, is_ordered=True)
    return TextSources(find_files_with_names(index, names, scoped))


def _drop_lines(lines: Lines, dropped: Mapping[int, Collection[int]]) -> Lines:
    """Return the lines by file, without some of them, and without files that have no other line."""
    kept = {
        at: [line for line in found if line not in dropped.get(at, ())]
        for at, found in lines.items()
    }
    return {at: found for at, found in kept.items() if found}


def _add_frames(message: TextSources, frames: Lines, *, is_logged: bool) -> TextSources:
    """Return the lines of frames and those of a message.

    The frames come first. A logger writes the place of the statement with the message. If the file
    of this place contains the message, the line with the message comes first, because the file may
    have changed.
    """
    places = [at for at in frames if at in message.lines] if is_logged else []
    lines: dict[int, Sequence[int]] = {
        at: list(dict.fromkeys([*message.lines[at], *frames[at]])) for at in places
    }
    for at in (*frames, *message.lines):
        found = [*frames.get(at, ()), *message.lines.get(at, ())]
        lines.setdefault(at, list(dict.fromkeys(found)))
    return TextSources(
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
) -> tuple[Frames, Mapping[int, Collection[int]]]:
    """Return the frames, with the lines of the tests and functions that a text names.

    The second value contains the lines of other tests with the same titles, by file id.
    """
    tests = read_reported_tests(text)
    if not tests:
        return frames, {}
    # This loads a parser.
    from rootle.search.symbols.covering_tests.reported_tests import find_reported_tests

    lines = {at: list(found) for at, found in frames.lines.items()}
    found_tests = find_reported_tests(tests, index, open_finder(), scoped.files)
    for at, found in found_tests.lines.items():
        lines[at] = list(dict.fromkeys([*lines.get(at, ()), *found]))
    return replace(frames, lines=lines), found_tests.others
