"""Pipeline stages: show the definition of a rare name and the file that a question names early.

The words of a sentence can outweigh a name in it, as in "why does _fromFloat check isNaN". A name
is defined in one or two files is better evidence than all other words. So is the name of a file, if
the question asks for a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.rank.path_features import quotes_messages
from rootle.rank.question.file_question import find_named_stem
from rootle.search.query.scope import Lines, ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.results.shown_spans import read_spans, score_chunks, select_spans
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    move_up,
)
from rootle.text.languages import file_language
from rootle.text.terms import whole_identifier
from rootle.text.translated_paths import contains_texts
from rootle.text.whole_names import OPTION, line_numbers, name_pattern
from rootle.types import Span

# A name, possibly with its owners, such as "parse_line" or "o.pbytes", or an option such as
# "--verbose". Parts of paths do not match.
_WRITTEN: Final = re.compile(
    rf"{OPTION}"
    r"|(?<![\w./\\$-])(?:[A-Za-z_$][\w$]{0,80}(?:\.|::|->|#)){0,4}[A-Za-z_$][\w$]{2,80}(?![\w/\\])"
)
_SEPARATOR: Final = re.compile(r"\.|::|->|#")
# Ordinary words contain no underscore, no capital after the first letter and no digit.
_MARKED: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d")
# The maximum number of names that are looked up. Further names are likely to be context.
_MAX_NAMES: Final = 2
# A name in more files than this is not rare. Tests, documents and generated files do not count.
_MAX_FILES: Final = 2
_MAX_DEFINERS: Final = 16  # chunks that define the name, including those in tests
# The maximum number of files that may contain a name without a definition, such as a field. Tests,
# documents, catalogues of translations and generated files do not count.
_MAX_MENTIONS: Final = 8
# For an option, more files are read, because the index does not contain the hyphens before it.
_MAX_READ_FOR_OPTION: Final = 40
# The maximum number of files with the name, of all kinds. Only their paths are read.
_MAX_FILES_WITH_NAME: Final = 200
_MAX_LINES: Final = 4  # per file
# If a question has the words of more file names than this, they are ordinary words.
_MAX_NAMED: Final = 3
_ASSIGNED: Final = re.compile(r"\s*:?=(?!=)")


@dataclass(frozen=True, slots=True)
class _Name:
    written: str  # "o.pbytes"
    last: str  # "pbytes"

    @property
    def is_option(self) -> bool:
        return self.written.startswith("-")

    @property
    def is_marked(self) -> bool:
        return not self.is_option and _MARKED.search(self.last) is not None

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern for the name. It includes the owners if the name may be an ordinary word."""
        return name_pattern(self.last if self.is_marked else self.written)


