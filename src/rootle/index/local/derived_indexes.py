"""The word index and the matrix as a pair: what they lack of the truth, and a writer for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.errors import IndexStorageError
from rootle.index.local import dense_storage, sparse_storage
from rootle.index.local.dense_index import DenseWriter
from rootle.index.local.manifest import Manifest
from rootle.index.local.sparse_index import ChunkTerms, FileTerms, SparseWriter
from rootle.index.local.sparse_storage import LEVELS
from rootle.index.reader import Level

SPARSE_FOLDER: Final = "sparse"
DENSE_FOLDER: Final = "dense"


@dataclass(frozen=True, slots=True)
class IndexLag:
    """What the derived indexes have not seen yet: the generation that each holds.

    Each is committed by itself, so that a crash may leave some ahead of the others.
    None: nothing usable.
    """

    generation: int  # of the truth
    words_generation: int  # what changed since then is in the matrix alone
    levels_since: Mapping[Level, int | None]  # of the word indexes
    dense_since: int | None

    @property
    def sparse_since(self) -> int | None:
        known = [stamp for stamp in self.levels_since.values() if stamp is not None]
        return min(known) if len(known) == len(self.levels_since) else None

    def is_current(self, generation: int) -> bool:
        stamps = {*self.levels_since.values(), self.dense_since}
        return stamps == {generation}


def arrears(folder: Path, manifest: Manifest, dimensions: int) -> IndexLag:
    """How far the derived indexes are.

    One from before the manifest's floor or from the future is unusable, and so is a matrix of other
    dimensions.
    """
    generation, floor = manifest.generation(), int(manifest.value("floor") or 0)

    def usable(stamp: int | None) -> int | None:
        return stamp if stamp is not None and floor <= stamp <= generation else None

    stamps = sparse_storage.stored_generations(folder / SPARSE_FOLDER)
    return IndexLag(
        generation,
        manifest.words_generation(),
        {level: usable(stamp) for level, stamp in stamps.items()},
        usable(dense_storage.stored_generation(folder / DENSE_FOLDER, dimensions)),
    )


class DerivedWriter:
    """Brings both derived indexes to one generation. What is not committed never happened.

    What a crash kept from some of the parts is given with `missed`: the parts that have it already
    leave it as it is, so that they end up as if there had been no crash.
    """

    def __init__(self, folder: Path, dimensions: int, behind: IndexLag, *, bulk: bool) -> None:
        sparse_folder, dense_folder = folder / SPARSE_FOLDER, folder / DENSE_FOLDER
        try:
            if behind.sparse_since is None:
                sparse_storage.create(sparse_folder)
            if behind.dense_since is None:
                dense_storage.discard(dense_folder)
            self._sparse = SparseWriter(sparse_folder, bulk=bulk)
            self._dense = DenseWriter(dense_folder, dimensions)
        except OSError as error:
            raise IndexStorageError(
                f"cannot write the index at {folder}: {error.strerror or error}; "
                "free space or use --index-dir"
            ) from error
        # Where one word index is unusable both are made again.
        fresh = behind.sparse_since is None
        self._late_levels: tuple[Level, ...] = tuple(
            level
            for level, stamp in behind.levels_since.items()
            if fresh or stamp is None or stamp < behind.words_generation
        )
        self._dense_is_late = behind.dense_since != behind.generation
        self._changed_levels = {
            level
            for level, stamp in behind.levels_since.items()
            if fresh or stamp != behind.generation
        }
        self._dense_changed = self._dense_is_late
        self._forgotten: set[int] = set()
        self._gone_vectors: set[int] = set()

    @property
    def misses_words(self) -> bool:
        """Whether a word index lacks more than the stamp."""
        return bool(self._late_levels)

    def forget(self, file_id: int, *, missed: bool = False) -> None:
        """Drop what the indexes hold of a file; to be called before anything of it is added."""
        if file_id in self._forgotten:
            return
        self._forgotten.add(file_id)
        self._sparse.remove_file(file_id, self._levels(missed=missed))
        if self._takes_vectors(missed=missed):
            self._gone_vectors.add(file_id)

    def add_words(
        self, file: FileTerms, chunks: Iterable[ChunkTerms], *, missed: bool = False
    ) -> None:
        self._sparse.add_file(file, chunks, self._levels(missed=missed))

    def add_vectors(
        self,
        file_id: int,
        chunk_ids: Sequence[int],
        vectors: Sequence[bytes],
        *,
        missed: bool = False,
    ) -> None:
        if not self._takes_vectors(missed=missed):
            return
        for chunk_id, vector in zip(chunk_ids, vectors, strict=True):
            self._dense.add(chunk_id, file_id, vector)

    def renew_vectors(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        """Put other rows in the place of those that some files have.

        They come as (chunk id, file id, vector), all of a file one after the other. The words stay
        as they are and are stamped with the generation that comes.
        """
        self._dense_changed = True
        self._changed_levels.update(LEVELS)
        for chunk_id, file_id, vector in rows:
            self._gone_vectors.add(file_id)
            self._dense.add(chunk_id, file_id, vector)

    def commit(self, generation: int) -> None:
        """Stamp what was late or has changed with the generation; the rest has it already."""
        if self._dense_changed:
            self._dense.remove_files(self._gone_vectors)
            self._dense.commit(generation)
        self._sparse.commit(generation, self._changed_levels)
        self._sparse.close()

    def abandon(self) -> None:
        self._sparse.abandon()

    def _levels(self, *, missed: bool) -> Sequence[Level]:
        if missed:
            return self._late_levels
        self._changed_levels.update(LEVELS)
        return LEVELS

    def _takes_vectors(self, *, missed: bool) -> bool:
        if missed:
            return self._dense_is_late
        self._dense_changed = True
        return True
