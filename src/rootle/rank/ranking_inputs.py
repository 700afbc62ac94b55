"""What the indexes say about a question's candidates: the only thing that a ranking sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rootle.rank.question.parsed import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ChunkInputs:
    """One row a candidate chunk. A score of 0: the leg did not find it."""

    ids: Ints
    files: Ints  # position of its file among the candidate files
    bm25: Floats
    dense: Floats  # cosine
    symbols: Floats  # BM25 over the names that it defines
    notes: Floats  # BM25 over its comments and headings
    defines: Flags  # it defines a name that the question asks for


@dataclass(frozen=True, slots=True)
class FileInputs:
    """One row a candidate file."""

    ids: Ints
    paths: tuple[str, ...]
    bm25: Floats  # over the whole text
    symbols: Floats
    path_bm25: Floats
    dense_best: Floats
    dense_mean: Floats
    coverage: Floats  # share of the question's terms in the file, weighted by rarity
    passage: Floats  # the largest share of them in one chunk, all counting alike
    definers: Floats  # sum of 1 / (files that define it) over the names that it defines
    days: Floats  # since it was modified
    sizes: Floats  # bytes
    authors: tuple[str, ...] = ()  # "Name <address>" each; told only where a signal asks for it


@dataclass(frozen=True, slots=True)
class RankingInputs:
    question: Question
    chunks: ChunkInputs
    files: FileInputs
    unknown: float = 0.0  # the share of the question's terms that stand nowhere
