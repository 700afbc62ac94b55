"""Retrieval of chunks by cosine alone: MRR and recall@10 of labeled targets."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.common.labels import Target
from benchmarks.common.metrics import TOP_K
from numpy.typing import NDArray

ChunkLines = tuple[str, int, int]  # path, first and last line


@dataclass(frozen=True, slots=True)
class ChunkScore:
    """The outcome of one question."""

    reciprocal_rank: float  # of the first chunk that overlaps an answer
    recall: float  # share of targets that the first ten chunks overlap
    is_hard: bool


def answering_chunks(target: Target, chunks: Sequence[ChunkLines]) -> set[int]:
    """Return the numbers of the chunks that overlap a span of a target."""
    return {
        number
        for number, (path, first, last) in enumerate(chunks)
        for span in target
        if path == span.path and first <= span.end_line and span.start_line <= last
    }


def score_chunks(scores: NDArray[Any], answers: Sequence[set[int]], *, is_hard: bool) -> ChunkScore:
    """Return a question's outcome from the scores of all chunks; `answers` has a set per target."""
    order = np.argsort(-scores, kind="stable").tolist()
    wanted = set[int]().union(*answers)
    first = next((rank for rank, number in enumerate(order, start=1) if number in wanted), 0)
    top = set(order[:TOP_K])
    recall = statistics.mean(bool(one & top) for one in answers)
    return ChunkScore(1 / first if first else 0.0, recall, is_hard)


def format_scores(scores: Sequence[ChunkScore]) -> str:
    """Return the means of both metrics as text."""
    mrr = statistics.fmean(one.reciprocal_rank for one in scores)
    recall = statistics.fmean(one.recall for one in scores)
    return f"MRR {mrr:.4f}  recall@10 {recall:.4f}  ({len(scores)} questions)"


def hard_scores(scores: Sequence[ChunkScore]) -> list[ChunkScore]:
    """Return the outcomes of the hard questions."""
    return [one for one in scores if one.is_hard]
