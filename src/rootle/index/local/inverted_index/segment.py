"""An immutable part of an inverted index: the postings of at most 65,536 documents.

A document is numbered by its position in the segment, which two bytes can hold. The terms of each
field are sorted by their CRC-32 and verified in groups, on their first use: damage is found without
reading the whole file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.inverted_index.postings_codec import (
    Array,
    EncodedPostings,
    Postings,
    shrink,
)
from rootle.index.local.inverted_index.segment_file import damage, map_arrays, write_arrays
from rootle.protocols import Ids

MAX_DOCUMENTS: Final = 1 << 16
# Terms per checksum. A larger group would make the first use of a term slower.
_GROUP: Final = 64
# Postings of recently used terms stay decoded, because questions share many words. These limits
# are for each field.
_MAX_CACHED_TERMS: Final = 20_000
_MAX_CACHED_POSTINGS: Final = 500_000
_SEPARATOR: Final = b"\n"

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FieldData:
    """The terms of one field and their postings."""

    hashes: Array  # CRC-32 of each term, ascending; terms with equal hashes ascend
    text: Array  # the terms as UTF-8, each followed by a line feed
    text_starts: Array  # of each term in `text`, and the end
    postings: EncodedPostings
    lengths: Array  # number of terms in each document

    def terms(self) -> list[bytes]:
        """Return all terms in order."""
        return self.text.tobytes().split(_SEPARATOR)[:-1]


@dataclass(frozen=True, slots=True)
class SegmentData:
    """Documents by ascending id, and their postings by field."""

    ids: Ids
    file_ids: Ids  # of each document; the documents of a file are adjacent
    fields: Mapping[str, FieldData]


_TERM_ARRAYS: Final = ("hashes", "text", "text_starts")
_POSTING_ARRAYS: Final = ("forms", "frequencies", "starts", "blocks")


def write_segment(path: Path, data: SegmentData) -> None:
    """Write a new file. Raises OSError."""
    arrays: dict[str, Array] = {"ids": shrink(data.ids), "file_ids": shrink(data.file_ids)}
    unverified: set[str] = set()
    for name, field in data.fields.items():
        own = {f"{name}.{key}": getattr(field, key) for key in _TERM_ARRAYS}
        own |= {f"{name}.{key}": getattr(field.postings, key) for key in _POSTING_ARRAYS}
        unverified |= own.keys()
        arrays |= own
        arrays[f"{name}.lengths"] = field.lengths
        groups = range(-(-len(field.hashes) // _GROUP))
        arrays[f"{name}.first_hashes"] = field.hashes[::_GROUP]
        arrays[f"{name}.term_checksums"] = _checksums(_term_checksum(field, at) for at in groups)
        arrays[f"{name}.posting_checksums"] = _checksums(
            _posting_checksum(field, at) for at in groups
        )
    write_arrays(path, arrays, unverified)


def _checksums(values: Iterable[int]) -> Array:
    return np.fromiter(values, "<u4")


def _term_checksum(field: FieldData, group: int) -> int:
    """Return the checksum of the terms of a group and of where their postings are."""
    first, last = group * _GROUP, min((group + 1) * _GROUP, len(field.hashes))
    return _checksum(
        field.hashes[first:last],
        field.text_starts[first : last + 1],
        field.text[field.text_starts[first] : field.text_starts[last]],
        field.postings.forms[first:last],
        field.postings.frequencies[first:last],
        field.postings.starts[first : last + 1],
    )


def _posting_checksum(field: FieldData, group: int) -> int:
    first, last = group * _GROUP, min((group + 1) * _GROUP, len(field.hashes))
    starts = field.postings.starts
    return _checksum(field.postings.blocks[starts[first] : starts[last]])


def _checksum(*arrays: Array) -> int:
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(array.data, checksum)
    return checksum


class FieldReader:
    """Finds terms of one field and their postings. Raises IndexStorageError for damage."""

    def __init__(self, path: Path, name: str, arrays: Mapping[str, Array]) -> None:
        self._path = path
        self._name = name
        hashes, text, text_starts = (arrays[f"{name}.{key}"] for key in _TERM_ARRAYS)
        postings = EncodedPostings(*(arrays[f"{name}.{key}"] for key in _POSTING_ARRAYS))
        self.data = FieldData(hashes, text, text_starts, postings, arrays[f"{name}.lengths"])
        self._first_hashes = arrays[f"{name}.first_hashes"]
        self._term_checksums = arrays[f"{name}.term_checksums"]
        self._posting_checksums = arrays[f"{name}.posting_checksums"]
        self._has_checked_terms = np.zeros(len(self._first_hashes), bool)
        self._has_checked_postings = np.zeros(len(self._first_hashes), bool)
        self._cache: dict[str, Postings | None] = {}
        self._cached_postings = 0
        self.total_length = int(self.data.lengths.sum(dtype=np.int64))

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

    def postings_at(self, at: int) -> Postings:
        """Return the postings of the term at a position."""
        self._check_postings(at // _GROUP)
        return self.data.postings.decode(at)

    def check_terms(self) -> None:
        """Verify all terms."""
        for group in np.flatnonzero(~self._has_checked_terms).tolist():
            self._check_terms(group)

    def check_all(self) -> None:
        """Verify all terms and postings."""
        self.check_terms()
        for group in np.flatnonzero(~self._has_checked_postings).tolist():
            self._check_postings(group)

    def _find(self, term: bytes) -> int | None:
        field, wanted = self.data, zlib.crc32(term)
        if not len(field.hashes):
            return None
        # The first of the terms with this hash is in this group, or starts the next one.
        group = max(int(self._first_hashes.searchsorted(np.uint32(wanted))) - 1, 0)
        self._check_terms(group)
        first = group * _GROUP
        at = first + int(field.hashes[first : first + _GROUP].searchsorted(np.uint32(wanted)))
        while at < len(field.hashes):
            self._check_terms(at // _GROUP)
            if field.hashes[at] != wanted:
                return None
            if field.text[field.text_starts[at] : field.text_starts[at + 1] - 1].tobytes() == term:
                return at
            at += 1
        return None

    def _check_terms(self, group: int) -> None:
        if not self._has_checked_terms[group]:
            if _term_checksum(self.data, group) != self._term_checksums[group]:
                raise damage(self._path, f"terms of {self._name}")
            self._has_checked_terms[group] = True

    def _check_postings(self, group: int) -> None:
        if not self._has_checked_postings[group]:
            self._check_terms(group)
            if _posting_checksum(self.data, group) != self._posting_checksums[group]:
                raise damage(self._path, f"postings of {self._name}")
            self._has_checked_postings[group] = True


class Segment:
    """A segment that is open for reading."""

    def __init__(self, path: Path, fields: Iterable[str]) -> None:
        """Map a segment. Raises IndexStorageError if it is missing or damaged."""
        self.name = path.stem
        arrays = map_arrays(path)
        try:
            self.ids: Ids = arrays["ids"].astype(np.int64)
            self.file_ids: Ids = arrays["file_ids"].astype(np.int64)
            self.fields = {name: FieldReader(path, name, arrays) for name in fields}
        except KeyError as error:
            raise damage(path, f"no {error}") from error
        self.run_starts: Ids = np.flatnonzero(np.diff(self.file_ids, prepend=np.int64(-1)))
        self.run_files: Ids = self.file_ids[self.run_starts]

    @property
    def count(self) -> int:
        """The number of documents, including deleted ones."""
        return len(self.ids)

    def in_files(self, file_ids: Ids) -> Flags:
        """Return which documents belong to the given files, which must be ascending."""
        is_wanted = is_in_sorted(self.run_files, file_ids)
        return is_wanted.repeat(np.diff(np.append(self.run_starts, self.count)))

    def data(self) -> SegmentData:
        """Return the whole content, verified."""
        for field in self.fields.values():
            field.check_all()
        fields = {name: field.data for name, field in self.fields.items()}
        return SegmentData(self.ids, self.file_ids, fields)


def is_in_sorted(ids: Array, values: Array) -> Flags:
    """Return which ids are among sorted values."""
    if not len(values):
        return np.zeros(len(ids), bool)
    at = values.searchsorted(ids)
    at[at == len(values)] = 0
    found: Flags = values[at] == ids
    return found
