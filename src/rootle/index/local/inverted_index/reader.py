"""Full-text search in chunks and in whole files: BM25 over the segments of an inverted index.

Chunks and files have separate segments, because their document frequencies and lengths differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.document_order import DocumentOrder, top_positions
from rootle.index.local.inverted_index.bm25 import (
    FieldStatistics,
    Floats,
    saturate,
    term_weight,
)
from rootle.index.local.inverted_index.commit_state import (
    FIELDS,
    LEVELS,
    SegmentEntry,
    read_state,
    segment_path,
)
from rootle.index.local.inverted_index.postings_codec import Array, Postings
from rootle.index.local.inverted_index.segment import Flags, Segment, is_in_sorted
from rootle.index.local.inverted_index.segment_file import damage
from rootle.index.local.inverted_index.term_scan import terms_containing, terms_near
from rootle.index.reader import Level
from rootle.protocols import MAX_MATCH_TERMS, NO_HITS, Ids, Ranked, WeightedTerm
from rootle.text.stemmer import open_stemmer

# Adding scores in an array of all documents is faster than sorting if at least this share of the
# documents has a posting.
_SPARSE_FACTOR: Final = 2


class LiveSegment:
    """A segment at one generation: a later commit may have deleted more of its documents."""

    def __init__(self, segment: Segment, live: Flags | None) -> None:
        self.segment = segment
        self.live = live

    @cached_property
    def live_count(self) -> int:
        return self.segment.count if self.live is None else int(self.live.sum())

    def total_length(self, field: str) -> int:
        """Return the number of terms in a field of all live documents."""
        reader = self.segment.fields[field]
        if self.live is None:
            return reader.total_length
        return int(reader.data.lengths[self.live].sum(dtype=np.int64))

    def postings(self, field: str, term: str) -> Postings | None:
        """Return the live postings of a term; None if there are none."""
        found = self.segment.fields[field].postings(term)
        return None if found is None else self._drop_dead(found)

    def documents_near(self, field: str, word: str, distance: int) -> Flags:
        """Return which documents contain a term at most `distance` edits from a word."""
        reader = self.segment.fields[field]
        return self._documents(field, terms_near(reader, word, distance))

    def documents_containing(self, field: str, part: str) -> Flags:
        """Return which documents contain a term of which `part` is a substring."""
        return self._documents(field, terms_containing(self.segment.fields[field], part))

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


# A document and a score for each posting of several terms, term by term.
_Scored = tuple[Array, Floats]
# Returns which documents, given by their positions in a segment, to search.
Only = Callable[[LiveSegment, Ids], Flags]


class LevelReader:
    """The documents of one level: all chunks, or all files."""

    def __init__(self, segments: Sequence[LiveSegment], order: DocumentOrder) -> None:
        self.segments = segments
        self._order = order
        self._statistics: dict[str, FieldStatistics] = {}
        self.count = sum(segment.live_count for segment in segments)

    def frequency(self, field: str, term: str) -> int:
        """Return the number of documents that contain a term."""
        found = (segment.postings(field, term) for segment in self.segments)
        return sum(len(postings.documents) for postings in found if postings is not None)

    def search(
        self,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        only: Only | None = None,
    ) -> Ranked:
        """Return at most k documents by the sum of the BM25 scores over the fields, best first.

        `only` returns which of some documents of a segment to search.
        """
        scored = [self._score_field(field, terms) for field in fields]
        found = []
        for segment, *own in zip(self.segments, *scored, strict=True):
            at, scores = _add_scores(segment.segment.count, [one for one in own if one is not None])
            if only is not None:
                is_wanted = only(segment, at)
                at, scores = at[is_wanted], scores[is_wanted]
            found.append((segment.segment, at, scores))
        return self.best(found, k)

    def best(self, found: Sequence[tuple[Segment, Ids, Floats]], k: int) -> Ranked:
        """Return the k best documents; each item has a segment, its documents and their scores."""
        if k <= 0 or not found:
            return NO_HITS
        scores = np.concatenate([own for _, _, own in found]).astype(np.float32)
        top = top_positions(scores, k)
        starts = np.cumsum([0, *(len(at) for _, at, _ in found)])
        edges = top.searchsorted(starts)
        ids, files = [], []
        for number, (segment, documents, _) in enumerate(found):
            own = documents[top[edges[number] : edges[number + 1]] - starts[number]]
            ids.append(segment.ids[own])
            files.append(segment.file_ids[own])
        return self._order.rank(np.concatenate(ids), np.concatenate(files), scores[top], k)

    def _score_field(self, field: str, terms: Sequence[WeightedTerm]) -> list[_Scored | None]:
        """Return the scores of each term in each segment, None if no term occurs in it."""
        statistics = self._field_statistics(field)
        by_segment: list[list[tuple[Postings, float]]] = [[] for _ in self.segments]
        for term in terms:
            postings = [segment.postings(field, term.text) for segment in self.segments]
            count = sum([len(found.documents) for found in postings if found is not None])
            weight = term_weight(term.weight, count, statistics)
            for own, found in zip(by_segment, postings, strict=True):
                if found is not None:
                    own.append((found, weight))
        return [
            _score_postings(segment.segment.fields[field].data.lengths, own, statistics)
            for segment, own in zip(self.segments, by_segment, strict=True)
        ]

    def _field_statistics(self, field: str) -> FieldStatistics:
        if field not in self._statistics:
            length = sum(segment.total_length(field) for segment in self.segments)
            self._statistics[field] = FieldStatistics(self.count, length)
        return self._statistics[field]


def _score_postings(
    lengths: Array, weighted: Sequence[tuple[Postings, float]], statistics: FieldStatistics
) -> _Scored | None:
    if not weighted:
        return None
    documents = np.concatenate([found.documents for found, _ in weighted])
    counts = np.concatenate([found.counts for found, _ in weighted])
    sizes = [len(found.documents) for found, _ in weighted]
    weights = np.array([weight for _, weight in weighted]).repeat(sizes)
    return documents, weights * saturate(counts, lengths[documents], statistics)


def _add_scores(count: int, scored: Sequence[_Scored]) -> tuple[Ids, Floats]:
    """Return the distinct documents of a segment of `count` documents, and their total scores."""
    if not scored:
        return np.zeros(0, np.int64), np.zeros(0)
    documents = np.concatenate([own for own, _ in scored])
    values = np.concatenate([scores for _, scores in scored])
    # The scores of a document are added in the order of the terms, whatever its segment, so that
    # the sum is the same to the last bit. `bincount` adds one value after the other.
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


class EmbeddedSparse:
    """The inverted index at one generation. Thread-safe.

    All methods raise IndexStorageError if they find damage.
    """

    def __init__(
        self,
        folder: Path,
        order: DocumentOrder | None = None,
        earlier: EmbeddedSparse | None = None,
    ) -> None:
        """Open the newest generation. Segments that `earlier` has opened are shared with it.

        `order` breaks ties, by default the ids of the files.
        """
        state = read_state(folder)
        self.generation = state.generation
        self.segments: dict[str, Segment] = {}  # by name
        known = earlier.segments if earlier is not None else {}
        self._levels = {}
        for level in LEVELS:
            segments = []
            for entry in state.segments[level]:
                path = segment_path(folder, entry.name)
                segment = known.get(entry.name) or Segment(path, FIELDS[level])
                self.segments[entry.name] = segment
                segments.append(LiveSegment(segment, _live(entry, segment, path)))
            self._levels[level] = LevelReader(segments, order or DocumentOrder())
        self._stem = open_stemmer()
        self._last_files: tuple[Collection[int], Ids] = ((), np.zeros(0, np.int64))

    def stems(self, terms: str) -> list[str]:
        """Return the stems of space-separated terms, in order."""
        return self._stem(terms)

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> Ranked:
        """Return at most k chunk ids by BM25 of their text, best first."""
        return self.field_scores("chunks", ["body"], terms, k, files=files)

    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> Ranked:
        """Return chunk or file ids by BM25 over the given fields, best first.

        If `files` is given, only those files and their chunks are searched. Equal scores are in the
        order of paths and lines.
        """
        return self._levels[level].search(fields, terms, k, self._in_files(files))

    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the chunks that contain any of at most 20 terms, and which terms each contains.

        Only the given chunks are searched, or the chunks of the given files, depending on `among`.
        The result has at most k chunk ids, and for each a mask in which bit i is set if the chunk
        contains term i. If more chunks match, those that contain the last terms are preferred.
        """
        if len(terms) > MAX_MATCH_TERMS:
            raise ValueError(f"{len(terms)} terms, at most {MAX_MATCH_TERMS} fit into one mask")
        wanted = np.sort(np.array(ids, np.int64))
        found = []
        for part in self._levels["chunks"].segments:
            if among == "file":
                at = part.segment.documents_of(wanted)
            else:
                at = np.flatnonzero(is_in_sorted(part.segment.ids, wanted))
            ordinals, masks = at.astype(np.uint16), np.zeros(len(at), np.int64)
            for bit, term in enumerate(terms if len(at) else ()):
                postings = part.postings("body", term)
                if postings is not None:
                    masks |= is_in_sorted(ordinals, postings.documents).astype(np.int64) << bit
            found.append((part.segment, at[masks > 0], masks[masks > 0].astype(np.float64)))
        # Masks have at most 20 bits, which a score represents exactly.
        best = self._levels["chunks"].best(found, k)
        return best.ids, best.scores.astype(np.int64)

    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        """Return the number of files, and the document frequency of each term."""
        files = self._levels["files"]
        return files.count, [files.frequency("body", term) for term in terms]

    def definers(self, names: Sequence[str], k: int = 1_000) -> dict[str, list[int]]:
        """Return for each normalized name at most k chunks that define it."""
        search = self._levels["chunks"].search
        return {
            name: search(["defines"], [WeightedTerm(name, 1.0)], k).ids.tolist() for name in names
        }

    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> list[int]:
        """Return at most k files by BM25 of the terms, best first.

        A file must contain each of `terms`, and for each of `parts` a term of which the part is a
        substring.
        """
        level, only = self._levels["files"], self._in_files(files)
        chosen = {}
        for part in level.segments:
            is_chosen = np.ones(part.segment.count, bool)
            if only is not None:
                is_chosen &= only(part, np.arange(part.segment.count))
            for term in terms:
                is_chosen &= _documents_of(part, part.postings("body", term))
            for text in parts:
                if is_chosen.any():
                    is_chosen &= part.documents_containing("body", text)
            chosen[part] = is_chosen if part.live is None else is_chosen & part.live
        if terms:
            weighted = [WeightedTerm(term, 1.0) for term in terms]
            ranked = level.search(["body"], weighted, k, lambda part, at: chosen[part][at])
            found: list[int] = ranked.ids.tolist()
            return found
        return _list_documents(level, chosen.values(), k)

    def near_definers(self, name: str, distance: int, k: int) -> list[int]:
        """Return at most k chunks that define a name at most `distance` edits from `name`."""
        level = self._levels["chunks"]
        found = [part.documents_near("defines", name, distance) for part in level.segments]
        return _list_documents(level, found, k)

    def is_known(self, name: str) -> bool:
        """Return whether a normalized name is defined or occurs in any chunk."""
        chunks = self._levels["chunks"]
        return bool(
            chunks.frequency("defines", name)
            or any(chunks.frequency("body", stem) for stem in self.stems(name))
        )

    def _in_files(self, files: Collection[int] | None) -> Only | None:
        if files is None:
            return None
        known, wanted = self._last_files
        if known is not files:  # the searches of one question pass the same collection
            wanted = np.sort(np.fromiter(files, np.int64, len(files)))
            self._last_files = files, wanted
        return lambda part, at: is_in_sorted(part.segment.file_ids[at], wanted)


def _live(entry: SegmentEntry, segment: Segment, path: Path) -> Flags | None:
    try:
        return entry.live(segment.count)
    except ValueError as error:
        raise damage(path, "deleted documents") from error


def _documents_of(part: LiveSegment, postings: Postings | None) -> Flags:
    is_found = np.zeros(part.segment.count, bool)
    if postings is not None:
        is_found[postings.documents] = True
    return is_found


def _list_documents(level: LevelReader, chosen: Iterable[Flags], k: int) -> list[int]:
    """Return at most k of the chosen documents, in the order of paths and lines."""
    found = []
    for part, flags in zip(level.segments, chosen, strict=True):
        at = np.flatnonzero(flags)
        found.append((part.segment, at, np.zeros(len(at))))
    ids: list[int] = level.best(found, k).ids.tolist()
    return ids
