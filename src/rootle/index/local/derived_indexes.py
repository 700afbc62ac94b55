"""Write the derived indexes (the word index and the vector matrix), and measure their lag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError, UnreadableIndexError
from rootle.index.local.inverted_index.commit_state import create_index
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.index.local.inverted_index.writer import ChunkTerms, FileTerms, SparseWriter
from rootle.index.local.manifest import Manifest
from rootle.index.local.vector_matrix import matrix_files
from rootle.index.local.vector_matrix.writer import DenseWriter

SPARSE_FOLDER: Final = "sparse"
DENSE_FOLDER: Final = "dense"


@dataclass(frozen=True, slots=True)
class IndexLag:
    """The generations of the derived indexes and of the database.

    `sparse_since` and `dense_since` are the generations ("stamps") of the word index and of the
    vector matrix; None means that the index is unusable. The indexes are committed one by one, so
    after a crash one may be ahead of the other.
    """

    generation: int  # the generation of the database
    words_generation: int  # the last generation that changed words, not only vectors
    sparse_since: int | None
    dense_since: int | None

    def is_current(self, generation: int) -> bool:
        return self.sparse_since == self.dense_since == generation


def measure_lag(folder: Path, manifest: Manifest, dimensions: int) -> IndexLag:
    """Return the lag of the derived indexes.

    An index is unusable if it is damaged, newer than the database, or older than the "floor", the
    generation at which this database started. The matrix is also unusable if its vectors do not
    have the given number of dimensions. Raises UnreadableIndexError if an index cannot be read now.
    """
    generation, floor = manifest.generation(), int(manifest.value("floor") or 0)

    def check(stamp: int | None) -> int | None:
        return stamp if stamp is not None and floor <= stamp <= generation else None

    return IndexLag(
        generation,
        manifest.words_generation(),
        check(_sparse_generation(folder / SPARSE_FOLDER)),
        check(matrix_files.stored_generation(folder / DENSE_FOLDER, dimensions)),
    )


def _sparse_generation(folder: Path) -> int | None:
    try:
        return EmbeddedSparse(folder).generation
    except UnreadableIndexError:
        raise
    except IndexStorageError:
        return None


class DerivedWriter:
    """Brings both derived indexes to the same generation. Nothing takes effect before `commit`.

    Changes that an index may have missed because of a crash are passed with `missed=True`. An index
    that already contains them ignores them, so the result is the same as without the crash.
    """

    def __init__(self, folder: Path, dimensions: int, lag: IndexLag) -> None:
        sparse_folder, dense_folder = folder / SPARSE_FOLDER, folder / DENSE_FOLDER
        try:
            if lag.sparse_since is None:
                create_index(sparse_folder)
            if lag.dense_since is None:
                matrix_files.discard(dense_folder)
            self._sparse = SparseWriter(sparse_folder)
            self._dense = DenseWriter(dense_folder, dimensions)
        except OSError as error:
            raise IndexStorageError(
                f"cannot write the index at {folder}: {error.strerror or error}; "
                "free up space or use --index-dir"
            ) from error
        self._generation = lag.generation
        # True if the word index lacks changes to words.
        self.misses_words = lag.sparse_since is None or lag.sparse_since < lag.words_generation
        self._dense_is_outdated = lag.dense_since != lag.generation
        self._sparse_changed = lag.sparse_since != lag.generation
        self._dense_changed = self._dense_is_outdated
        self._removed: set[int] = set()
        self._replaced_files: set[int] = set()

    def remove_file(self, file_id: int, *, missed: bool = False) -> None:
        """Delete a file from the indexes. Call this before adding its words or vectors."""
        if file_id in self._removed:
            return
        self._removed.add(file_id)
        if self._needs_words(missed=missed):
            self._sparse.remove_file(file_id)
        if self._needs_vectors(missed=missed):
            self._replaced_files.add(file_id)

    def add_words(
        self, file: FileTerms, chunks: Iterable[ChunkTerms], *, missed: bool = False
    ) -> None:
        """Add the words of a file and its chunks."""
        if self._needs_words(missed=missed):
            self._sparse.add_file(file, chunks)

    def add_vectors(
        self,
        file_id: int,
        chunk_ids: Sequence[int],
        vectors: Sequence[bytes],
        *,
        missed: bool = False,
    ) -> None:
        """Add the vectors of the chunks of a file."""
        if not self._needs_vectors(missed=missed):
            return
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            self._dense.add(chunk_id, file_id, vector)

    def replace_vectors(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        """Replace all vectors of the files that occur in `rows`.

        Each row is (chunk id, file id, vector), and the rows are grouped by file. The word index
        does not change, but `commit` updates its stamp.
        """
        self._dense_changed = self._sparse_changed = True
        for chunk_id, file_id, vector in rows:
            self._replaced_files.add(file_id)
            self._dense.add(chunk_id, file_id, vector)

    def commit(self, generation: int) -> None:
        """Commit the indexes that were outdated or have changed, with `generation` as the stamp.

        Even a generation that changes no words, such as one that only adds a binary file, must be
        stamped.
        """
        is_new = generation != self._generation
        if self._dense_changed or is_new:
            self._dense.remove_files(self._replaced_files)
            self._dense.commit(generation)
        if self._sparse_changed or is_new:
            self._sparse.commit(generation)

    def abandon(self) -> None:
        """Discard everything that was not committed."""
        self._sparse.abandon()

    def _needs_words(self, *, missed: bool) -> bool:
        if missed:
            return self.misses_words
        self._sparse_changed = True
        return True

    def _needs_vectors(self, *, missed: bool) -> bool:
        if missed:
            return self._dense_is_outdated
        self._dense_changed = True
        return True
