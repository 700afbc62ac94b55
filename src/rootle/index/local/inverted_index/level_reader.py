"""Rank the live documents of one level (all chunks, or all files) by BM25."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from rootle.index.local.document_order import DocumentOrder, top_positions
from rootle.index.local.inverted_index.bm25 import (
    FieldStatistics,
    Floats,
    saturate,
    term_weight,
)
from rootle.index.local.inverted_index.postings_codec import Array, Postings
from rootle.index.local.inverted_index.segment import Flags, Segment
from rootle.protocols import NO_HITS, Ids, RankedIds, WeightedTerm

# Adding scores in an array of all documents is faster than sorting the postings if there are more
# postings than documents divided by this factor.
_SPARSE_FACTOR: Final = 2
# One question searches several times for the same terms in the same fields, for example in all
# chunks and then in those of the best files. The scores of the last `_MAX_KEPT` searches are kept,
# except those of more than `_MAX_KEPT_DOCUMENTS` documents (16 bytes each).
_MAX_KEPT: Final = 8
_MAX_KEPT_DOCUMENTS: Final = 100_000


class LiveSegment:
    """A segment at one generation. A later commit may have deleted more of its documents."""

    def __init__(self, segment: Segment, live: Flags | None) -> None:
        self.segment = segment
        self.live = live

    @cached_property
    def live_count(self) -> int:
        return self.segment.count if self.live is None else int(self.live.sum())

    def total_length(self, field: str) -> int:
        """Return the total number of terms in a field of the live documents."""
        reader = self.segment.fields[field]
        if self.live is None:
            return reader.total_length
        return int(reader.lengths[self.live].sum(dtype=np.int64))

    def postings(self, field: str, term: str) -> Postings | None:
        """Return the live postings of a term; None if there are none."""
        found = self.segment.fields[field].postings(term)
        return found if found is None or self.live is None else self._drop_dead(found)

    def list_postings(self, field: str, terms: Sequence[str]) -> list[tuple[int, Postings]]:
        """Return the live postings of the terms that have any, each with the term's position."""
        found = self.segment.fields[field].list_postings(terms)
        if self.live is None:
            return found
        return [(at, own) for at, one in found if (own := self._drop_dead(one)) is not None]

    def documents_near(self, field: str, word: str, distance: int) -> Flags:
        """Return a flag per document: whether it has a term within `distance` edits of `word`."""
        table = self.segment.fields[field].term_list
        return self._documents(field, table.find_near(word, distance))

    def documents_containing(self, field: str, part: str) -> Flags:
        """Return a flag per document: whether it has a term that contains `part`."""
        return self._documents(field, self.segment.fields[field].term_list.containing(part))

    def _documents(self, field: str, terms: Sequence[int]) -> Flags:
        is_found = np.zeros(self.segment.count, bool)
        for at in terms:
            is_found[self.segment.fields[field].postings_at(at).documents] = True
        return is_found if self.live is None else is_found & self.live

    def _drop_dead(self, found: Postings) -> Postings | None:
        if self.live is None:
            return found
        is_live = self.live[found.documents]
        if not is_live.any():
            return None
        return Postings(found.documents[is_live], found.counts[is_live])


_WeightedPostings = tuple[Postings, float]  # the live postings of a term, and its weight
# A document and a score for each posting of several terms, term by term.
_ScoredPostings = tuple[Array, Floats]
# Takes a segment and positions of documents in it. Returns a flag per position: whether to search
# this document.
Only = Callable[[LiveSegment, Ids], Flags]
# Positions of documents in a segment, and their scores.
_FoundDocuments = tuple[Segment, Ids, Floats]
_Terms = tuple[tuple[str, ...], tuple[WeightedTerm, ...]]  # the fields, and the terms in them


