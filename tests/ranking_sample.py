"""Ranking inputs with hand-made values."""

from __future__ import annotations

from typing import Any

import numpy as np

from rootle.rank.question.parsed import parse_question
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, RankingInputs


def floats(values: list[float]) -> Any:
    return np.array(values, dtype=np.float64)


def make_inputs(
    question: str, paths: list[str], bm25: list[float], dense: list[float] | None = None
) -> RankingInputs:
    """Return ranking inputs with one chunk per file."""
    count = len(paths)
    nothing = np.zeros(count)
    numbers = np.arange(count)
    chunks = ChunkInputs(
        numbers + 100,
        numbers,
        floats(bm25),
        floats(dense or [0.0] * count),
        nothing,
        nothing,
        np.zeros(count, dtype=bool),
    )
    others: Any = [nothing] * 12
    files = FileInputs(numbers + 1, tuple(paths), floats(bm25), *others)
    return RankingInputs(parse_question(question, str.split), chunks, files)
