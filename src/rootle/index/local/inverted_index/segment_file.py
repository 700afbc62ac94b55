"""A file of named arrays with checksums. It is written once and then memory-mapped.

The file begins with a signature and a JSON header. For each array, the header contains its name,
type, length, position and checksum, and whether it is verified when the file is opened. The other
arrays are verified by the code that reads them, part by part or as a whole.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rootle.errors import IndexStorageError
from rootle.index.local.inverted_index.postings_codec import Array
from rootle.index.local.read_errors import unreadable
from rootle.storage.permissions import file_mode

_SIGNATURE: Final = b"rootle segment 1"
_HEADER_FIELDS: Final = 2  # length and checksum of the header, 4 bytes each
_ALIGNMENT: Final = 8
_TYPES: Final = frozenset({"<i8", "<u4", "<u2", "|u1"})


def damage(path: Path, detail: str) -> IndexStorageError:
    """Return the error for a damaged file."""
    return IndexStorageError(
        f"the word index is damaged ({path.name}: {detail}); run `rootle index --rebuild`"
    )


def write_arrays(path: Path, arrays: Mapping[str, Array], verified_later: Collection[str]) -> None:
    """Write a new file. Opening it does not verify the arrays whose names are in `verified_later`.

    Raises OSError if writing fails.
    """
    position, entries = 0, []
    for name, array in arrays.items():
        is_later = name in verified_later
        checksum = zlib.crc32(_bytes(array))
        entries.append([name, array.dtype.str, len(array), position, checksum, is_later])
        position += _align(array.nbytes)
    header = json.dumps(entries).encode()
    header += b" " * (_align(len(header)) - len(header))
    mode = file_mode(path.parent)
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        os.chmod(path, mode)  # regardless of the umask
        file.write(_SIGNATURE)
        file.write(np.array([len(header), zlib.crc32(header)], "<u4").tobytes())
        file.write(header)
        for array in arrays.values():
            file.write(_bytes(array))
            file.write(bytes(_align(array.nbytes) - array.nbytes))


@dataclass(frozen=True, slots=True)
class MappedArrays:
    """The arrays of a file, and the checksums of those that are not verified yet."""

    path: Path
    arrays: Mapping[str, Array]
    unverified: Mapping[str, int]

    def verify(self) -> None:
        """Verify all arrays. Raises IndexStorageError if one of them is damaged."""
        for name, checksum in self.unverified.items():
            if zlib.crc32(_bytes(self.arrays[name])) != checksum:
                raise damage(self.path, name)


def map_arrays(path: Path) -> MappedArrays:
    """Map the arrays of a file, and verify those that were not written as `verified_later`.

    Raises UnreadableIndexError if the file cannot be read now, and IndexStorageError if it is
    missing or damaged.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, ValueError) as error:  # ValueError: the file is empty
        raise damage(path, str(error)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    start = len(_SIGNATURE) + 4 * _HEADER_FIELDS
    if mapped[: len(_SIGNATURE)] != _SIGNATURE or len(mapped) < start:
        raise damage(path, "not a segment")
    length, checksum = np.frombuffer(mapped, "<u4", _HEADER_FIELDS, len(_SIGNATURE)).tolist()
    header = mapped[start : start + length]
    if len(header) != length or zlib.crc32(header) != checksum:
        raise damage(path, "header")
    return _read_arrays(path, mapped, header, start + length)


def _read_arrays(path: Path, mapped: mmap.mmap, header: bytes, start: int) -> MappedArrays:
    arrays, unverified = {}, {}
    for name, kind, count, position, checksum, is_later in json.loads(header):
        end = start + position + count * np.dtype(kind).itemsize
        if kind not in _TYPES or end > len(mapped):
            raise damage(path, "truncated")
        array = np.frombuffer(mapped, kind, count, start + position) if count else _empty(kind)
        arrays[name] = array
        if is_later:
            unverified[name] = checksum
        elif zlib.crc32(_bytes(array)) != checksum:
            raise damage(path, name)
    return MappedArrays(path, arrays, unverified)


def _empty(kind: str) -> Array:
    return np.zeros(0, kind)


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B") if array.size else memoryview(b"")


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
