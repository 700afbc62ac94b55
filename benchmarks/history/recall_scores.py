"""Recall and rank metrics of changed files per repository, compared with a baseline."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common.statistics import (
    Interval,
    mean,
    percentile_interval,
    resampled_rows,
)

BASELINE = "bm25"
DRAWS = 10_000

Ranks = Sequence[int | None]  # one per target file; None: not found


@dataclass(frozen=True)
class QuestionRanks:
    """The ranks of one question's target files in the results of each system."""

    commit: str
    text: str
    files: tuple[str, ...]
    is_test: tuple[bool, ...]  # for each file
    names_target: bool  # whether the text names a target
    ranks: Mapping[str, Ranks]  # by system


@dataclass(frozen=True)
class Scores:
    """The scores of one system on one repository, or their means over several."""

    recall: float
    source_recall: float | None  # over files that are not tests; None if all are tests
    hit1: float
    mrr: float


@dataclass(frozen=True)
class Comparison:
    """The interval of a mean recall, and the ratio of this mean to the baseline's."""

    interval: Interval
    ratio: float | None
    ratio_interval: Interval | None


@dataclass(frozen=True)
class Summary:
    """The mean scores of one system over repositories."""

    repositories: int
    scores: Scores
    recall: Comparison
    source_recall: Comparison


def file_ranks(files: Iterable[str], results: Sequence[str]) -> list[int | None]:
    """Return the rank of each file's first result; repeated results take up ranks too."""
    return [results.index(path) + 1 if path in results else None for path in files]


def score_questions(questions: Sequence[QuestionRanks], system: str) -> Scores:
    """Return the mean scores of one system over the questions of a repository."""
    ranks = [question.ranks[system] for question in questions]
    source_ranks = [
        [rank for rank, is_test in zip(found, question.is_test, strict=True) if not is_test]
        for question, found in zip(questions, ranks, strict=True)
    ]
    best = [min(filter(None, found), default=None) for found in ranks]
    recall = mean_recall(ranks)
    assert recall is not None
    return Scores(
        recall,
        mean_recall([found for found in source_ranks if found]),
        statistics.mean(rank == 1 for rank in best),
        statistics.mean(1 / rank if rank else 0.0 for rank in best),
    )


def mean_recall(ranks: Sequence[Ranks]) -> float | None:
    """Return the mean share of found files, or None if there are no questions."""
    shares = [statistics.mean(rank is not None for rank in found) for found in ranks]
    return statistics.mean(shares) if shares else None


def summarize(by_repository: Sequence[Mapping[str, Scores]], system: str) -> Summary:
    """Return one system's means over the repositories that it answered."""
    rows = [row for row in by_repository if system in row]
    source = [row[system].source_recall for row in rows]
    return Summary(
        len(rows),
        Scores(
            mean(row[system].recall for row in rows),
            mean(value for value in source if value is not None),
            mean(row[system].hit1 for row in rows),
            mean(row[system].mrr for row in rows),
        ),
        compare([(row[system].recall, row[BASELINE].recall) for row in rows]),
        compare([(row[system].source_recall, row[BASELINE].source_recall) for row in rows]),
    )


def compare(pairs: Sequence[tuple[float | None, float | None]]) -> Comparison:
    """Return the bootstrap intervals of a mean and of its ratio to the baseline's mean.

    `pairs` holds the values of system and baseline for each repository. Both are resampled
    together, because a repository is easy or hard for all systems alike.
    """
    values = np.array([pair for pair in pairs if None not in pair] or [(0.0, 0.0)], np.float64)
    drawn = resampled_rows(len(values), DRAWS, seed=0)
    means, baseline_means = values[drawn].mean(axis=1).T
    mean_value, baseline_mean = values.mean(axis=0).tolist()
    ratios = means[baseline_means > 0] / baseline_means[baseline_means > 0]
    return Comparison(
        percentile_interval(means),
        mean_value / baseline_mean if baseline_mean else None,
        percentile_interval(ratios) if len(ratios) else None,
    )
