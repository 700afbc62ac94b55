"""An index in which some sections must not be shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from rootle.index.reader import (
    ChunkRow,
    DenseReader,
    FileState,
    IndexReader,
    SparseReader,
    TextRange,
)
from rootle.protocols import Ids
from rootle.types import HIDDEN_CHANGE, DocumentSection


class MaskedIndex(IndexReader):
    """An index in which some sections must not be shown.

    Their lines are replaced by spaces, so that all other text keeps its place. In `read_sections`,
    they have the label HIDDEN_CHANGE and no title; the other methods leave them out. The words and
    vectors of their chunks can still be found.
    """

    def __init__(self, index: IndexReader, hidden: Mapping[int, Collection[str]]) -> None:
        """`hidden` maps documents to the labels of their sections that must not be shown."""
        self._index = index
        self._hidden = hidden

    @property
    def generation(self) -> int:
        return self._index.generation

    @property
    def sparse(self) -> SparseReader:
        return self._index.sparse

    @property
    def dense(self) -> DenseReader:
        return self._index.dense

    def embedding_model(self) -> str:
        return self._index.embedding_model()

    def state_id(self) -> str:
        hidden = sorted((at, sorted(labels)) for at, labels in self._hidden.items())
        digest = blake2b(repr(hidden).encode("utf-8", "surrogatepass"), digest_size=16)
        return f"{self._index.state_id()}\0{digest.hexdigest()}"

    def preload(self) -> None:
        self._index.preload()

    def files(self, ids: Iterable[int]) -> Mapping[int, FileState]:
        return self._index.files(ids)

    def file_count(self) -> int:
        return self._index.file_count()

    def all_files(self) -> Sequence[FileState]:
        return self._index.all_files()

    def file_at(self, path: str) -> FileState | None:
        return self._index.file_at(path)

    def files_with_endings(self, endings: Sequence[str]) -> Sequence[FileState]:
        return self._index.files_with_endings(endings)

    def unindexed_files(self) -> Sequence[FileState]:
        return self._index.unindexed_files()

    def paths_with_encoding(self, encoding: str) -> Sequence[tuple[int, str]]:
        return self._index.paths_with_encoding(encoding)

    def authors(self) -> Sequence[tuple[int, str]]:
        return self._index.authors()

    def path_positions(self, file_ids: Ids) -> Ids:
        return self._index.path_positions(file_ids)

    def files_with_digests(self, digests: Collection[bytes]) -> Sequence[FileState]:
        return self._index.files_with_digests(digests)

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        return self._index.chunks(ids)

    def list_chunks(self, file_id: int) -> Sequence[ChunkRow]:
        return self._index.list_chunks(file_id)

    def list_symbols(self, chunk_ids: Sequence[int]) -> Sequence[str]:
        return self._index.list_symbols(chunk_ids)

    def text(self, file_id: int) -> str:
        return self._mask(file_id, self._index.text(file_id))

    def text_as_written(self, file_id: int) -> str:
        return self._mask(file_id, self._index.text_as_written(file_id))

    def _mask(self, file_id: int, text: str) -> str:
        if file_id not in self._hidden:
            return text
        lines = text.split("\n")
        for section in self._index.read_sections(file_id):
            if self._hides(file_id, section):
                rows = slice(section.start_line - 1, section.end_line)
                lines[rows] = [" " * len(line) for line in lines[rows]]
        return "\n".join(lines)

    def excerpts(self, ranges: Sequence[TextRange]) -> Sequence[str]:
        masked = {
            at: self.text_as_written(at) for at in {one[0] for one in ranges} & self._hidden.keys()
        }
        return [
            masked[file_id][start:end] if file_id in masked else found
            for (file_id, start, end), found in zip(
                ranges, self._index.excerpts(ranges), strict=True
            )
        ]

    def read_sections(self, file_id: int) -> Sequence[DocumentSection]:
        return [
            replace(one, label=HIDDEN_CHANGE, title="") if self._hides(file_id, one) else one
            for one in self._index.read_sections(file_id)
        ]

    def sections_with(self, label: str, limit: int) -> Sequence[tuple[int, DocumentSection]]:
        return self._drop_hidden(self._index.sections_with(label, limit))

    def sections_titled(self, prefix: str) -> Sequence[tuple[int, DocumentSection]]:
        return self._drop_hidden(self._index.sections_titled(prefix))

    def section_labels(self) -> Mapping[int, Sequence[str]]:
        labels = self._index.section_labels()
        kept = {
            at: [label for label in labels.get(at, ()) if label not in hidden]
            for at, hidden in self._hidden.items()
        }
        return {**labels, **kept}

    def documents_below(self, folder: str) -> Collection[int]:
        return self._index.documents_below(folder)

    def _hides(self, file_id: int, section: DocumentSection) -> bool:
        return section.label in self._hidden.get(file_id, ())

    def _drop_hidden(
        self, found: Sequence[tuple[int, DocumentSection]]
    ) -> Sequence[tuple[int, DocumentSection]]:
        return [(at, section) for at, section in found if not self._hides(at, section)]
