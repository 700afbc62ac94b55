"""Answer stage: put the files first from which a pasted text comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from rootle.index.reader import IndexReader
from rootle.protocols import WeightedTerm
from rootle.rank.pasted_text import (
    PastedLine,
    find_hyphenated_names,
    find_source_lines,
    read_pasted_lines,
)
from rootle.rank.path_features import quotes_messages
from rootle.rank.question.intent import Intent
from rootle.search.query.scope import ScopedQuery
from rootle.search.query.stack_frames import find_frames
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
)
from rootle.text.terms import whole_identifier

_MAX_READ_FILES: Final = 24
_MAX_READ_CHUNKS: Final = 48
_MAX_TERMS: Final = 12
_MIN_TERMS: Final = 2  # fewer words do not identify a line
# A text that occurs in more files is no evidence for one of them.
_MAX_FILES: Final = 6
_MAX_LINES_PER_FILE: Final = 4
# Lines whose share is below this part of the best one are left out.
_NEAR: Final = 0.9
# A description that a language model composed must be in a line as a whole: parts of it are often
# in a document.
_WHOLE: Final = 0.95
# The shares of files that quote the messages of a program are multiplied by this factor.
_QUOTING: Final = 0.7
# The words of these questions describe what is wanted.
_DESCRIBING: Final[frozenset[Intent]] = frozenset(("usage", "test", "history"))

Lines = Mapping[int, Sequence[int]]  # line numbers by file id
Shares = Mapping[int, Mapping[int, float]]  # share of the pasted words by file id and line


def find_pasted_text(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Return the answer; its first files are those with the text or the frames of the query."""
    parsed = scoped.question.parsed
    if scoped.lines or parsed.is_exact or scoped.question.translations:
        return find(request, scoped)
    index = request.session.index
    frames = find_frames(parsed.text, index, scoped.files)
    names, is_only_name = find_hyphenated_names(parsed.text)
    lines = frames or _find_lines(index, parsed.text if not is_only_name else names[0], scoped)
    is_first = bool(lines)
    for name in names if not lines else ():
        lines = {**_find_lines(index, name, scoped), **lines}
    if not lines:
        return find(request, scoped)
    chunk_ids = np.concatenate([scoped.chunk_ids, chunks_with_lines(index, lines)])
    answer = find(request, replace(scoped, chunk_ids=chunk_ids, lines=lines))
    if not is_first:
        return answer
    ranked = [file_id for file_id in answer.file_ids.tolist() if file_id in lines]
    return put_first(answer, list(lines) if frames else ranked)


def _find_lines(index: IndexReader, text: str, scoped: ScopedQuery) -> Lines:
    question = scoped.question.question
    pasted = read_pasted_lines(text, partial(_count_files, index))
    found = _search_files(index, pasted, scoped)
    if question.is_composed or question.intent in _DESCRIBING:
        found = {at: lines for at, lines in found.items() if max(lines.values()) >= _WHOLE}
    elif not found or all(map(quotes_messages, _paths(index, found))):
        marked = [line for line in pasted if line.is_marked]
        found = {**_search_chunks(index, marked, scoped), **found}
    return _choose(index, found)


def _paths(index: IndexReader, found: Shares) -> list[str]:
    states = index.files(found)
    return [states[file_id].path for file_id in found]


def _count_files(index: IndexReader, words: Sequence[str]) -> tuple[int, Sequence[int]]:
    stems = index.sparse.stems(" ".join(map(whole_identifier, words)))
    return index.sparse.file_frequencies(stems)


def _search_files(index: IndexReader, pasted: Iterable[PastedLine], scoped: ScopedQuery) -> Shares:
    """Return the source lines in files that contain all words of a pasted line but values."""
    found: dict[int, dict[int, float]] = {}
    for line in pasted:
        words = line.known_words if line.is_compound else line.fixed_words
        if len(words) < _MIN_TERMS or (line.is_compound and len(words) < len(set(line.words))):
            continue
        stems = index.sparse.stems(" ".join(words))
        for file_id in index.sparse.files_with(stems, [], _MAX_READ_FILES, scoped.files):
            for source in find_source_lines(line, index.text(file_id)):
                found.setdefault(file_id, {}).setdefault(source.number, source.share)
    return found


def _search_chunks(index: IndexReader, pasted: Iterable[PastedLine], scoped: ScopedQuery) -> Shares:
    """Return the source lines in the chunks that full-text search finds first.

    A chunk may lack some words: those of values that were filled in.
    """
    found: dict[int, dict[int, float]] = {}
    for line in pasted:
        terms = index.sparse.stems(" ".join(line.fixed_words[:_MAX_TERMS]))
        if line.is_compound or len(terms) < _MIN_TERMS:
            continue
        wanted = [WeightedTerm(term, 1.0) for term in dict.fromkeys(terms)]
        hits = index.sparse.query(wanted, _MAX_READ_CHUNKS, scoped.files)
        rows = list(index.chunks(hits.ids.tolist()).values())
        texts = index.excerpts([(row.file_id, row.start, row.end) for row in rows])
        for row, text in zip(rows, texts, strict=True):
            for source in find_source_lines(line, text):
                number = row.start_line + source.number - 1
                found.setdefault(row.file_id, {}).setdefault(number, source.share)
    return found


def _choose(index: IndexReader, found: Shares) -> Lines:
    """Return the best lines of each file, or none if there are too many files."""
    if not found:
        return {}
    states = index.files(found)
    factors = {at: _QUOTING if quotes_messages(state.path) else 1.0 for at, state in states.items()}
    best = {at: factors[at] * max(lines.values(), default=0.0) for at, lines in found.items()}
    most = max(best.values(), default=0.0)
    near = {
        file_id: sorted(
            (number for number, share in lines.items() if share * factors[file_id] >= most * _NEAR),
            key=lambda number: (-lines[number], number),
        )[:_MAX_LINES_PER_FILE]
        for file_id, lines in found.items()
        if best[file_id] >= most * _NEAR
    }
    return near if len(near) <= _MAX_FILES else {}