class LevelReader:
    """The documents of one level: all chunks, or all files."""

    def __init__(self, segments: Sequence[LiveSegment], order: DocumentOrder) -> None:
        self.segments = segments
        self._order = order
        self._statistics: dict[str, FieldStatistics] = {}
        self._kept: deque[tuple[_Terms, Sequence[_FoundDocuments]]] = deque(maxlen=_MAX_KEPT)
        self.count = sum(segment.live_count for segment in segments)

    def frequencies(self, field: str, terms: Sequence[str]) -> list[int]:
        """Return for each term the number of documents that contain it in a field."""
        counts = [0] * len(terms)
        for segment in self.segments:
            for at, postings in segment.list_postings(field, terms):
                counts[at] += len(postings.documents)
        return counts

    def search(
        self,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        only: Only | None = None,
    ) -> RankedIds:
        """Return at most k documents by the sum of their BM25 scores in the fields, best first.

        `only` selects the documents to search, by default all.
        """
        found = self._scores(tuple(fields), tuple(terms))
        if only is None:
            return self.best(found, k)
        wanted = []
        for part, (segment, at, scores) in zip(self.segments, found, strict=False):
            is_wanted = only(part, at)
            wanted.append((segment, at[is_wanted], scores[is_wanted]))
        return self.best(wanted, k)

    def _scores(
        self, fields: tuple[str, ...], terms: tuple[WeightedTerm, ...]
    ) -> Sequence[_FoundDocuments]:
        """Return the documents with the terms, and their scores, by segment; () if there are none.

        Other threads may use the kept scores at the same time, so the caller must not change them.
        """
        key = fields, terms
        # Comparing a few keys is faster than hashing all terms. The keys are copied because another
        # thread may add one meanwhile.
        for known, kept in tuple(self._kept):
            if known == key:
                return kept
        found = self._add_fields(fields, terms)
        if sum(len(at) for _, at, _ in found) <= _MAX_KEPT_DOCUMENTS:
            self._kept.append((key, found))
        return found

    def _add_fields(
        self, fields: Sequence[str], terms: Sequence[WeightedTerm]
    ) -> Sequence[_FoundDocuments]:
        scored = [self._score_field(field, terms) for field in fields] if self.segments else []
        if all(one is None for own in scored for one in own):
            return ()
        found = []
        for segment, *own in zip(self.segments, *scored, strict=True):
            at, scores = _add_scores(segment.segment.count, [one for one in own if one is not None])
            found.append((segment.segment, at, scores))
        return found

    def best(self, found: Sequence[_FoundDocuments], k: int) -> RankedIds:
        """Return the k best documents. Each item is a segment, positions in it and their scores."""
        if k <= 0 or not found:
            return NO_HITS
        scores = _join([own for _, _, own in found]).astype(np.float32)
        chosen = [(segment, at) for segment, at, _ in found]
        if len(scores) > k:
            top = top_positions(scores, k)
            chosen, scores = _select(chosen, top), scores[top]
        ids = _join([segment.ids[at] for segment, at in chosen])
        files = _join([segment.file_ids[at] for segment, at in chosen])
        return self._order.rank(ids, files, scores, k)

    def _score_field(
        self, field: str, terms: Sequence[WeightedTerm]
    ) -> list[_ScoredPostings | None]:
        """Return the scores of the terms by segment; None for a segment without these terms."""
        statistics = self._field_statistics(field)
        texts = [term.text for term in terms]
        found = [part.list_postings(field, texts) for part in self.segments]
        counts = dict.fromkeys([at for own in found for at, _ in own], 0)
        for own in found:
            for at, postings in own:
                counts[at] += len(postings.documents)
        weights = {
            at: term_weight(terms[at].weight, count, statistics) for at, count in counts.items()
        }
        return [
            _score_postings(
                part.segment.fields[field].rounded_lengths,
                [(postings, weights[at]) for at, postings in own],
                statistics,
            )
            for part, own in zip(self.segments, found, strict=True)
        ]

    def _field_statistics(self, field: str) -> FieldStatistics:
        if field not in self._statistics:
            length = sum(segment.total_length(field) for segment in self.segments)
            self._statistics[field] = FieldStatistics(self.count, length)
        return self._statistics[field]


def _select(found: Sequence[tuple[Segment, Ids]], positions: Ids) -> list[tuple[Segment, Ids]]:
    """Return the documents at the given positions in the concatenated lists of all segments."""
    selected, start = [], 0
    for segment, at in found:
        first, last = positions.searchsorted((start, start + len(at)))
        selected.append((segment, at[positions[first:last] - start]))
        start += len(at)
    return selected


def _score_postings(
    lengths: Array, found: Sequence[_WeightedPostings], statistics: FieldStatistics
) -> _ScoredPostings | None:
    """Return the scores of all terms in one segment; None if it contains no term."""
    if not found:
        return None
    documents = _join([postings.documents for postings, _ in found])
    counts = _join([postings.counts for postings, _ in found])
    weights = np.array([weight for _, weight in found])
    sizes = [len(postings.documents) for postings, _ in found]
    return documents, weights.repeat(sizes) * saturate(counts, lengths[documents], statistics)


def _add_scores(count: int, scored: Sequence[_ScoredPostings]) -> tuple[Ids, Floats]:
    """Return the distinct documents of a segment of `count` documents, and their total scores."""
    if not scored:
        return np.zeros(0, np.int64), np.zeros(0)
    documents = _join([own for own, _ in scored])
    values = _join([scores for _, scores in scored])
    # `bincount` adds one value after another. The scores of a document are therefore added in the
    # order of the terms, and the sum is the same to the last bit, no matter which segment contains
    # the document.
    if len(documents) > count // _SPARSE_FACTOR:
        is_found = np.zeros(count, bool)
        is_found[documents] = True
        at: Ids = np.flatnonzero(is_found)
        return at, np.bincount(documents, values, count)[at].astype(np.float64, copy=False)
    order = documents.argsort(kind="stable")
    ordered = documents[order]
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    totals = np.bincount(is_first.cumsum() - 1, values[order])
    return ordered[is_first].astype(np.int64), totals.astype(np.float64, copy=False)


def _join(arrays: Sequence[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
