"""An immutable part of an inverted index: the postings of at most 65,536 documents.

The number of a document, which fits into two bytes, is its position in the segment. The terms of
each field are sorted by their CRC-32. They are divided into groups, and each group is verified on
its first use, so that damage is found without reading the whole file.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.inverted_index.bm25 import Floats, round_lengths
from rootle.index.local.inverted_index.postings_codec import (
    Array,
    EncodedPostings,
    Postings,
    concatenate_ranges,
    decode_postings,
    shrink,
)
from rootle.index.local.inverted_index.segment_file import damage, map_arrays, write_arrays
from rootle.index.local.inverted_index.term_scan import TermList
from rootle.protocols import Ids

MAX_DOCUMENTS: Final = 1 << 16
# Terms per checksum. A larger group would make the first use of a term slower.
_GROUP: Final = 64
# Postings of recently used terms stay decoded, because questions share many words. These limits
# apply to each field separately.
_MAX_CACHED_TERMS: Final = 20_000
_MAX_CACHED_POSTINGS: Final = 500_000
# A table of all terms is created for fields with at most this many terms. Looking up a term takes 4
# µs in its group, and 0.1 µs in the table. Creating the table takes 0.15 µs and 150 bytes per term.
_MAX_PREPARED_TERMS: Final = 20_000
_SEPARATOR: Final = b"\n"

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FieldData:
    """The terms of one field and their postings."""

    terms: Sequence[bytes]  # as UTF-8, sorted by hash and then by bytes
    hashes: Array  # CRC-32 of each term
    postings: EncodedPostings
    lengths: Array  # number of terms in each document


@dataclass(frozen=True, slots=True)
class SegmentData:
    """Documents in ascending order of their ids, and the postings of each field."""

    ids: Ids
    file_ids: Ids  # the file of each document; the documents of a file are adjacent
    fields: Mapping[str, FieldData]


def write_segment(path: Path, data: SegmentData) -> None:
    """Write a segment to a new file. Raises OSError if this fails."""
    arrays: dict[str, Array] = {"ids": shrink(data.ids), "file_ids": shrink(data.file_ids)}
    unverified: set[str] = set()
    for name, field in data.fields.items():
        in_groups = _group_arrays(field)
        unverified |= {f"{name}.{key}" for key in in_groups}
        own = in_groups | _group_index(field, in_groups) | {"lengths": field.lengths}
        arrays |= {f"{name}.{key}": array for key, array in own.items()}
    write_arrays(path, arrays, unverified)


def _group_arrays(field: FieldData) -> dict[str, Array]:
    """Return the arrays of a field that are verified group by group."""
    sizes = np.diff(field.postings.starts.astype(np.int64))
    return {
        "text": np.frombuffer(b"".join([term + _SEPARATOR for term in field.terms]), np.uint8),
        "forms": field.postings.forms,
        "frequencies": field.postings.frequencies,
        "sizes": shrink(sizes),  # the sizes of the blocks
        "blocks": field.postings.blocks,
    }


def _group_index(field: FieldData, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the positions and checksums of the groups.

    The last item of each array of positions is the end of the last group.
    """
    sizes = np.fromiter((len(term) + 1 for term in field.terms), np.int64, len(field.terms))
    index = {
        "first_hashes": field.hashes[::_GROUP].astype("<u4"),
        "text_groups": _group_positions(sizes),
        "block_groups": _group_positions(arrays["sizes"]),
    }
    groups = range(len(index["first_hashes"]))
    reader = _Groups({**arrays, **index})
    return index | {
        "term_checksums": np.fromiter(map(reader.term_checksum, groups), "<u4"),
        "posting_checksums": np.fromiter(map(reader.posting_checksum, groups), "<u4"),
    }


def _group_positions(sizes: Array) -> Array:
    ends = np.concatenate([np.zeros(1, np.int64), sizes.cumsum(dtype=np.int64)])
    return np.append(ends[:-1:_GROUP], ends[-1]).astype("<u4")


