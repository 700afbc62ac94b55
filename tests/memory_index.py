"""An index in memory: the smallest implementation of the reading interface."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from hash_embedder import HashEmbedder

from rootle.errors import IndexStorageError
from rootle.index.reader import (
    ChunkRow,
    FileChunks,
    FileState,
    IndexReader,
    Level,
    Neighbors,
    TextRange,
)
from rootle.protocols import Ids, Matrix, RankedIds, Vector, WeightedTerm
from rootle.text.languages import file_language
from rootle.text.terms import WORD, compose, whole_identifier, word_terms
from rootle.types import DocumentSection

_CHUNK_LINES = 4


class MemoryIndex(IndexReader):
    """An index of texts by path. A line that begins with `def` and a name defines this name."""

    def __init__(self, texts: Mapping[str, str], embedder: HashEmbedder) -> None:
        self._texts = dict(enumerate(texts.values(), start=1))
        self._states = {at: _state(at, path, texts[path]) for at, path in enumerate(texts, start=1)}
        self._rows = _cut(self._texts)
        self.embedder = embedder

    @property
    def generation(self) -> int:
        return 1

    @cached_property
    def sparse(self) -> MemorySparse:
        return MemorySparse(self._texts, self._rows, {s.id: s.path for s in self._states.values()})

    @cached_property
    def dense(self) -> MemoryDense:
        bodies = [self._texts[row.file_id][row.start : row.end] for row in self._rows]
        return MemoryDense(self._rows, self.embedder.embed(bodies))

    def embedding_model(self) -> str:
        return self.embedder.fingerprint

    def state_id(self) -> str:
        return "in memory"

    def files(self, ids: Iterable[int]) -> dict[int, FileState]:
        try:
            return {at: self._states[at] for at in ids}
        except KeyError as error:
            raise IndexStorageError(f"there is no file {error}") from error

    def file_at(self, path: str) -> FileState | None:
        return next((state for state in self.all_files() if state.path == path), None)

    def file_count(self) -> int:
        return len(self._states)

    def preload(self) -> None:
        pass

    def all_files(self) -> list[FileState]:
        return list(self._states.values())

    def files_with_endings(self, endings: Sequence[str]) -> list[FileState]:
        return [one for one in self.all_files() if one.path.lower().endswith(tuple(endings))]

    def documents_below(self, folder: str) -> set[int]:
        return {one.id for one in self.all_files() if one.path.startswith(folder)}

    def unindexed_files(self) -> list[FileState]:
        return []

    def paths_with_encoding(self, encoding: str) -> list[tuple[int, str]]:
        return [(one.id, one.path) for one in self._states.values() if one.encoding == encoding]

    def authors(self) -> list[tuple[int, str]]:
        return [(one.id, one.author) for one in self._states.values() if one.author]

    def path_positions(self, file_ids: Ids) -> Ids:
        by_path = sorted(self._states, key=lambda at: self._states[at].path)
        return np.array([by_path.index(at) for at in file_ids.tolist()], np.int64)

    def files_with_digests(self, digests: Collection[bytes]) -> list[FileState]:
        return [state for state in self._states.values() if state.digest in digests]

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        wanted = set(ids)
        return {row.id: row for row in self._rows if row.id in wanted}

    def list_chunks(self, file_id: int) -> list[ChunkRow]:
        return [row for row in self._rows if row.file_id == file_id]

    def list_symbols(self, chunk_ids: Sequence[int]) -> list[str]:
        rows = self.chunks(chunk_ids).values()
        return [name for row in rows for name in find_defined_names(self._texts[row.file_id], row)]

    def text(self, file_id: int) -> str:
        return compose(self._texts[file_id])

    def text_as_written(self, file_id: int) -> str:
        return self._texts[file_id]

    def read_sections(self, file_id: int) -> list[DocumentSection]:
        return []

    def section_labels(self) -> dict[int, list[str]]:
        return {}

    def sections_with(self, label: str, limit: int) -> list[tuple[int, DocumentSection]]:
        return []

    def sections_titled(self, prefix: str) -> list[tuple[int, DocumentSection]]:
        return []

    def excerpts(self, ranges: Sequence[TextRange]) -> list[str]:
        return [self._texts[file_id][start:end] for file_id, start, end in ranges]


class MemorySparse:
    """A sparse index that scores documents by TF-IDF, which is enough to rank a few files."""

    def __init__(
        self, texts: Mapping[int, str], rows: Sequence[ChunkRow], paths: Mapping[int, str]
    ) -> None:
        self._file_of = {row.id: row.file_id for row in rows}
        bodies = {row.id: texts[row.file_id][row.start : row.end] for row in rows}
        symbols = {row.id: " ".join(find_defined_names(texts[row.file_id], row)) for row in rows}
        self._defined = {
            at: set(map(whole_identifier, text.split())) for at, text in symbols.items()
        }
        self._fields = {
            ("chunks", "body"): _count_terms(bodies),
            ("chunks", "symbols"): _count_terms(symbols),
            ("files", "body"): _count_terms(texts),
            ("files", "path"): _count_terms(paths),
        }

    def stems(self, terms: str) -> list[str]:
        return terms.split()

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        return self.field_scores("chunks", ["body"], terms, k, files=files)

    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> RankedIds:
        scores: defaultdict[int, float] = defaultdict(float)
        for field in fields:
            documents = self._fields.get((level, field), {})
            for term in terms:
                found = [at for at, counts in documents.items() if counts[term.text]]
                for at in found:
                    scores[at] += term.weight * math.log(1 + len(documents) / len(found))
        allowed = {at for at in scores if files is None or self._owner(level, at) in files}
        best = sorted(allowed, key=lambda at: (-scores[at], at))[:k]
        return _make_hits([(at, scores[at]) for at in best])

    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, Ids]:
        chunks = self._fields["chunks", "body"]
        masks = {
            at: sum(1 << bit for bit, term in enumerate(terms) if counts[term])
            for at, counts in chunks.items()
            if (at if among == "chunk" else self._file_of[at]) in ids
        }
        found = sorted((at for at, mask in masks.items() if mask), key=lambda at: -masks[at])[:k]
        return _to_ids(found), _to_ids(masks[at] for at in found)

    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        files = self._fields["files", "body"].values()
        return len(files), [sum(counts[term] > 0 for counts in files) for term in terms]

    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> list[int]:
        return [
            at
            for at, counts in self._fields["files", "body"].items()
            if (files is None or at in files)
            and all(counts[term] for term in terms)
            and all(any(part in term for term in counts) for part in parts)
        ][:k]

    def definers(self, names: Sequence[str], k: int = 1_000) -> dict[str, list[int]]:
        return {
            name: [at for at, own in self._defined.items() if name in own][:k] for name in names
        }

    def near_definers(self, name: str, distance: int, k: int) -> list[int]:
        return [
            at
            for at, own in self._defined.items()
            if any(abs(len(one) - len(name)) <= distance for one in own)
        ][:k]

    def is_known(self, name: str) -> bool:
        return any(counts[name] for counts in self._fields["files", "body"].values())

    def _owner(self, level: Level, at: int) -> int:
        return self._file_of[at] if level == "chunks" else at


class MemoryDense:
    """A dense index that compares every vector with the question."""

    def __init__(self, rows: Sequence[ChunkRow], vectors: Matrix) -> None:
        self._ids = _to_ids(row.id for row in rows)
        self._files = _to_ids(row.file_id for row in rows)
        self._vectors = vectors

    @property
    def dimensions(self) -> int:
        return int(self._vectors.shape[1])

    @property
    def count(self) -> int:
        return len(self._ids)

    @property
    def pending(self) -> int:
        return 0

    def nearest(
        self,
        vector: Vector,
        k: int,
        files: Collection[int] | None = None,
        *,
        is_alone: bool = True,
    ) -> Neighbors:
        scores = self._vectors @ vector
        rows = [
            row
            for row in np.argsort(-scores, kind="stable").tolist()
            if files is None or self._files[row] in files
        ]
        return Neighbors(_make_hits([(self._ids[row], scores[row]) for row in rows[:k]]), vector)

    def cosines(self, neighbors: Neighbors, file_ids: Ids) -> FileChunks:
        rows = np.isin(self._files, file_ids)
        scores = (self._vectors[rows] @ neighbors.vector).astype(np.float32)
        return FileChunks(self._ids[rows], self._files[rows], scores)

    def list_chunks(self, file_ids: Ids) -> FileChunks:
        rows = np.isin(self._files, file_ids)
        return FileChunks(self._ids[rows], self._files[rows])

    def find_files(self, chunk_ids: Ids) -> Ids:
        known = dict(zip(self._ids.tolist(), self._files.tolist(), strict=True))
        return _to_ids(known.get(at, -1) for at in chunk_ids.tolist())

    def similarities(self, chunk_ids: Ids) -> Matrix:
        vectors = self._vectors[self._ids.searchsorted(chunk_ids)]
        cosines: Matrix = vectors @ vectors.T
        return cosines


def _state(file_id: int, path: str, text: str) -> FileState:
    return FileState(
        id=file_id,
        path=path,
        size=len(text.encode()),
        mtime_ns=1_700_000_000_000_000_000,
        seen_ns=1_800_000_000_000_000_000,
        digest=text.encode(),
        skip=None,
        language=file_language(path),
        encoding="utf-8",
        chars=len(text),
        skipped_chars=0,
        committed_s=None,
        is_dirty=True,
        generation=1,
    )


def _cut(texts: Mapping[int, str]) -> list[ChunkRow]:
    rows: list[ChunkRow] = []
    for file_id, text in texts.items():
        lines, start = text.splitlines(keepends=True), 0
        for seq, first in enumerate(range(0, len(lines), _CHUNK_LINES)):
            own = lines[first : first + _CHUNK_LINES]
            end = start + sum(map(len, own))
            last = first + len(own)
            rows.append(ChunkRow(len(rows) + 1, file_id, seq, first + 1, last, start, end, ""))
            start = end
    return rows


def find_defined_names(text: str, row: ChunkRow) -> list[str]:
    lines = text[row.start : row.end].splitlines()
    return [WORD.findall(line)[1] for line in lines if line.startswith("def ")]


def _count_terms(texts: Mapping[int, str]) -> dict[int, Counter[str]]:
    return {
        at: Counter(term for word in WORD.findall(text) for term in word_terms(word))
        for at, text in texts.items()
    }


def _make_hits(pairs: Sequence[tuple[int, float]]) -> RankedIds:
    return RankedIds(_to_ids(at for at, _ in pairs), np.array([s for _, s in pairs], np.float32))


def _to_ids(values: Iterable[int]) -> Ids:
    return np.fromiter(values, np.int64)
