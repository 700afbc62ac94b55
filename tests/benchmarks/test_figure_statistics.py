"""Means, percentiles and bootstrap intervals, on examples computed by hand."""

from __future__ import annotations

import pytest
from benchmarks.common.reports import format_interval
from benchmarks.common.statistics import (
    cluster_interval,
    latency_percentiles,
    mean,
    percentile_interval,
    resampled_rows,
)


def test_the_mean_of_no_values_is_zero() -> None:
    assert mean([]) == 0.0
    assert mean(value > 1 for value in (1, 2, 3, 4)) == 0.75


def test_latency_percentiles_are_the_median_and_the_95th() -> None:
    median, p95 = latency_percentiles([float(value) for value in range(1, 100)])
    assert (median, p95) == (50.0, 95.0)


def test_percentile_interval_contains_the_middle_95_percent() -> None:
    assert percentile_interval([float(value) for value in range(1001)]) == (25.0, 975.0)


def test_interval_of_equal_clusters_is_a_point() -> None:
    assert cluster_interval([[0.5, 0.5], [0.5]]) == (0.5, 0.5)


@pytest.mark.slow
def test_interval_covers_the_mean_of_cluster_means() -> None:
    # A cluster of 98 zeros has the same weight as a cluster with a single 1.
    low, high = cluster_interval([[0.0] * 98] * 20 + [[1.0]] * 20)
    assert low < 0.5 < high
    assert 0.3 < low < 0.4
    assert 0.6 < high < 0.7


def test_interval_varies_within_a_single_cluster() -> None:
    low, high = cluster_interval([[0.0, 1.0] * 50])
    assert 0.35 < low < 0.5 < high < 0.65


def test_resampled_rows_are_reproducible_and_in_range() -> None:
    rows = resampled_rows(3, 50, seed=0)
    assert rows.shape == (50, 3)
    assert set(rows.ravel().tolist()) == {0, 1, 2}
    assert (rows == resampled_rows(3, 50, seed=0)).all()


def test_intervals_are_printed_with_both_ends() -> None:
    assert format_interval((0.1234, 0.5)) == "(0.123–0.500)"
    assert format_interval((-0.01, 0.2), "+.2f", " to ") == "(-0.01 to +0.20)"
