"""Compress the postings of a field.

The postings of a term are a block of bytes: its documents, then its counts. Documents are written
as 16-bit numbers, or as the gaps between them. A gap is written as a byte 255 for each 255
documents in it, and a byte for the rest. Counts take no space if all of them are 1, else 4, 8 or 16
bits each. Each term is written in the encoding (its "form") that takes the least space. Most blocks
are half as large as without compression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # an array of numbers of any type
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_GAP: Final = 255  # a byte that advances without a document
# If this bit of a form is set, the documents are written as gaps. The other bits are the form of
# the counts.
_HAS_GAPS: Final = 4
_ONES, _NIBBLES, _SINGLES, _PAIRS = range(4)  # forms of counts
_MAX_COUNT: Final = (1 << 16) - 1  # a higher count is stored as this value


class Postings(NamedTuple):
    """The documents that contain a term, ascending, and how often each contains it."""

    documents: Array
    counts: Array


@dataclass(frozen=True, slots=True)
class EncodedPostings:
    """The postings of all terms of a field, one item per term, except as noted."""

    forms: Array
    frequencies: Array  # the number of documents with each term
    starts: Array  # the start of each block, and the end of the last block
    blocks: Array  # the bytes of all blocks

    def decode_all(self) -> tuple[Ints, Ints, Ints]:
        """Return the term, document and count of each posting, in any order."""
        none = np.zeros(0, np.int64)
        parts = [self._decode_form(form) for form in sorted(set(self.forms.tolist()))]
        terms, documents, counts = (
            np.concatenate([none, *(part[column] for part in parts)]) for column in range(3)
        )
        return terms, documents, counts

    def _decode_form(self, form: int) -> tuple[Ints, Ints, Ints]:
        """Return the postings of all terms of one form."""
        terms = np.flatnonzero(self.forms == form)
        frequencies = self.frequencies[terms].astype(np.int64)
        starts, ends = self.starts[terms].astype(np.int64), self.starts[terms + 1].astype(np.int64)
        count_sizes = _count_bytes(form, frequencies)
        sizes = ends - starts - count_sizes
        encoded = self.blocks[concatenate_ranges(starts, sizes)]
        if form & _HAS_GAPS:
            steps = encoded.cumsum(dtype=np.int64)
            firsts = sizes.cumsum() - sizes
            steps -= np.repeat(steps[firsts] - encoded[firsts], sizes)
            documents = steps[encoded != _GAP]
        else:
            documents = encoded.view("<u2").astype(np.int64)
        counts = _decode_counts(
            self.blocks[concatenate_ranges(ends - count_sizes, count_sizes)],
            form,
            int(frequencies.sum()),
        )
        if form & 3 == _NIBBLES:  # drop the unused half of the last byte of a term
            counts = counts[
                concatenate_ranges(2 * (count_sizes.cumsum() - count_sizes), frequencies)
            ]
        return terms.repeat(frequencies), documents, counts.astype(np.int64)


def decode_postings(block: Bytes, form: int, frequency: int) -> Postings:
    """Return the postings of one term from its block."""
    size = len(block) - int(_count_bytes(form, frequency))
    documents = _decode_gaps(block[:size]) if form & _HAS_GAPS else block[:size].view("<u2")
    return Postings(documents, _decode_counts(block[size:], form, frequency)[:frequency])


def encode_postings(terms: Ints, documents: Ints, counts: Ints, term_count: int) -> EncodedPostings:
    """Encode postings, which must be sorted by term and then by document.

    `terms` contains all numbers below `term_count`, each at least once.
    """
    counts = np.minimum(counts, _MAX_COUNT)
    firsts = terms.searchsorted(np.arange(term_count))
    frequencies = np.diff(np.append(firsts, len(terms)))
    gaps = np.diff(documents, prepend=0)
    gaps[firsts] = documents[firsts]
    forms = _choose_forms(firsts, frequencies, gaps, counts)
    has_gaps = (forms & _HAS_GAPS > 0)[terms]
    sizes = np.where(has_gaps, 1 + gaps // _GAP, 2)
    document_sizes = np.add.reduceat(sizes, firsts) if len(sizes) else np.zeros(0, np.int64)
    count_sizes = np.zeros(term_count, np.int64)
    for form in (_NIBBLES, _SINGLES, _PAIRS):
        is_own = forms & 3 == form
        count_sizes[is_own] = _count_bytes(form, frequencies[is_own])
    starts = np.concatenate([np.zeros(1, np.int64), (document_sizes + count_sizes).cumsum()])
    blocks = np.full(starts[-1], _GAP, np.uint8)
    # The end of each document in `blocks`: the size of all documents up to this one, plus the size
    # of the counts of earlier terms, in bytes.
    ends = sizes.cumsum() + np.repeat(count_sizes.cumsum() - count_sizes, frequencies)
    blocks[ends[has_gaps] - 1] = gaps[has_gaps] % _GAP
    _write_pairs(blocks, ends[~has_gaps] - 2, documents[~has_gaps])
    _write_counts(blocks, starts[:-1] + document_sizes, forms, (firsts, frequencies, counts))
    return EncodedPostings(
        forms.astype(np.uint8), shrink(frequencies), starts.astype("<u4"), blocks
    )


def _choose_forms(firsts: Ints, frequencies: Ints, gaps: Ints, counts: Ints) -> Ints:
    if not len(firsts):
        return np.zeros(0, np.int64)
    highest = np.maximum.reduceat(counts, firsts)
    forms: Ints = np.searchsorted(np.array([1, 15, 255]), highest)
    is_smaller = np.add.reduceat(1 + gaps // _GAP, firsts) < 2 * frequencies
    forms[is_smaller] |= _HAS_GAPS
    return forms


def _write_counts(
    blocks: Bytes, starts: Ints, forms: Ints, postings: tuple[Ints, Ints, Ints]
) -> None:
    """Write the counts of each term at `starts`."""
    firsts, frequencies, counts = postings
    for form in (_NIBBLES, _SINGLES, _PAIRS):
        terms = np.flatnonzero(forms & 3 == form)
        own = counts[concatenate_ranges(firsts[terms], frequencies[terms])]
        at = concatenate_ranges(np.zeros(len(terms), np.int64), frequencies[terms])
        begin = starts[terms].repeat(frequencies[terms])
        if form == _NIBBLES:
            is_low = at % 2 == 0
            blocks[(begin + at // 2)[is_low]] = own[is_low]
            blocks[(begin + at // 2)[~is_low]] |= (own[~is_low] << 4).astype(np.uint8)
        elif form == _SINGLES:
            blocks[begin + at] = own
        else:
            _write_pairs(blocks, begin + 2 * at, own)


def _write_pairs(blocks: Bytes, at: Ints, values: Ints) -> None:
    blocks[at] = values & 255
    blocks[at + 1] = values >> 8


def _decode_gaps(encoded: Bytes) -> Array:
    # Document numbers fit into 16 bits, so the sums do not overflow.
    documents: Array = encoded.cumsum(dtype=np.uint16)[encoded != _GAP]
    return documents


def _decode_counts(encoded: Bytes, form: int, count: int) -> Array:
    """Return the counts. An odd number of counts in nibbles is followed by a zero."""
    form &= 3
    if form == _ONES:
        return np.ones(count, np.uint8)
    if form == _NIBBLES:
        counts = np.empty(2 * len(encoded), np.uint8)
        counts[::2] = encoded & 15
        counts[1::2] = encoded >> 4
        return counts
    return encoded if form == _SINGLES else encoded.view("<u2")


def _count_bytes(form: int, frequencies: Any) -> Any:  # Any: one number or an array
    form &= 3
    if form == _NIBBLES:
        return (frequencies + 1) // 2
    return frequencies * (0, 0, 1, 2)[form]


def concatenate_ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers in several ranges, range by range."""
    before = lengths.cumsum() - lengths
    numbers: Ints = np.arange(lengths.sum()) + (starts - before).repeat(lengths)
    return numbers


def shrink(values: Array) -> Array:
    """Return values in the smallest type that fits the largest of them."""
    largest = int(values.max(initial=0))
    if largest < 1 << 8:
        return values.astype("|u1")
    return values.astype("<u2") if largest < 1 << 16 else values.astype("<u4")
