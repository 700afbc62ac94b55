"""Search the indexed text for the lines from which a pasted text comes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from rootle.index.reader import ChunkRow, IndexReader
from rootle.protocols import MAX_MATCH_TERMS, Ids, WeightedTerm
from rootle.rank.hyphenated_names import find_hyphenated_names
from rootle.rank.log_lines import is_logged
from rootle.rank.message_keys import has_message_keys
from rootle.rank.pasted_text import PastedLine, align_rows, find_source_lines, read_pasted_lines
from rootle.rank.path_features import quotes_messages
from rootle.rank.question.intent import Intent
from rootle.rank.ranking_inputs import Floats, Ints
from rootle.search.query.scope import Lines, ScopedQuery
from rootle.text.terms import find_words, whole_identifier
from rootle.text.translated_paths import is_catalogue

_MAX_FILES_WITH_WORDS: Final = 100  # files whose chunks are compared with a line of the query
_MAX_MATCHED_CHUNKS: Final = 5_000
_MAX_READ_CHUNKS: Final = 48  # chunks that are read for a line of the query
_CHUNKS_BEFORE: Final = 4  # chunks of a file with all words that are read before other chunks
_MAX_CHUNKS_OF_PART: Final = 24  # chunks that are read for each further part of a line
_MAX_TEXTS: Final = 160  # chunks that are read for one query
# A chunk is read if it has this share of a line's words. The source needs a larger share, but some
# of the words may be in the next chunk.
_CHUNK_SHARE: Final = 0.5
_MAX_TERMS: Final = 12
# The factor for the weights of words that were probably filled in.
_VALUE_WEIGHT: Final = 0.25
_MIN_TERMS: Final = 2  # fewer words do not identify a line

# A text that occurs in more files than this is no evidence for one of them.
_MAX_FILES: Final = 6
_MAX_LINES_PER_FILE: Final = 12
# Files and lines whose share is below this fraction of the best share are left out.
_NEAR: Final = 0.9
# The minimum share for descriptions. It is high because parts of a description are often in a
# document. If only documents and tests contain a text, they come first only if they have this
# share.
_WHOLE: Final = 0.94
# A sentence with fewer words than this is often in a document, although the question is about code.
_SENTENCE_WORDS: Final = 6
# The shares of documents and tests, which quote the messages of a program, are multiplied by this
# factor.
_QUOTING: Final = 0.7
# The factor for catalogues of translations. It is below _NEAR times _QUOTING, so that a document
# with the same text hides them.
_TRANSLATING: Final = 0.6
# The intents of questions that describe code instead of quoting it.
_DESCRIBING: Final[frozenset[Intent]] = frozenset(("usage", "test", "history"))
_Shares = dict[int, dict[int, dict[int, float]]]  # file id -> query row -> line number -> share


@dataclass(frozen=True, slots=True)
class TextSources:
    """The lines from which a text comes."""

    lines: Lines
    is_first: bool = False  # whether the files of these lines are the first results
    share: float = 0.0  # the share of the words that the best line has
    is_ordered: bool = False  # whether the order is that of the frames, innermost first
    has_message: bool = False  # whether code contains the message, except for filled-in values
    catalogues: tuple[int, ...] = ()  # the files of `lines` that contain messages with keys


NO_SOURCES: Final = TextSources({})


def find_sources(
    index: IndexReader, text: str, scoped: ScopedQuery, *, has_parts: bool
) -> tuple[TextSources, Sequence[str]]:
    """Return the lines from which a text comes, and the hyphenated names in it."""
    names, is_only_name = find_hyphenated_names(text)
    lines = _find_lines(index, names[0] if is_only_name else text, scoped, has_parts=has_parts)
    return lines, names


def find_files_with_names(index: IndexReader, names: Sequence[str], scoped: ScopedQuery) -> Lines:
    """Return the lines with hyphenated names, by file."""
    named = (_find_lines(index, name, scoped).lines for name in names)
    return {at: found for lines in named for at, found in lines.items()}


class _SourceSearch:
    """Finds the source lines: the lines of files from which the rows of a query come."""

    def __init__(self, index: IndexReader, files: Collection[int] | None) -> None:
        self.found: _Shares = {}
        self._index = index
        self._files = files
        self._left = _MAX_TEXTS
        self._rows: set[int] = set()  # the lines of the query that have been searched
        self._read_texts: dict[int, tuple[ChunkRow, str]] = {}  # by chunk id

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
        self._rows.add(line.row)
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
        if line.is_compound:
            return self._search_name(line)
        sparse = self._index.sparse
        needed = line if line.template is None else line.template
        words = list(dict.fromkeys([*needed.searched, *line.searched]))[:MAX_MATCH_TERMS]
        stems = sparse.stems(" ".join(words))
        ids = dict.fromkeys(
            at
            for count in {len(words), min(len(words), len(needed.searched))}
            for at in sparse.files_with(stems[:count], [], _MAX_FILES_WITH_WORDS, self._files)
        )
        if not ids:
            return {}
        terms = list(dict.fromkeys(stems))
        weights = np.zeros(len(terms))
        for word, stem in zip(words, stems, strict=True):
            factor = 1.0 if word in needed.searched else _VALUE_WEIGHT
            weights[terms.index(stem)] += line.weights[word] * factor
        chunk_ids, masks = sparse.matches(terms, _MAX_MATCHED_CHUNKS, among="file", ids=list(ids))
        values = (masks[:, None] >> np.arange(len(terms)) & 1) @ weights
        total = sum(line.weights[word] for word in needed.searched)
        least = total * (_CHUNK_SHARE if line.is_aligned else 1.0) - 1e-9
        wanted = values >= least
        chunk_ids, values = chunk_ids[wanted], values[wanted]
        order = _order_chunks(self._index.dense.find_files(chunk_ids), values)
        return self._read(line, chunk_ids[order].tolist())

    def _search_name(self, line: PastedLine) -> dict[int, dict[int, float]]:
        """Return the lines with a name of several words, such as `max-page-size` or `PAGE_SIZE`.

        The index contains whole identifiers. Chunks with them are much rarer than chunks with their
        words.
        """
        sparse = self._index.sparse
        names = dict.fromkeys(map(whole_identifier, find_words(line.text)))
        terms = list(dict.fromkeys(sparse.stems(" ".join(names))[:MAX_MATCH_TERMS]))
        ids = sparse.files_with(terms, [], _MAX_FILES_WITH_WORDS, self._files)
        chunk_ids, masks = sparse.matches(terms, _MAX_MATCHED_CHUNKS, among="file", ids=list(ids))
        chunk_ids = chunk_ids[masks == (1 << len(terms)) - 1]
        files = self._index.dense.find_files(chunk_ids)
        order = _order_chunks(files, np.ones(len(chunk_ids)))
        return self._read(line, chunk_ids[order].tolist())

    def _search_chunks(self, line: PastedLine) -> dict[int, dict[int, float]]:
        """Return the source lines in the chunks that full-text search finds first.

        A chunk may lack some words, because a message contains values that the program fills in.
        """
        needed = line if line.template is None else line.template
        terms = dict.fromkeys(self._index.sparse.stems(" ".join(needed.searched[:_MAX_TERMS])))
        wanted = [WeightedTerm(term, 1.0) for term in terms]
        hits = self._index.sparse.query(wanted, self._limit(line), self._files)
        return self._read(line, hits.ids.tolist())

    def _read(self, line: PastedLine, chunk_ids: Sequence[int]) -> dict[int, dict[int, float]]:
        """Return the source lines in chunks. New texts are read until the limit is reached."""
        found: dict[int, dict[int, float]] = {}
        for row, text in self._texts(chunk_ids[: self._limit(line)]):
            for source in find_source_lines(line, text):
                number = row.start_line + source.number - 1
                found.setdefault(row.file_id, {}).setdefault(number, source.share)
        return found

    def _limit(self, line: PastedLine) -> int:
        return _MAX_CHUNKS_OF_PART if line.row in self._rows else _MAX_READ_CHUNKS

    def _texts(self, chunk_ids: Sequence[int]) -> Iterator[tuple[ChunkRow, str]]:
        """Yield the chunks and their texts, read together. Several parts may need the same ones."""
        new = [at for at in chunk_ids if at not in self._read_texts][: self._left]
        rows = list(self._index.chunks(new).values())
        texts = self._index.excerpts([(row.file_id, row.start, row.end) for row in rows])
        self._left -= len(rows)
        self._read_texts |= {row.id: (row, text) for row, text in zip(rows, texts, strict=True)}
        return (self._read_texts[at] for at in chunk_ids if at in self._read_texts)


def _order_chunks(files: Ids, values: Floats) -> Ints:
    """Return an order with the best chunk of each file first, and then the second best of each.

    Otherwise, a file with many matching chunks, such as a recorded log, could use up the limit of
    texts. However, the first _CHUNKS_BEFORE chunks of a file come before this if no chunk has a
    higher value: several chunks of a long file have all words, but only one has the message.
    """
    by_file = np.lexsort((-values, files))
    ranks = np.arange(len(files)) - files[by_file].searchsorted(files[by_file])
    is_best = values[by_file] >= values.max(initial=0.0) - 1e-9
    ranks = np.where(is_best, ranks - _CHUNKS_BEFORE, ranks)
    order: Ints = by_file[np.lexsort((-values[by_file], ranks))]
    return order


def _find_lines(
    index: IndexReader, text: str, scoped: ScopedQuery, *, has_parts: bool = True
) -> TextSources:
    question = scoped.question.question
    is_whole = question.is_composed or question.intent in _DESCRIBING
    is_whole = is_whole and not is_logged(text)
    has_parts = has_parts and not is_whole
    lines = read_pasted_lines(text, partial(_count_files, index), has_parts=has_parts)
    search = _SourceSearch(index, scoped.files)
    for parts in lines:
        for part in parts:
            if search.find(part, may_lack_words=part.is_marked and not is_whole):
                break
    return _choose(index, lines, search.found, _WHOLE if is_whole else 0.0)


def _count_files(index: IndexReader, words: Sequence[str]) -> tuple[int, Sequence[int]]:
    stems = index.sparse.stems(" ".join(map(whole_identifier, words)))
    return index.sparse.file_frequencies(stems)


def _choose(
    index: IndexReader, lines: Sequence[Sequence[PastedLine]], found: _Shares, least: float
) -> TextSources:
    """Return the best lines of the best files, best file first; none if too many files match."""
    if not found:
        return NO_SOURCES
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
    if len(near) > _MAX_FILES and any(parts[0].has_values for parts in lines):
        near = [at for at in near if max(shares[at].values()) < 1.0]  # drop literal copies
    if share < least or not 0 < len(near) <= _MAX_FILES:
        return NO_SOURCES
    near.sort(key=lambda at: (-values[at], paths[at]))
    is_first = not quoting.issuperset(near) or _is_long(lines, share)
    return TextSources(
        {at: _best_lines(shares[at]) for at in near},
        is_first=is_first,
        share=share,
        has_message=is_first and share >= _NEAR,
        catalogues=tuple(at for at in near if has_message_keys(paths[at])),
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