def show_rare_names(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Return the answer with the definitions of rare names among its first results."""
    if scoped.lines:
        return find(request, scoped)
    index = request.session.index
    rare = [
        (name, lines)
        for name in islice(_find_names(scoped.question.question.text), _MAX_NAMES)
        if (lines := _find_lines(index, name, scoped))
    ]
    if not rare:
        return find(request, scoped)
    added = [chunks_with_lines(index, lines) for _, lines in rare]
    chunk_ids = np.concatenate([scoped.chunk_ids, *added])
    answer = find(request, replace(scoped, chunk_ids=chunk_ids))
    # The file of the first name is moved up last, so that it comes before that of the second name.
    for name, lines in reversed(rare):
        answer = _show(index, answer, name, lines)
    return answer


def show_named_file(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Return the answer. If the question contains the name of a file, the best such file is first.

    Nothing changes if the question contains many names of files. Tests, documents and generated
    files do not count, because they are usually named after the file that is asked for.
    """
    answer = find(request, scoped)
    if scoped.lines or not answer.order:
        return answer
    ids = answer.candidates.inputs.files.ids
    states = request.session.index.files([int(ids[at]) for at in answer.order])
    text = scoped.question.question.text
    named: dict[str, int] = {}
    for at in answer.order:
        path = states[int(ids[at])].path
        if not quotes_messages(path) and (stem := find_named_stem(path, text)):
            named.setdefault(stem, at)
    if not 0 < len(named) <= _MAX_NAMED:
        return answer
    return move_up(answer, next(iter(named.values())), 0)


def _find_names(text: str) -> Iterator[_Name]:
    for written in dict.fromkeys(_WRITTEN.findall(text)):
        parts = _SEPARATOR.split(written.lstrip("-"))
        name = _Name(written, parts[-1])
        is_name = name.is_marked or name.is_option or len(parts) > 1
        if is_name and file_language(written) == "unknown":  # not a file name
            yield name


def _find_lines(index: IndexReader, name: _Name, scoped: ScopedQuery) -> Lines:
    """Return the lines that define a name, or the lines that contain it if none define it.

    Return no lines if too many files contain the name.
    """
    if name.is_option:  # a definition with the same name is something else
        return _find_mentions(index, name, scoped)
    key = whole_identifier(name.last)
    ids = index.sparse.definers([key], _MAX_DEFINERS + 1)[key] if key else []
    if len(ids) > _MAX_DEFINERS:
        return {}
    rows = index.chunks([at for at in ids if name.last in index.list_symbols([at])])
    chunks: dict[int, list[tuple[int, int]]] = {}
    for row in rows.values():
        if scoped.files is None or row.file_id in scoped.files:
            chunks.setdefault(row.file_id, []).append((row.start_line, row.end_line))
    if not chunks:
        return _find_mentions(index, name, scoped)
    found: dict[int, list[int]] = {}
    for state in _ordinary(list(index.files(chunks).values())):
        numbers = _matching_lines(name, index.text(state.id))
        within = [
            next((number for number in numbers if first <= number <= last), None)
            for first, last in sorted(chunks[state.id])
        ]
        found[state.id] = [number for number in within if number is not None][:_MAX_LINES]
    return {at: numbers for at, numbers in found.items() if numbers}


def _find_mentions(index: IndexReader, name: _Name, scoped: ScopedQuery) -> Lines:
    stems = index.sparse.stems(whole_identifier(name.last))
    limit = _MAX_FILES_WITH_NAME
    ids = index.sparse.files_with(stems, [], limit + 1, scoped.files) if stems else []
    if len(ids) > limit:
        return {}
    states = [state for state in index.files(ids).values() if _is_ordinary(state.path)]
    if len(states) > (_MAX_READ_FOR_OPTION if name.is_option else _MAX_MENTIONS):
        return {}
    numbers = {state.id: _matching_lines(name, index.text(state.id)) for state in states}
    found = {at: lines[:_MAX_LINES] for at, lines in numbers.items() if lines}
    return found if len(found) <= _MAX_FILES else {}


def _ordinary(states: Sequence[FileState]) -> Sequence[FileState]:
    """Return the files except tests, documents and generated ones; none if too many are left."""
    kept = [state for state in states if _is_ordinary(state.path)]
    return kept if len(kept) <= _MAX_FILES else ()


def _is_ordinary(path: str) -> bool:
    return not (quotes_messages(path) or contains_texts(path))


def _matching_lines(name: _Name, text: str) -> list[int]:
    """Return the lines with a name. Lines that assign a value to it come first."""
    matches = list(name.pattern.finditer(text))
    found: dict[int, bool] = {}
    numbers = line_numbers(text, [match.start() for match in matches])
    for number, match in zip(numbers, matches, strict=True):
        found[number] = found.get(number, False) or _ASSIGNED.match(text, match.end()) is not None
    return sorted(found, key=lambda number: (not found[number], number))


def _show(index: IndexReader, answer: RankedAnswer, name: _Name, lines: Lines) -> RankedAnswer:
    """Return the answer with a file of `lines` first, or second if the first result has the name.

    The spans of this file usually fit the other words of the question better than `lines`. They are
    replaced only if none of them contains the first line that `lines` has for the file, or if the
    name is that of an option, which the answer is about.
    """
    ids = answer.candidates.inputs.files.ids
    places = [at for at in answer.order if int(ids[at]) in lines]
    if not places:
        return answer
    best, top = places[0], answer.order[0]
    if best != top:
        spans = _find_spans(index, answer, int(ids[top]))
        has_name = any(name.pattern.search(span.snippet) for span in spans)
        answer = move_up(answer, best, 1 if has_name else 0)
    file_id = int(ids[best])
    shown = _find_spans(index, answer, file_id)
    first = lines[file_id][0]
    is_shown = any(span.start_line <= first <= span.end_line for span in shown)
    if is_shown and not name.is_option:
        return answer
    return replace(answer, lines={**answer.lines, file_id: lines[file_id]})


def _find_spans(index: IndexReader, answer: RankedAnswer, file_id: int) -> list[Span]:
    selected = select_spans(index, answer, score_chunks(index, answer, [file_id]), [file_id])
    return read_spans(index.excerpts, selected.by_file[0], selected.rows)
