"""A file of named arrays with checksums, which is written once and then memory-mapped.

The file begins with a signature and a header in JSON, which lists name, type, length, position and
checksum of each array. Arrays without a checksum are verified by their reader, part by part.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from rootle.errors import IndexStorageError
from rootle.index.local.inverted_index.postings_codec import Array
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


def write_arrays(path: Path, arrays: Mapping[str, Array], unverified: Collection[str]) -> None:
    """Write a new file; `unverified` names the arrays without a checksum. Raises OSError."""
    position, entries = 0, []
    for name, array in arrays.items():
        checksum = None if name in unverified else zlib.crc32(_bytes(array))
        entries.append([name, array.dtype.str, len(array), position, checksum])
        position += _align(array.nbytes)
    header = json.dumps(entries).encode()
    header += b" " * (_align(len(header)) - len(header))
    mode = file_mode(path.parent)
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        os.chmod(path, mode)  # whatever the umask
        file.write(_SIGNATURE)
        file.write(np.array([len(header), zlib.crc32(header)], "<u4").tobytes())
        file.write(header)
        for array in arrays.values():
            file.write(_bytes(array))
            file.write(bytes(_align(array.nbytes) - array.nbytes))


def map_arrays(path: Path) -> dict[str, Array]:
    """Map the arrays of a file, after verifying those with a checksum.

    Raises IndexStorageError if the file is missing or damaged.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: the file is empty
        raise damage(path, str(error)) from error
    start = len(_SIGNATURE) + 4 * _HEADER_FIELDS
    if mapped[: len(_SIGNATURE)] != _SIGNATURE or len(mapped) < start:
        raise damage(path, "not a segment")
    length, checksum = np.frombuffer(mapped, "<u4", _HEADER_FIELDS, len(_SIGNATURE)).tolist()
    header = mapped[start : start + length]
    if len(header) != length or zlib.crc32(header) != checksum:
        raise damage(path, "header")
    return _read_arrays(path, mapped, header, start + length)


def _read_arrays(path: Path, mapped: mmap.mmap, header: bytes, start: int) -> dict[str, Array]:
    arrays = {}
    for name, kind, count, position, checksum in json.loads(header):
        end = start + position + count * np.dtype(kind).itemsize
        if kind not in _TYPES or end > len(mapped):
            raise damage(path, "truncated")
        array = np.frombuffer(mapped, kind, count, start + position) if count else _empty(kind)
        if checksum is not None and zlib.crc32(_bytes(array)) != checksum:
            raise damage(path, name)
        arrays[name] = array
    return arrays


def _empty(kind: str) -> Array:
    return np.zeros(0, kind)


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B") if array.size else memoryview(b"")


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
