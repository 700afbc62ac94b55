"""A snapshot of an index at one generation. Later writes do not change it."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rootle.errors import IndexStorageError
from rootle.index.local.chunk_cache import MAX_CHUNKS, ChunkCache
from rootle.index.local.commit_dates import VERSION as HISTORY_VERSION
from rootle.index.local.damaged_rows import DamagedRowError
from rootle.index.local.database import storage_errors
from rootle.index.local.derived_indexes import DENSE_FOLDER, SPARSE_FOLDER
from rootle.index.local.docstore import PART_CHARS, DocStore
from rootle.index.local.document_order import DocumentOrder
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.index.local.manifest import ONLY_ADDED_SINCE, Manifest
from rootle.index.local.pending_embeddings import Backlog, PendingEmbeddings
from rootle.index.local.vector_matrix.reader import EmbeddedDense
from rootle.index.reader import ChunkRow, FileState
from rootle.protocols import Ids
from rootle.text.terms import compose
from rootle.types import DocumentSection

# The number of parts of recently shown texts that are cached: the next query often shows them
# again.
_CACHED_PARTS: Final = 1_000
_CACHED_FILES: Final = 20_000
_MAX_PRELOADED_FILES: Final = 2_000


class Snapshot:
    """The database and the derived indexes at the same generation. Thread-safe.

    During the initial indexing run, the database may contain files that the derived indexes lack.
    """

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, earlier: Snapshot | None = None
    ) -> None:
        self.folder = folder
        self._connection = connection
        self._lock = threading.Lock()
        with storage_errors(folder):
            # The open transaction keeps the state of the database for this reader.
            connection.execute("BEGIN")
            self._manifest = Manifest(connection)
            self.generation = self._manifest.generation()
        self._documents = DocStore(connection)
        self._pending = PendingEmbeddings(connection)
        # Within a generation, nothing changes except the commit and modification times of files.
        if earlier is not None and earlier.generation == self.generation:
            self.order: DocumentOrder = earlier.order
            self.sparse: EmbeddedSparse = earlier.sparse
            self.dense: EmbeddedDense = earlier.dense
        else:
            with storage_errors(folder):
                self.order = DocumentOrder(self._manifest.file_ids_by_path())
            known = earlier.sparse if earlier is not None else None
            self.sparse = EmbeddedSparse(folder / SPARSE_FOLDER, self.order, known)
            self.dense = EmbeddedDense(folder / DENSE_FOLDER, self.order)
        # The connection is closed with the last reference to this snapshot: another thread may
        # still read from the snapshot after a newer one has replaced it, or after the index was
        # deleted.
        self.close = weakref.finalize(self, connection.close)
        self._files: dict[int, FileState] = {}
        self._all_files: Sequence[FileState] | None = None
        self._file_count: int | None = None
        self._unindexed: list[FileState] | None = None
        self.chunk_cache: ChunkCache = earlier.chunk_cache if earlier else ChunkCache()
        self._texts: dict[tuple[int, int], str] = {}

    @property
    def is_consistent(self) -> bool:
        """Whether the database and the derived indexes have the same generation."""
        return self.generation == self.sparse.generation == self.dense.generation

    def use_derived_generation(self) -> bool:
        """Use the generation of the derived indexes, which may be older than the database.

        This is possible only during the initial indexing run, and only if the derived indexes are
        not empty. Return whether it is possible.
        """
        since, derived = self.value(ONLY_ADDED_SINCE), self.sparse.generation
        if self.value("updated_at") or not since or derived != self.dense.generation:
            return False
        if not int(since) < derived < self.generation:
            return False
        self.generation = derived
        return True

    def value(self, name: str) -> str:
        """Return a value of the manifest; "" if it is not set."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.value(name) or ""

    def embedding_model(self) -> str:
        """Return the fingerprint of the model that computed the vectors."""
        return self.value("embedding")

    def state_id(self) -> str:
        """Return an identifier that changes whenever the results of a query may change."""
        names = ("fingerprint", "updated_at", "head", HISTORY_VERSION)
        return "\0".join((str(self.generation), *map(self.value, names)))

    def bytes_indexed(self) -> int:
        """Return the total size of the searchable files in bytes."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.bytes_read(self.generation)

    def chunk_count(self) -> int:
        """Return the number of chunks."""
        with self._lock, storage_errors(self.folder):
            return self._documents.count()

    def backlog(self) -> Backlog:
        """Return a summary of the chunks with a pending embedding."""
        with self._lock, storage_errors(self.folder):
            return self._pending.backlog()

    def files_changed_since(self, generation: int) -> int:
        """Return the number of files that were changed or removed after a generation."""
        with self._lock, storage_errors(self.folder):
            changed, removed = self._manifest.list_changes_since(generation)
            return len(changed) + len(removed)

    def files(self, ids: Iterable[int]) -> dict[int, FileState]:
        """Return the states of files by id. Raise IndexStorageError for an unknown id."""
        wanted = list(ids)
        missing = [file_id for file_id in wanted if file_id not in self._files]
        if missing:
            with self._lock, storage_errors(self.folder):
                self._files.update(self._manifest.files_by_id(missing))
        try:
            return {at: self._files[at] for at in wanted}
        except KeyError as error:
            raise IndexStorageError(
                f"the index at {self.folder} is damaged: it lacks file {error}; "
                "run `rootle index --rebuild`"
            ) from error

    def preload(self) -> None:
        """Load all file states and chunks of a small index, and verify its word index."""
        with self._lock, storage_errors(self.folder):
            if self._manifest.count() <= _MAX_PRELOADED_FILES:
                self._read_all_files()
                self.sparse.prepare()
                if self.dense.count <= MAX_CHUNKS:
                    self.chunk_cache.read_all(self._documents)

    def file_count(self) -> int:
        """Return the number of files, skipped ones included."""
        with self._lock, storage_errors(self.folder):
            if self._file_count is None:
                self._file_count = self._manifest.count()
            return self._file_count

    def all_files(self) -> Sequence[FileState]:
        """Return the state of every file, including skipped ones."""
        with self._lock, storage_errors(self.folder):
            return self._read_all_files()

    def _read_all_files(self) -> Sequence[FileState]:
        """Return all states, and cache them if there are few: a snapshot does not change."""
        if self._all_files is not None:
            return self._all_files
        states = tuple(self._manifest.files())
        if len(states) <= _CACHED_FILES:
            self._files.update((state.id, state) for state in states)
            self._all_files = states
        return states

    def file_at(self, path: str) -> FileState | None:
        """Return the indexed document with this path or URI, None if there is none."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.file_at(path)

    def files_at(self, paths: Sequence[str]) -> list[FileState]:
        """Return the state of each of these files that is known, including skipped ones."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.files_at(paths)

    def files_with_endings(self, endings: Sequence[str]) -> list[FileState]:
        """Return the files whose names end in one of `endings`, including skipped ones."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.files_with_endings(endings)

    def unindexed_files(self) -> list[FileState]:
        """Return the files whose text is not indexed, or is indexed only up to a limit."""
        with self._lock, storage_errors(self.folder):
            if self._unindexed is None:
                self._unindexed = self._manifest.unindexed_files()
            return self._unindexed

    def paths_with_encoding(self, encoding: str) -> list[tuple[int, str]]:
        """Return the ids and the paths of the files that were read with an encoding."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.paths_with_encoding(encoding)

    def authors(self) -> list[tuple[int, str]]:
        """Return the ids and the authors of the indexed documents that have an author."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.authors()

    def path_positions(self, file_ids: Ids) -> Ids:
        """Return a sort key for each file. A file with a later path has a greater key."""
        return self.order.positions(file_ids)

    def files_with_digests(self, digests: Collection[bytes]) -> list[FileState]:
        """Return the files whose content has one of these digests. This scans all files."""
        with self._lock, storage_errors(self.folder):
            return self._manifest.find_by_digests(digests)

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return chunks by id, without unknown ids."""
        with self._lock, storage_errors(self.folder):
            found = self.chunk_cache.chunks(ids, self._documents)
            if len(found) < len(ids):
                self._check_unknown([chunk_id for chunk_id in ids if chunk_id not in found])
            return found

    def _check_unknown(self, chunk_ids: Sequence[int]) -> None:
        """Raise DamagedRowError if the vector matrix has a row for a chunk that was not found."""
        if (self.dense.find_files(np.array(chunk_ids, np.int64)) >= 0).any():
            raise DamagedRowError("a chunk is missing")

    def list_chunks(self, file_id: int) -> Sequence[ChunkRow]:
        with self._lock, storage_errors(self.folder):
            rows = self._documents.list_chunks(file_id)
            # The rows are found through a separate B-tree, which may be damaged.
            if len(rows) < self.dense.count_chunks(file_id) or any(
                row.file_id != file_id for row in rows
            ):
                raise DamagedRowError("a chunk is missing")
            return rows

    def read_vectors(self, file_id: int) -> list[bytes]:
        """Return the quantized vectors of a file's chunks in order, empty for pending ones."""
        with self._lock, storage_errors(self.folder):
            return [vector for _, _, vector in self._documents.read_vectors([file_id])]

    def list_symbols(self, chunk_ids: Sequence[int]) -> list[str]:
        """Return all names that chunks define, as written."""
        with self._lock, storage_errors(self.folder):
            return self._documents.list_symbols(chunk_ids)

    def text(self, file_id: int) -> str:
        """Return the indexed text of a file in NFC. It is not cached."""
        return compose(self.text_as_written(file_id))

    def text_as_written(self, file_id: int) -> str:
        """Return the indexed text of a file. It is not cached."""
        state = self.files([file_id])[file_id]
        with self._lock, storage_errors(self.folder):
            text = self._documents.text(file_id)
            if len(text) < _stored_chars(state):
                raise DamagedRowError("a part of a text is missing")
            return text

    def read_sections(self, file_id: int) -> Sequence[DocumentSection]:
        with self._lock, storage_errors(self.folder):
            return self._documents.read_sections(file_id)

    def sections_with(self, label: str, limit: int) -> Sequence[tuple[int, DocumentSection]]:
        with self._lock, storage_errors(self.folder):
            return self._documents.sections_with(label, limit)

    def section_labels(self) -> Mapping[int, Sequence[str]]:
        with self._lock, storage_errors(self.folder):
            return self._documents.section_labels()

    def sections_titled(self, prefix: str) -> Sequence[tuple[int, DocumentSection]]:
        with self._lock, storage_errors(self.folder):
            return self._documents.sections_titled(prefix)

    def documents_below(self, folder: str) -> set[int]:
        with self._lock, storage_errors(self.folder):
            return self._documents.documents_below(folder)

    def excerpts(self, places: Sequence[tuple[int, int, int]]) -> list[str]:
        """Return the indexed text of each range (file id, first character, end character)."""
        parts = [
            range(start // PART_CHARS, max(start, end - 1) // PART_CHARS + 1)
            for _, start, end in places
        ]
        wanted = {
            (file_id, part)
            for (file_id, _, _), own in zip(places, parts, strict=True)
            for part in own
        }
        texts = self._text_parts(wanted)
        self._check_empty([part for part in wanted if not texts[part]])
        excerpts = []
        for (file_id, start, end), own in zip(places, parts, strict=True):
            offset = own.start * PART_CHARS
            text = "".join([texts[file_id, part] for part in own])
            excerpts.append(text[start - offset : end - offset])
        return excerpts

    def _check_empty(self, parts: Collection[tuple[int, int]]) -> None:
        """Raise IndexStorageError if one of these empty parts should contain text."""
        states = self.files({file_id for file_id, _ in parts}) if parts else {}
        if any(part * PART_CHARS < _stored_chars(states[at]) for at, part in parts):
            with storage_errors(self.folder):
                raise DamagedRowError("a part of a text is missing")

    def _text_parts(self, wanted: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
        with self._lock, storage_errors(self.folder):
            texts = {part: text for part in wanted if (text := self._texts.pop(part, None))}
            missing = [part for part in wanted if part not in texts]
            texts.update(self._documents.text_parts(missing))
            self._texts.update(texts)  # at the end: the most recently used are evicted last
            while len(self._texts) > _CACHED_PARTS:
                del self._texts[next(iter(self._texts))]
            return texts


def _stored_chars(state: FileState) -> int:
    """Return the number of characters of a file that must be stored."""
    return 0 if state.skip is not None else state.chars - state.skipped_chars
