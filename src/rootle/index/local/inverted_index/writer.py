"""Write batches of documents to the inverted index."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import numpy as np

from rootle.errors import IndexStorageError
from rootle.index.local.inverted_index.commit_state import (
    FIELDS,
    LEVELS,
    CommitState,
    SegmentEntry,
    entry_with,
    read_state,
    segment_path,
    write_state,
)
from rootle.index.local.inverted_index.merging import SegmentSize, choose_merge, merge_segments
from rootle.index.local.inverted_index.segment import Flags, Segment, SegmentData, write_segment
from rootle.index.local.inverted_index.segment_builder import SegmentBuilder, TermNumbers
from rootle.index.reader import Level


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The stemmed terms of each field of a chunk, separated by spaces as by `text_terms`."""

    chunk_id: int
    body: str
    symbols: str
    defines: str  # whole normalized names, separated by spaces
    headings: str
    comments: str


@dataclass(frozen=True, slots=True)
class FileTerms:
    """The stemmed terms of one file that are not in its chunks."""

    file_id: int
    place: str  # terms of the path that are added to the body of each chunk
    path: str


class SparseWriter:
    """Writes one batch, which readers do not see before `commit`.

    All methods raise IndexStorageError if the index is damaged or cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        state = read_state(folder)
        self._levels = {
            level: _LevelWriter(folder, level, state.segments[level]) for level in LEVELS
        }
        self._numbers = _new_numbers()

    def remove_file(self, file_id: int) -> None:
        """Delete a file and its chunks that were committed before this batch."""
        for writer in self._levels.values():
            writer.removed.add(file_id)

    def add_file(self, file: FileTerms, chunks: Iterable[ChunkTerms]) -> None:
        """Add a file and its chunks."""
        # The text of a file consists of the texts of its chunks, so each term is looked up only
        # once.
        number = {name: numbers.number for name, numbers in self._numbers.items()}
        chunk_level, file_level = self._levels["chunks"], self._levels["files"]
        body, symbols = array("I"), array("I")
        place = number["body"](file.place)
        for chunk in chunks:
            if chunk_level.builder.is_full:  # a flush does not renumber terms
                chunk_level.flush(self._numbers)
            own_body, own_symbols = number["body"](chunk.body), number["symbols"](chunk.symbols)
            body += own_body
            symbols += own_symbols
            terms = {
                "body": own_body + place,
                "symbols": own_symbols,
                "defines": number["defines"](chunk.defines),
                "headings": number["headings"](chunk.headings),
                "comments": number["comments"](chunk.comments),
            }
            chunk_level.builder.add(chunk.chunk_id, file.file_id, terms)
        terms = {"body": body, "symbols": symbols, "path": number["path"](file.path)}
        file_level.builder.add(file.file_id, file.file_id, terms)
        if chunk_level.builder.is_full or file_level.builder.is_full:
            self._flush()

    def commit(self, generation: int) -> None:
        """Make the batch visible as `generation`, atomically."""
        self._flush()
        segments = {level: writer.finish() for level, writer in self._levels.items()}
        try:
            write_state(self._folder, CommitState(generation, segments))
        except OSError as error:
            raise _write_error(self._folder, error) from error

    def abandon(self) -> None:
        """Delete what was written for this batch."""
        for writer in self._levels.values():
            writer.abandon()

    def _flush(self) -> None:
        for level in self._levels.values():
            level.flush(self._numbers)
        self._numbers = _new_numbers()


def _new_numbers() -> dict[str, TermNumbers]:
    return {name: TermNumbers() for fields in FIELDS.values() for name in fields}


@dataclass(frozen=True, slots=True)
class _LiveSegment:
    """A segment of the next commit and its live documents."""

    segment: Segment
    live: Flags

    @property
    def size(self) -> SegmentSize:
        size = sum(field.size_bytes for field in self.segment.fields.values())
        return SegmentSize(self.segment.count, int((~self.live).sum()), size)


class _LevelWriter:
    def __init__(self, folder: Path, level: Level, entries: Sequence[SegmentEntry]) -> None:
        self._folder = folder
        self._fields = FIELDS[level]
        self._parts = [self._open(entry) for entry in entries]
        self._added: list[_LiveSegment] = []
        self.builder = SegmentBuilder(self._fields)
        self.removed: set[int] = set()

    def finish(self) -> list[SegmentEntry]:
        """Delete removed documents, merge segments, and return the entries for the state file."""
        gone = np.sort(np.fromiter(self.removed, np.int64, len(self.removed)))
        kept = [_LiveSegment(p.segment, p.live & ~p.segment.mark_files(gone)) for p in self._parts]
        parts = [part for part in (*kept, *self._added) if part.live.any()]
        while chosen := choose_merge([part.size for part in parts]):
            merged = self._merge([parts[at] for at in chosen])
            parts = [part for at, part in enumerate(parts) if at not in chosen] + [merged]
        return [entry_with(part.segment.name, part.live) for part in parts]

    def abandon(self) -> None:
        for part in self._added:
            segment_path(self._folder, part.segment.name).unlink(missing_ok=True)

    def _open(self, entry: SegmentEntry) -> _LiveSegment:
        segment = Segment(segment_path(self._folder, entry.name), self._fields)
        live = entry.live(segment.count)
        return _LiveSegment(segment, np.ones(segment.count, bool) if live is None else live)

    def flush(self, numbers: Mapping[str, TermNumbers]) -> None:
        """Write the documents in `builder` as a segment. `numbers` contains each field's terms."""
        if len(self.builder):
            self._added.append(self._write(self.builder.build(numbers)))
            self.builder = SegmentBuilder(self._fields)

    def _merge(self, parts: Sequence[_LiveSegment]) -> _LiveSegment:
        return self._write(merge_segments([(part.segment.data(), part.live) for part in parts]))

    def _write(self, data: SegmentData) -> _LiveSegment:
        name = token_hex(8)  # never reused: readers recognize a segment by its name
        path = segment_path(self._folder, name)
        try:
            write_segment(path, data)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise _write_error(self._folder, error) from error
        return _LiveSegment(Segment(path, self._fields), np.ones(len(data.ids), bool))


def _write_error(folder: Path, error: OSError) -> IndexStorageError:
    return IndexStorageError(
        f"cannot write the word index in {folder}: {error.strerror or error}; free up space or "
        "use --index-dir"
    )
