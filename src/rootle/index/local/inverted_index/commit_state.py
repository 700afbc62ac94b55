"""The state file of an inverted index: its segments and deleted documents at one generation.

Segments are never changed. A commit replaces the state file atomically; a reader keeps the
segments of the state that it has read. After a crash, the next commit deletes the segments that the
state does not name.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rootle.errors import IndexStorageError
from rootle.index.local.inverted_index.segment import Flags
from rootle.index.local.read_errors import unreadable
from rootle.index.reader import Level
from rootle.storage.atomic_json import write_json
from rootle.storage.permissions import file_mode, make_subfolder

LEVELS: Final[tuple[Level, ...]] = ("chunks", "files")
FIELDS: Final[Mapping[Level, tuple[str, ...]]] = {
    "chunks": ("body", "symbols", "defines", "headings", "comments"),
    "files": ("body", "symbols", "path"),
}
_STATE: Final = "words.json"
_FORMAT: Final = 1
_SUFFIX: Final = ".words"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment in the state file."""

    name: str
    dead: str = ""  # the deleted documents, as compressed bits in base64; "" for none

    def live(self, count: int) -> Flags | None:
        """Return which of `count` documents are live; None if all are."""
        if not self.dead:
            return None
        bits = np.frombuffer(zlib.decompress(base64.b64decode(self.dead)), np.uint8)
        live: Flags = np.unpackbits(bits, count=count) == 0
        return live


def entry_with(name: str, live: Flags) -> SegmentEntry:
    """Return the entry of a segment. `live` has a flag for each document."""
    if live.all():
        return SegmentEntry(name)
    return SegmentEntry(
        name, base64.b64encode(zlib.compress(np.packbits(~live).tobytes())).decode()
    )


@dataclass(frozen=True, slots=True)
class CommitState:
    """The content of an inverted index at one generation."""

    generation: int
    segments: Mapping[Level, Sequence[SegmentEntry]]


def create_index(folder: Path) -> None:
    """Create an empty index at generation -1, replacing an existing one."""
    make_subfolder(folder)
    write_state(folder, CommitState(-1, dict.fromkeys(LEVELS, ())))


def segment_path(folder: Path, name: str) -> Path:
    """Return the path of a segment."""
    return folder / f"{name}{_SUFFIX}"


def read_state(folder: Path) -> CommitState:
    """Read the state.

    Raises UnreadableIndexError if it cannot be read now, and IndexStorageError if it is missing or
    damaged.
    """
    path = folder / _STATE
    try:
        data = json.loads(path.read_bytes())
        content = data["segments"]
        segments = {level: tuple(SegmentEntry(*e) for e in content[level]) for level in LEVELS}
        state = CommitState(int(data["generation"]), segments)
        is_usable = data["format"] == _FORMAT and data["checksum"] == _checksum(data)
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unusable(path) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if not is_usable:
        raise _unusable(path)
    return state


def _unusable(path: Path) -> IndexStorageError:
    return IndexStorageError(
        f"the word index at {path} is damaged or missing; run `rootle index --rebuild`"
    )


def write_state(folder: Path, state: CommitState) -> None:
    """Replace the state atomically, and delete the segments that it does not name."""
    data = {
        "format": _FORMAT,
        "generation": state.generation,
        "segments": {
            level: [[entry.name, entry.dead] for entry in entries]
            for level, entries in state.segments.items()
        },
    }
    data["checksum"] = _checksum(data)
    write_json(folder / _STATE, data, mode=file_mode(folder))
    names = {entry.name for entries in state.segments.values() for entry in entries}
    for path in (*folder.glob(f"*{_SUFFIX}"), *folder.glob("*.new")):
        if path.stem not in names:
            path.unlink(missing_ok=True)


def _checksum(data: Mapping[str, object]) -> int:
    return zlib.crc32(json.dumps([data["generation"], data["segments"]]).encode())
