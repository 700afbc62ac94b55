"""Collect documents in memory and sort their terms into the postings of a segment."""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from rootle.index.local.inverted_index.postings_codec import Array, encode_postings, shrink
from rootle.index.local.inverted_index.segment import MAX_DOCUMENTS, FieldData, SegmentData
from rootle.protocols import Ids

# A segment is built after this many terms, because sorting takes 30 bytes of memory per term.
_MAX_TERMS: Final = 4_000_000
ORDINAL_BITS: Final = 16

Terms: TypeAlias = "array[int]"  # numbers of terms, which may repeat


class TermNumbers:
    """Numbers the distinct terms of a field in the order of their first use."""

    def __init__(self) -> None:
        # Looking up a new term gives it the next number.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def number(self, text: str) -> Terms:
        """Return the numbers of space-separated terms, in order."""
        return array("I", map(self._numbers.__getitem__, text.split()))

    def terms(self) -> list[bytes]:
        """Return all terms in the order of their numbers."""
        return [term.encode() for term in self._numbers]


class SegmentBuilder:
    """The documents of the next segment."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._ids = array("q")
        self._file_ids = array("q")
        self._fields = {name: _FieldBuilder() for name in fields}
        self._term_count = 0

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def is_full(self) -> bool:
        """Whether the segment must be built before another document is added."""
        return len(self._ids) >= MAX_DOCUMENTS or self._term_count >= _MAX_TERMS

    def add(self, document_id: int, file_id: int, terms: Mapping[str, Terms]) -> None:
        """Add a document; `terms` are the numbers of the terms in each field."""
        self._ids.append(document_id)
        self._file_ids.append(file_id)
        for name, own in terms.items():
            self._fields[name].add(own)
            self._term_count += len(own)

    def build(self, numbers: Mapping[str, TermNumbers]) -> SegmentData:
        """Return the postings of all documents. `numbers` contains the terms of each field."""
        ids = np.array(self._ids, np.int64)
        order = ids.argsort()
        ordinals = np.empty(len(ids), np.int64)
        ordinals[order] = np.arange(len(ids))
        fields = {
            name: field.build(numbers[name].terms(), ordinals)
            for name, field in self._fields.items()
        }
        return SegmentData(ids[order], np.array(self._file_ids, np.int64)[order], fields)


class _FieldBuilder:
    def __init__(self) -> None:
        self._terms: Terms = array("I")  # the terms of all documents, one document after another
        self._ends = array("I")  # the end of each document in `_terms`

    def add(self, terms: Terms) -> None:
        self._terms.extend(terms)
        self._ends.append(len(self._terms))

    def build(self, terms: Sequence[bytes], ordinals: Ids) -> FieldData:
        """Return the postings. `ordinals` are the positions of the documents in the segment."""
        lengths = _differences(np.array(self._ends, np.int64))
        keys = np.array(self._terms, np.int64) << ORDINAL_BITS
        keys |= ordinals.repeat(lengths)
        keys.sort()
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = _differences(np.append(firsts, len(keys)))[1:]
        by_ordinal = np.empty(len(lengths), np.int64)
        by_ordinal[ordinals] = lengths
        hashes = np.fromiter(map(zlib.crc32, terms), np.uint32, len(terms))
        return make_field(terms, hashes, keys[firsts], counts, by_ordinal)


def term_order(hashes: Array, terms: Sequence[bytes]) -> Ids:
    """Return the order of terms by hash. Terms with equal hashes are ordered by their bytes."""
    order = hashes.argsort(kind="stable")
    ordered = hashes[order]
    if (ordered[1:] == ordered[:-1]).any():
        pairs = sorted(range(len(terms)), key=lambda at: (int(hashes[at]), terms[at]))
        return np.array(pairs, np.int64)
    return order


def _differences(values: Ids) -> Ids:
    differences: Ids = np.diff(values, prepend=0)
    return differences


def make_field(
    terms: Sequence[bytes], hashes: Array, keys: Array, counts: Array, lengths: Array
) -> FieldData:
    """Return the data of a field, without the terms that have no posting.

    `keys` are the postings in any order. A key consists of the number of the term, shifted left by
    16 bits, and the position of the document. `counts` are the numbers of occurrences.
    """
    is_used = np.zeros(len(terms), bool)
    is_used[keys >> ORDINAL_BITS] = True
    order = term_order(hashes, terms)
    order = order[is_used[order]]
    ranks = np.zeros(len(terms), np.int64)
    ranks[order] = np.arange(len(order))
    keys = ranks[keys >> ORDINAL_BITS] << ORDINAL_BITS | keys & (MAX_DOCUMENTS - 1)
    sorting = keys.argsort()
    keys = keys[sorting]
    used = [terms[at] for at in order.tolist()]
    ordinals = keys & (MAX_DOCUMENTS - 1)
    postings = encode_postings(keys >> ORDINAL_BITS, ordinals, counts[sorting], len(used))
    return FieldData(used, hashes[order], postings, shrink(lengths))
