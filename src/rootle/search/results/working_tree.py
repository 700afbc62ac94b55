"""The lines of a page, read from the files themselves where they are still what was indexed.

Four reads of an open file take a quarter of the time that the index takes to unpack the same lines.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.storage.safe_open import OPEN_FLAGS

Place = tuple[int, int, int]  # a file, and from which to which of its characters

# Larger files, and those with more characters of several bytes, are not measured for a few lines.
_MOST_BYTES: Final = 1_000_000
_MOST_WIDE: Final = 5_000
_MOST_FILES: Final = 200
_UNKNOWN: Final = np.zeros(0, np.int32)
# To read what lies between places, up to here, takes less than to read each.
_AT_ONCE: Final = 32_768


class WorkingTree:
    """The files below a folder, and where the characters of those lie that are not plain ASCII."""

    def __init__(self, root: Path) -> None:
        self._folder = f"{root}{os.sep}"
        self._wide: dict[tuple[str, bytes | None], NDArray[np.int32] | None] = {}

    def read(self, state: FileState, places: Sequence[Place]) -> list[str] | None:
        """The characters of some places; None where it is not certain what was indexed there."""
        if state.encoding != "utf-8" or not state.is_settled:
            return None
        try:
            descriptor = os.open(self._folder + state.path, OPEN_FLAGS)
        except OSError:
            return None
        try:
            texts = self._texts(state, descriptor, places)
            # Afterwards, so that what was written until then shows.
            return texts if _is_as_indexed(state, descriptor) else None
        except (OSError, ValueError):
            return None
        finally:
            os.close(descriptor)

    def _texts(
        self, state: FileState, descriptor: int, places: Sequence[Place]
    ) -> list[str] | None:
        if state.chars == state.size:  # each byte of it is a character
            return _between(descriptor, [(start, end) for _, start, end in places])
        key = state.path, state.digest
        wide = self._wide.get(key, _UNKNOWN)
        if wide is _UNKNOWN:
            wide = _wide_in(state, descriptor)
            if not _is_as_indexed(state, descriptor):
                return None
            if len(self._wide) >= _MOST_FILES:
                self._wide.clear()
            self._wide[key] = wide
        if wide is None:
            return None
        ends = np.array([place[1:] for place in places])
        ends += wide.searchsorted(ends, side="right")
        return _between(descriptor, ends.tolist())


class WorkingTreeTexts:
    """Parts of files as they were indexed, from the tree or else from the index."""

    def __init__(
        self, tree: WorkingTree | None, snapshot: Snapshot, states: Mapping[int, FileState]
    ) -> None:
        """Without a tree, and for files without a state, all comes from the index."""
        self._tree = tree
        self._snapshot = snapshot
        self._states = states

    def excerpts(self, places: Sequence[Place]) -> list[str]:
        """For each place its characters; those of one file stand together."""
        found: list[str | None] = []
        for file_id, group in groupby(places, itemgetter(0)):
            own, state = list(group), self._states.get(file_id)
            texts = self._tree.read(state, own) if self._tree and state else None
            found += texts or [None] * len(own)
        missing = [place for place, text in zip(places, found, strict=True) if text is None]
        if not missing:
            return [text for text in found if text is not None]
        stored = iter(self._snapshot.excerpts(missing))
        return [next(stored) if text is None else text for text in found]


def _is_as_indexed(state: FileState, descriptor: int) -> bool:
    """Whether an open file has the size and the time that it had when it was indexed."""
    info = os.fstat(descriptor)
    is_same = info.st_mtime_ns == state.mtime_ns and info.st_size == state.size
    return is_same and stat.S_ISREG(info.st_mode)


def _wide_in(state: FileState, descriptor: int) -> NDArray[np.int32] | None:
    """For each byte that begins no character of an open file how many characters begin before.

    None for a large file, for one with many of them, and where a mark stands before the text.
    """
    if state.size > _MOST_BYTES or state.size - state.chars > _MOST_WIDE:
        return None
    raw = os.read(descriptor, state.size)
    later = ((np.frombuffer(raw, np.uint8) & 0xC0) == 0x80).nonzero()[0]
    if len(raw) - len(later) != state.chars:
        return None
    wide: NDArray[np.int32] = (later - np.arange(len(later))).astype(np.int32)
    return wide


def _between(descriptor: int, ends: Sequence[Sequence[int]]) -> list[str]:
    """What stands between some pairs of bytes. Raises ValueError where it is something else now."""
    first, last = min(start for start, _ in ends), max(end for _, end in ends)
    if last - first <= _AT_ONCE:
        raw = _bytes(descriptor, first, last)
        return [raw[start - first : end - first].decode() for start, end in ends]
    return [_bytes(descriptor, start, end).decode() for start, end in ends]


def _bytes(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    raw = os.read(descriptor, end - start)
    if len(raw) != end - start:
        raise ValueError(f"{len(raw)} bytes from {start} on, expected {end - start}")
    return raw
