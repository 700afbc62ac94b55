"""The word index and the matrix as a pair: what they lack of the truth, and a writer for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.index import embedded_dense, embedded_sparse
from rootle.index.embedded_dense import DenseWriter
from rootle.index.embedded_sparse import ChunkTerms, FileTerms, SparseWriter

SPARSE_FOLDER: Final = "sparse"
DENSE_FOLDER: Final = "dense"


@dataclass(frozen=True, slots=True)
class Arrears:
    """What the derived indexes have not seen yet."""

    sparse_since: int | None  # the generation that the word index holds; None: nothing usable
    dense_since: int | None

    def is_current(self, generation: int) -> bool:
        return self.sparse_since == generation and self.dense_since == generation


def arrears(folder: Path, generation: int, floor: int) -> Arrears:
    """How far the derived indexes are; one from before `floor` or from the future is unusable."""

    def usable(stamp: int | None) -> int | None:
        return stamp if stamp is not None and floor <= stamp <= generation else None

    return Arrears(
        usable(embedded_sparse.stored_generation(folder / SPARSE_FOLDER)),
        usable(embedded_dense.stored_generation(folder / DENSE_FOLDER)),
    )


class DerivedWriter:
    """Brings both derived indexes to one generation. What is not committed never happened."""

    def __init__(self, folder: Path, dimensions: int, behind: Arrears, *, bulk: bool) -> None:
        sparse_folder, dense_folder = folder / SPARSE_FOLDER, folder / DENSE_FOLDER
        try:
            if behind.sparse_since is None:
                embedded_sparse.create(sparse_folder)
            if behind.dense_since is None:
                embedded_dense.discard(dense_folder)
            self._sparse = SparseWriter(sparse_folder, bulk=bulk)
            self._dense = DenseWriter(dense_folder, dimensions)
        except OSError as error:
            raise IndexStorageError(
                f"cannot write the index at {folder}: {error.strerror or error}; "
                "free space or use --index-dir"
            ) from error
        self._bulk = bulk
        self._old: set[int] = set()

    def forget(self, file_id: int) -> None:
        """Drop what the indexes hold of a file; it must be called before anything of it is added."""
        if file_id not in self._old:
            self._old.add(file_id)
            self._sparse.remove_file(file_id)

    def add_words(self, file: FileTerms, chunks: Iterable[ChunkTerms]) -> None:
        self._sparse.add_file(file, chunks)

    def add_vectors(self, file_id: int, chunk_ids: Sequence[int], vectors: Sequence[bytes]) -> None:
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            if vector:
                self._dense.add(chunk_id, file_id, vector)

    def commit(self, generation: int) -> None:
        self._dense.remove_files(self._old)
        self._dense.commit(generation)
        self._sparse.commit(generation)
        self._sparse.close(merge=self._bulk)

    def abandon(self) -> None:
        self._sparse.close(merge=False)
