"""Search the indexed text for the lines from which a pasted line comes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from rootle.index.reader import ChunkRow, IndexReader
from rootle.protocols import MAX_MATCH_TERMS, Ids, WeightedTerm
from rootle.rank.pasted_text import PastedLine, find_source_lines
from rootle.rank.path_features import quotes_messages
from rootle.rank.ranking_inputs import Floats, Ints

_MAX_FILES_WITH_WORDS: Final = 100  # files whose chunks are compared with a line of the query
_MAX_MATCHED_CHUNKS: Final = 5_000
_MAX_READ_CHUNKS: Final = 48  # chunks that are read for a line of the query
_MAX_CHUNKS_OF_PART: Final = 24  # chunks that are read for each further part of a line
_MAX_TEXTS: Final = 160  # chunks that are read for one query
# A chunk is read if it has this share of a line's words. The source needs a larger share, but some
# of the words may be in the next chunk.
_CHUNK_SHARE: Final = 0.5
_MAX_TERMS: Final = 12
# The factor for the weights of words that were probably filled in.
_VALUE_WEIGHT: Final = 0.25
_MIN_TERMS: Final = 2  # fewer words do not identify a line

Shares = dict[int, dict[int, dict[int, float]]]  # by file id, row of the query and line number


class SourceSearch:
    """Finds the source lines: the lines of files from which the rows of a query come."""

    def __init__(self, index: IndexReader, files: Collection[int] | None) -> None:
        self.found: Shares = {}
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
    texts.
    """
    by_file = np.lexsort((-values, files))
    ranks = np.arange(len(files)) - files[by_file].searchsorted(files[by_file])
    order: Ints = by_file[np.lexsort((-values[by_file], ranks))]
    return order
