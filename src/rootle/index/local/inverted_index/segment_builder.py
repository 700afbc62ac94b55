"""Collect documents in memory and sort their terms into the postings of a segment."""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from rootle.index.local.inverted_index.postings_codec import Array, encode_postings, shrink
from rootle.index.local.inverted_index.segment import MAX_DOCUMENTS, FieldData, SegmentData
from rootle.protocols import Ids

# Sorting the terms takes 30 bytes each.
_MAX_TERMS: Final = 4_000_000
ORDINAL_BITS: Final = 16


class SegmentBuilder:
    """The documents of the next segment."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._ids = array("q")
        self._file_ids = array("q")
        self._fields = {name: _FieldBuilder() for name in fields}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def is_full(self) -> bool:
        terms = sum(field.term_count for field in self._fields.values())
        return len(self._ids) >= MAX_DOCUMENTS or terms >= _MAX_TERMS

    def add(self, document_id: int, file_id: int, texts: Mapping[str, str]) -> None:
        """Add a document; `texts` are the space-separated terms of each field."""
        self._ids.append(document_id)
        self._file_ids.append(file_id)
        for name, field in self._fields.items():
            field.add(texts[name])

    def build(self) -> SegmentData:
        """Return the postings of all documents."""
        ids = np.array(self._ids, np.int64)
        order = ids.argsort()
        ordinals = np.empty(len(ids), np.int64)
        ordinals[order] = np.arange(len(ids))
        fields = {name: field.build(ordinals) for name, field in self._fields.items()}
        return SegmentData(ids[order], np.array(self._file_ids, np.int64)[order], fields)


class _FieldBuilder:
    def __init__(self) -> None:
        # Looking up a new term gives it the next number.
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._terms = array("I")  # of all documents, one after another
        self._ends = array("I")  # of each document in `_terms`

    @property
    def term_count(self) -> int:
        return len(self._terms)

    def add(self, text: str) -> None:
        if text:
            self._terms.extend(map(self._numbers.__getitem__, text.split()))
        self._ends.append(len(self._terms))

    def build(self, ordinals: Ids) -> FieldData:
        """Return the postings; `ordinals` are the positions of the documents in the segment."""
        lengths = _differences(np.array(self._ends, np.int64))
        terms = [term.encode() for term in self._numbers]
        hashes = np.fromiter(map(zlib.crc32, terms), np.uint32, len(terms))
        order = term_order(hashes, terms)
        ranks = np.empty(len(terms), np.int64)
        ranks[order] = np.arange(len(terms))
        keys = ranks[np.array(self._terms, np.uint32)] << ORDINAL_BITS
        keys |= np.repeat(ordinals, lengths)
        keys.sort()
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        by_ordinal = np.empty(len(lengths), np.int64)
        by_ordinal[ordinals] = lengths
        return make_field(
            [terms[at] for at in order.tolist()],
            hashes[order],
            keys[firsts],
            _differences(np.append(firsts, len(keys)))[1:],
            by_ordinal,
        )


def term_order(hashes: Array, terms: Sequence[bytes]) -> Ids:
    """Return the order of terms by hash, and of those with equal hashes by their bytes."""
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
    terms: Sequence[bytes], hashes: Array, keys: Ids, counts: Ids, lengths: Ids
) -> FieldData:
    """Return the data of a field.

    `keys` are the postings in ascending order: the position of the term, shifted by 16 bits, and
    the position of the document. `counts` are the numbers of occurrences.
    """
    sizes = np.fromiter(map(len, terms), np.int64, len(terms)) + 1
    text_starts = np.concatenate([np.zeros(1, np.int64), sizes.cumsum()])
    return FieldData(
        hashes.astype("<u4"),
        np.frombuffer(b"".join([term + b"\n" for term in terms]), np.uint8),
        text_starts.astype("<u4"),
        encode_postings(
            keys >> ORDINAL_BITS, keys & (MAX_DOCUMENTS - 1), counts, term_count=len(terms)
        ),
        shrink(lengths),
    )
