"""Means, percentiles and bootstrap intervals of benchmark figures."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]
Floats = NDArray[np.float64]

CLUSTER_DRAWS = 2_000


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean, or 0.0 for no values."""
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def latency_percentiles(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile of at least two times."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def percentile_interval(draws: Sequence[float] | Floats) -> Interval:
    """Return the 2.5th and the 97.5th percentile of bootstrap draws."""
    low, high = np.percentile(np.asarray(draws), [2.5, 97.5])
    return float(low), float(high)


def cluster_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    """Return the 95 % bootstrap interval of the mean of cluster means.

    Each draw resamples the clusters, then the values within each drawn cluster.
    """
    rng = random.Random(1)
    means = []
    for _ in range(CLUSTER_DRAWS):
        drawn = rng.choices(clusters, k=len(clusters))
        means.append(mean(mean(rng.choices(one, k=len(one))) for one in drawn if one))
    means.sort()
    return means[int(0.025 * CLUSTER_DRAWS)], means[int(0.975 * CLUSTER_DRAWS)]


def resampled_rows(count: int, draws: int, seed: int) -> NDArray[np.int64]:
    """Return row numbers drawn with replacement, one sample of `count` rows per draw."""
    return np.random.default_rng(seed).integers(count, size=(draws, count))
