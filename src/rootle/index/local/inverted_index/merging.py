"""Decide which segments of an inverted index to merge, and merge them.

Each query visits all segments, so merging keeps their number small. It also drops deleted
documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rootle.index.local.inverted_index.postings_codec import Array
from rootle.index.local.inverted_index.segment import MAX_DOCUMENTS, FieldData, Flags, SegmentData
from rootle.index.local.inverted_index.segment_builder import ORDINAL_BITS, make_field

# Segments whose sizes differ by less than this factor are merged as soon as there are this many of
# them. With a larger factor, each query visits more segments. With a smaller factor, each edit
# rewrites more data.
_MERGE_FACTOR: Final = 4
_SMALLEST: Final = 64  # in documents; all smaller segments count as equal in size
# The maximum size of the postings in one merge. A merge decodes and sorts all postings in memory,
# which takes 30 bytes for each encoded byte.
_MAX_BYTES: Final = 8_000_000
_MAX_DEAD_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """The size of a segment, including its deleted documents."""

    documents: int
    dead: int
    bytes: int  # the size of the postings

    @property
    def level(self) -> int:
        """The order of magnitude of the number of live documents."""
        level, size = 0, _SMALLEST
        while size < self.documents - self.dead:
            level, size = level + 1, size * _MERGE_FACTOR
        return level


def choose_merge(sizes: Sequence[SegmentSize]) -> list[int]:
    """Return the positions of the segments to merge next, [] if there is nothing to do."""
    for at, size in enumerate(sizes):
        if size.dead > _MAX_DEAD_SHARE * size.documents:
            return [at]
    by_level: defaultdict[int, list[int]] = defaultdict(list)
    for at, size in enumerate(sizes):
        by_level[size.level].append(at)
    for level in sorted(by_level):
        chosen = _first_that_fit([(at, sizes[at]) for at in by_level[level]])
        if len(chosen) >= _MERGE_FACTOR:
            return chosen
    return []


def _first_that_fit(candidates: Sequence[tuple[int, SegmentSize]]) -> list[int]:
    documents = size_bytes = 0
    chosen = []
    for at, size in sorted(candidates, key=lambda candidate: candidate[1].documents):
        documents += size.documents - size.dead
        size_bytes += size.bytes
        if documents > MAX_DOCUMENTS or size_bytes > _MAX_BYTES:
            break
        chosen.append(at)
    return chosen


def merge_segments(parts: Sequence[tuple[SegmentData, Flags]]) -> SegmentData:
    """Merge segments into one. The flags of each segment mark the documents to keep."""
    ids = np.concatenate([data.ids[live] for data, live in parts])
    file_ids = np.concatenate([data.file_ids[live] for data, live in parts])
    order = ids.argsort()
    ordinals = np.empty(len(ids), np.int64)
    ordinals[order] = np.arange(len(ids))
    # The new position of each document, -1 for a deleted one, as an array per segment.
    moved, start = [], 0
    for data, live in parts:
        positions = np.full(len(data.ids), -1, np.int64)
        count = int(live.sum())
        positions[live] = ordinals[start : start + count]
        moved.append(positions)
        start += count
    names = parts[0][0].fields
    fields = {
        name: _merge_field([data.fields[name] for data, _ in parts], moved, len(ids))
        for name in names
    }
    return SegmentData(ids[order], file_ids[order], fields)


def _merge_field(
    fields: Sequence[FieldData], moved: Sequence[Array], document_count: int
) -> FieldData:
    numbers: defaultdict[bytes, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    keys, counts, hashes = [], [], []
    lengths = np.zeros(document_count, np.int64)
    for field, positions in zip(fields, moved, strict=True):
        known = len(numbers)
        own = np.fromiter(map(numbers.__getitem__, field.terms), np.int64, len(field.hashes))
        hashes.append(field.hashes[own >= known])
        terms, documents, field_counts = field.postings.decode_all()
        documents = positions[documents]
        is_live = documents >= 0
        keys.append((own[terms] << ORDINAL_BITS | documents)[is_live])
        counts.append(field_counts[is_live])
        live = positions >= 0
        lengths[positions[live]] = field.lengths[live]
    return make_field(
        list(numbers), np.concatenate(hashes), np.concatenate(keys), np.concatenate(counts), lengths
    )
