"""Read the files of an indexed folder, and compare them with their state in the index.

Reading four passages from an open file takes a quarter of the time that decompressing them from the
index takes (docs/decisions/0021-result-lines-are-read-from-files.md).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.index.reader import FileState, IndexReader, TextRange
from rootle.storage.change_time import change_time_ns, modification_time_ns
from rootle.storage.open_without_links import open_below
from rootle.text.secret_masking import mask_secrets
from rootle.types import EXTRACTED, FILES

# Larger files, and files with more UTF-8 continuation bytes, are read from the index.
_MAX_BYTES: Final = 1_000_000
_MAX_CONTINUATION_BYTES: Final = 5_000
_MAX_CACHED_FILES: Final = 200
_NOT_CACHED: Final = np.zeros(0, np.int32)
# Ranges within this many bytes are read together, which is faster than reading them one by one.
_MAX_JOINT_BYTES: Final = 32_768
# A file that has grown beyond this size since it was indexed is not shown.
_MAX_CURRENT_BYTES: Final = 16_000_000


@dataclass(frozen=True, slots=True)
class CurrentText:
    """The lines of a file."""

    lines: tuple[str, ...]
    changed: bool  # since the file was indexed


class WorkingTree:
    """Reads files below a folder. Safe to use from many threads."""

    def __init__(self, root: Path, secret_exceptions: tuple[str, ...] = ()) -> None:
        self._root = os.fspath(root)
        self._secret_exceptions = secret_exceptions
        self._prefix = f"{root}{os.sep}"
        # The result of `_find_continuations`, by path and digest of the file.
        self._continuations: dict[tuple[str, bytes | None], NDArray[np.int32] | None] = {}

    def has_changed(self, state: FileState) -> bool:
        """Return whether a file was written or deleted after it was indexed."""
        try:
            info = os.lstat(self._prefix + state.path)
        except OSError:
            return True
        return not _has_indexed_times(info, state)

    def any_changed(self, states: Iterable[FileState]) -> bool:
        """Return whether any of the given files was written or deleted after it was indexed."""
        return any(self.has_changed(state) for state in states if state.source == FILES)

    def read_current(self, state: FileState, index: IndexReader) -> CurrentText | None:
        """Return the current lines of a file, or None if it is gone or can no longer be read."""
        if state.source != FILES:
            return indexed_text(state, index)
        changed = self.has_changed(state)
        if not changed:
            return indexed_text(state, index)
        raw = self._read_file(state)
        if raw is None:
            return None
        if state.encoding == EXTRACTED:  # the current text is extracted by the next index update
            return CurrentText(indexed_text(state, index).lines, changed)
        text = raw.decode(state.encoding, errors="replace").removeprefix("\ufeff")
        lines = mask_secrets(text, self._secret_exceptions).text.split("\n")
        return CurrentText(tuple(lines), changed)

    def find_line(self, state: FileState, pattern: re.Pattern[bytes]) -> int | None:
        """Return the number of the first line with a match, even if the file is not indexed."""
        raw = self._read_file(state) if state.source == FILES else None
        match = pattern.search(raw) if raw is not None else None
        return None if raw is None or match is None else raw.count(b"\n", 0, match.start()) + 1

    def read_ranges(self, state: FileState, ranges: Sequence[TextRange]) -> list[str] | None:
        """Return ranges of a file, or None if they must be read from the index."""
        is_text = state.source == FILES and state.encoding == "utf-8" and not state.masked
        if not (is_text and state.is_settled):
            return None
        try:
            descriptor = open_below(self._root, state.path)
        except OSError:
            return None
        try:
            texts = self._read_open_file(state, descriptor, ranges)
            # The check follows the reading, so that it also detects a write during the reading.
            return texts if _is_as_indexed(state, descriptor) else None
        except (OSError, ValueError):
            return None
        finally:
            os.close(descriptor)

    def _read_open_file(
        self, state: FileState, descriptor: int, ranges: Sequence[TextRange]
    ) -> list[str] | None:
        if state.chars == state.size:  # every character is one byte
            return _read_byte_ranges(descriptor, [(start, end) for _, start, end in ranges])
        key = state.path, state.digest
        continuations = self._continuations.get(key, _NOT_CACHED)
        if continuations is _NOT_CACHED:
            continuations = _find_continuations(state, descriptor)
            if not _is_as_indexed(state, descriptor):
                return None
            if len(self._continuations) >= _MAX_CACHED_FILES:
                self._continuations.clear()
            self._continuations[key] = continuations
        if continuations is None:
            return None
        ends = np.array([one[1:] for one in ranges])
        ends += continuations.searchsorted(ends, side="right")
        return _read_byte_ranges(descriptor, ends.tolist())

    def _read_file(self, state: FileState) -> bytes | None:
        try:
            descriptor = open_below(self._root, state.path)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read() if os.fstat(descriptor).st_size <= _MAX_CURRENT_BYTES else None


def indexed_text(state: FileState, index: IndexReader) -> CurrentText:
    """Return the lines of a file as they were indexed."""
    return CurrentText(tuple(index.text_as_written(state.id).split("\n")), changed=False)


def _is_as_indexed(state: FileState, descriptor: int) -> bool:
    """Return whether an open file still has the size and times that were indexed."""
    info = os.fstat(descriptor)
    return _has_indexed_times(info, state)


def _has_indexed_times(info: os.stat_result, state: FileState) -> bool:
    return (
        modification_time_ns(info) == state.mtime_ns
        and info.st_size == state.size
        and change_time_ns(info) == state.ctime_ns
    )


def _find_continuations(state: FileState, descriptor: int) -> NDArray[np.int32] | None:
    """Return the number of characters that begin before each UTF-8 continuation byte.

    Return None if the text must be read from the index: for a large file, a file with many such
    bytes, or a file whose characters cannot be counted in this way, such as one with a byte order
    mark.
    """
    if state.size > _MAX_BYTES or state.size - state.chars > _MAX_CONTINUATION_BYTES:
        return None
    raw = os.read(descriptor, state.size)
    later = ((np.frombuffer(raw, np.uint8) & 0xC0) == 0x80).nonzero()[0]
    if len(raw) - len(later) != state.chars:
        return None
    counts: NDArray[np.int32] = (later - np.arange(len(later))).astype(np.int32)
    return counts


def _read_byte_ranges(descriptor: int, ranges: Sequence[Sequence[int]]) -> list[str]:
    """Return the text of each range of bytes. Raise ValueError if the file has changed."""
    first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
    if last - first <= _MAX_JOINT_BYTES:
        raw = _read_bytes(descriptor, first, last)
        return [raw[start - first : end - first].decode() for start, end in ranges]
    return [_read_bytes(descriptor, start, end).decode() for start, end in ranges]


def _read_bytes(descriptor: int, start: int, end: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    raw = os.read(descriptor, end - start)
    if len(raw) != end - start:
        raise ValueError(f"read {len(raw)} bytes at offset {start}, expected {end - start}")
    return raw