class _Groups:
    """The terms and postings of a field in groups of 64 terms."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.text, self.blocks = arrays["text"], arrays["blocks"]
        self.forms, self.frequencies = arrays["forms"], arrays["frequencies"]
        self.sizes = arrays["sizes"]
        # Lists, because reading one item of an array takes longer.
        self.first_hashes: list[int] = arrays["first_hashes"].tolist()
        self._text_groups: list[int] = arrays["text_groups"].tolist()
        self._block_groups: list[int] = arrays["block_groups"].tolist()
        self._text_bytes = self.text.data

    @property
    def count(self) -> int:
        """The number of terms."""
        return len(self.forms)

    def all_terms(self) -> list[bytes]:
        """Return all terms in order."""
        return self.text.tobytes().split(_SEPARATOR)[:-1]

    def find(self, group: int, term: bytes) -> int | None:
        """Return the position of a term among all terms; None if the group lacks it."""
        own = self._text_bytes[self._text_groups[group] : self._text_groups[group + 1]]
        text = _SEPARATOR + own.tobytes()
        start = text.find(_SEPARATOR + term + _SEPARATOR)
        return None if start < 0 else group * _GROUP + text.count(_SEPARATOR, 0, start)

    def block(self, at: int) -> Array:
        """Return the encoded postings of a term."""
        group = at // _GROUP
        sizes = self.sizes[group * _GROUP : at + 1].tolist()
        start = self._block_groups[group] + sum(sizes[:-1])
        return self.blocks[start : start + sizes[-1]]

    def term_checksum(self, group: int) -> int:
        """Return the checksum of the terms of a group and of the layout of their postings."""
        own = slice(group * _GROUP, (group + 1) * _GROUP)
        return _checksum(self._text(group), self.forms[own], self.frequencies[own], self.sizes[own])

    def posting_checksum(self, group: int) -> int:
        """Return the checksum of the postings of a group."""
        return _checksum(self.blocks[self._block_groups[group] : self._block_groups[group + 1]])

    def _text(self, group: int) -> Array:
        return self.text[self._text_groups[group] : self._text_groups[group + 1]]


def _checksum(*arrays: Array) -> int:
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(array.data, checksum)
    return checksum


class FieldReader:
    """Finds terms of one field and their postings. Raises IndexStorageError if they are damaged."""

    def __init__(self, path: Path, name: str, arrays: Mapping[str, Array]) -> None:
        self._path = path
        self._name = name
        own = {
            key.removeprefix(f"{name}."): array
            for key, array in arrays.items()
            if key.startswith(f"{name}.")
        }
        self._groups = _Groups(own)
        self.lengths = own["lengths"]
        self._term_checksums = own["term_checksums"]
        self._posting_checksums = own["posting_checksums"]
        count = len(self._groups.first_hashes)
        self._unchecked_terms = set(range(count))
        self._unchecked_postings = set(range(count))
        self._cache: dict[str, Postings | None] = {}
        self._cached_postings = 0
        self._positions: dict[bytes, int] | None = None  # of all terms, after `prepare`
        self.total_length = int(self.lengths.sum(dtype=np.int64))

    def postings(self, term: str) -> Postings | None:
        """Return the postings of a term; None if no document contains it."""
        try:
            return self._cache[term]
        except KeyError:
            pass
        at = self._find(term.encode())
        found = None if at is None else self.postings_at(at)
        self._cached_postings += 0 if found is None else len(found.documents)
        if len(self._cache) >= _MAX_CACHED_TERMS or self._cached_postings > _MAX_CACHED_POSTINGS:
            self._cache.clear()
            self._cached_postings = 0
        self._cache[term] = found
        return found

    def list_postings(self, terms: Sequence[str]) -> list[tuple[int, Postings]]:
        """Return the postings of the terms that have any, each with the position of its term."""
        found, cached = [], self._cache
        for at, term in enumerate(terms):
            postings = cached.get(term)
            if postings is None and term not in cached:
                postings = self.postings(term)
            if postings is not None:
                found.append((at, postings))
        return found

    def postings_at(self, at: int) -> Postings:
        """Return the postings of the term at a position."""
        self._check_postings(at // _GROUP)
        groups = self._groups
        return decode_postings(groups.block(at), int(groups.forms[at]), int(groups.frequencies[at]))

    @property
    def size_bytes(self) -> int:
        """The size of the encoded postings."""
        return len(self._groups.blocks)

    @cached_property
    def rounded_lengths(self) -> Floats:
        """The number of terms in each document, rounded for scores."""
        return round_lengths(self.lengths)

    @cached_property
    def term_list(self) -> TermList:
        """All terms, for scans."""
        return TermList(self.text())

    def text(self) -> Array:
        """Return all terms as UTF-8, each followed by a line feed; verified."""
        for group in sorted(self._unchecked_terms):
            self._check_terms(group)
        return self._groups.text

    def data(self) -> FieldData:
        """Return all terms and postings. The caller must have verified them."""
        terms = self._groups.all_terms()
        groups = self._groups
        starts = np.concatenate([np.zeros(1, np.int64), groups.sizes.cumsum(dtype=np.int64)])
        postings = EncodedPostings(groups.forms, groups.frequencies, starts, groups.blocks)
        hashes = np.fromiter(map(zlib.crc32, terms), np.uint32, len(terms))
        return FieldData(terms, hashes, postings, self.lengths)

    def prepare(self) -> None:
        """Make later searches faster. The caller must have verified all terms and postings."""
        self._unchecked_terms.clear()
        self._unchecked_postings.clear()
        if self._groups.count <= _MAX_PREPARED_TERMS:
            terms = self._groups.all_terms()
            self._positions = dict(zip(terms, range(len(terms)), strict=True))

    def _find(self, term: bytes) -> int | None:
        if self._positions is not None:
            return self._positions.get(term)
        wanted, first_hashes = zlib.crc32(term), self._groups.first_hashes
        # The first term with this hash is in this group, or at the start of the next one.
        group = max(bisect_left(first_hashes, wanted) - 1, 0)
        while group < len(first_hashes) and first_hashes[group] <= wanted:
            self._check_terms(group)
            if (at := self._groups.find(group, term)) is not None:
                return at
            group += 1
        return None

    def _check_terms(self, group: int) -> None:
        if group in self._unchecked_terms:
            if self._groups.term_checksum(group) != self._term_checksums[group]:
                raise damage(self._path, f"terms of {self._name}")
            self._unchecked_terms.discard(group)

    def _check_postings(self, group: int) -> None:
        if group in self._unchecked_postings:
            self._check_terms(group)
            if self._groups.posting_checksum(group) != self._posting_checksums[group]:
                raise damage(self._path, f"postings of {self._name}")
            self._unchecked_postings.discard(group)


class Segment:
    """A segment that is open for reading."""

    def __init__(self, path: Path, fields: Iterable[str]) -> None:
        """Map a segment. Raises IndexStorageError if it is missing or damaged."""
        self.name = path.stem
        self._mapped = map_arrays(path)
        arrays = self._mapped.arrays
        try:
            self.ids: Ids = arrays["ids"].astype(np.int64)
            self.file_ids: Ids = arrays["file_ids"].astype(np.int64)
            self.fields = {name: FieldReader(path, name, arrays) for name in fields}
        except KeyError as error:
            raise damage(path, f"no {error}") from error
        self.run_starts: Ids = np.flatnonzero(np.diff(self.file_ids, prepend=np.int64(-1)))
        self.run_files: Ids = self.file_ids[self.run_starts]
        self._is_prepared = False

    @property
    def count(self) -> int:
        """The number of documents, including deleted ones."""
        return len(self.ids)

    def prepare(self) -> None:
        """Verify everything at once, and make later searches in small fields faster.

        Only the first call has an effect, because generations of an index share segments.
        """
        if self._is_prepared:
            return
        self._mapped.verify()
        for field in self.fields.values():
            field.prepare()
        self._is_prepared = True

    def mark_files(self, file_ids: Ids) -> Flags:
        """Return a flag per document: whether it is in one of the given files.

        `file_ids` must be ascending.
        """
        is_wanted = is_in_sorted(self.run_files, file_ids)
        return is_wanted.repeat(np.diff(np.append(self.run_starts, self.count)))

    def find_documents(self, file_ids: Ids) -> Ids:
        """Return the documents of the given files, which must be sorted by id."""
        runs = np.flatnonzero(is_in_sorted(self.run_files, file_ids))
        ends = np.append(self.run_starts, self.count)
        return concatenate_ranges(self.run_starts[runs], ends[runs + 1] - self.run_starts[runs])

    def data(self) -> SegmentData:
        """Return the whole content, verified."""
        self._mapped.verify()
        fields = {name: field.data() for name, field in self.fields.items()}
        return SegmentData(self.ids, self.file_ids, fields)


def is_in_sorted(ids: Array, values: Array) -> Flags:
    """Return a flag per id: whether it is in `values`, which must be sorted."""
    if not len(values):
        return np.zeros(len(ids), bool)
    at = values.searchsorted(ids)
    at[at == len(values)] = 0
    found: Flags = values[at] == ids
    return found
