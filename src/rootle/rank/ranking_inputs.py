"""The inputs of every ranker: scores and facts about the candidates of one question."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rootle.rank.question.parsed import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ChunkInputs:
    """Candidate chunks in order of path and line, one row each.

    A score of 0 means that the leg did not return the chunk.
    """

    ids: Ints
    files: Ints  # position of the chunk's file in FileInputs
    bm25: Floats
    dense: Floats  # cosine
    symbols: Floats  # BM25 over the names that the chunk defines
    notes: Floats  # BM25 over the comments and headings of the chunk
    defines: Flags  # the chunk defines a name of the question

    def reorder(self, order: Ints, file_positions: Ints) -> ChunkInputs:
        """Return the chunks in another order. `file_positions` has the files' new positions."""
        return ChunkInputs(
            self.ids[order],
            file_positions[self.files[order]],
            self.bm25[order],
            self.dense[order],
            self.symbols[order],
            self.notes[order],
            self.defines[order],
        )


@dataclass(frozen=True, slots=True)
class FileInputs:
    """The features of the candidate files: each field has one entry per file."""

    ids: Ints
    paths: tuple[str, ...]
    bm25: Floats  # over the whole text
    symbols: Floats
    path_bm25: Floats
    dense_best: Floats
    dense_mean: Floats
    coverage: Floats  # share of the question terms in the file, weighted by rarity
    passage: Floats  # largest unweighted share of the terms in one chunk
    definers: Floats  # sum of 1 / (number of files that define the name) over its defined names
    days: Floats  # since the last modification; NaN if unknown
    sizes: Floats  # bytes
    described: Floats  # like `passage`, without the terms of guessed code
    pairs: Floats  # largest share of the question's pairs of adjacent words in one chunk
    triples: Floats  # like `pairs`, for three adjacent words
    authors: tuple[str, ...] = ()  # "Name <address>", or "" if unknown

    def reorder(self, order: Ints) -> FileInputs:
        """Return the files in another order."""
        positions = order.tolist()
        return FileInputs(
            self.ids[order],
            tuple([self.paths[at] for at in positions]),
            self.bm25[order],
            self.symbols[order],
            self.path_bm25[order],
            self.dense_best[order],
            self.dense_mean[order],
            self.coverage[order],
            self.passage[order],
            self.definers[order],
            self.days[order],
            self.sizes[order],
            self.described[order],
            self.pairs[order],
            self.triples[order],
            tuple([self.authors[at] for at in positions]) if self.authors else (),
        )


@dataclass(frozen=True, slots=True)
class RankingInputs:
    """The question, its candidate chunks and their files."""

    question: Question
    chunks: ChunkInputs
    files: FileInputs
    unknown: float = 0.0  # share of the terms outside of guessed code that occur in no text

    def reorder_files(self, order: Ints) -> RankingInputs:
        """Return the inputs with reordered files, and with the chunks sorted by file and id."""
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        by_file = np.lexsort((self.chunks.ids, positions[self.chunks.files]))
        chunks = self.chunks.reorder(by_file, positions)
        return replace(self, chunks=chunks, files=self.files.reorder(order))
