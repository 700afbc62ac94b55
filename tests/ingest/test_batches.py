"""The documents of a run are written in batches that are small at first, and never late."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rootle.ingest.batches import (
    BatchLimits,
    CommitSchedule,
    Stages,
    choose_limits,
    make_batches,
)
from rootle.ingest.workers.jobs import DocumentFacts, ReadJob, ReadResult


def results(count: int, chars: int) -> list[ReadResult]:
    facts = DocumentFacts(chars=chars)
    return [ReadResult(ReadJob(f"{n}", 1, 0, 0, None), facts=facts) for n in range(count)]


def test_batches_keep_the_order_and_grow_up_to_a_limit() -> None:
    documents = results(40, 10)
    batches = list(make_batches(iter(documents), BatchLimits(20, 100), lambda: 0.0))
    assert [one for batch in batches for one in batch] == documents
    assert [len(batch) for batch in batches] == [2, 4, 8, 10, 10, 6]


def test_a_batch_ends_after_its_time_whatever_its_size() -> None:
    seconds = [0.0]

    def read_slowly() -> Iterator[ReadResult]:
        for result in results(7, 1):
            yield result
            seconds[0] += 1.0

    limits = BatchLimits(1_000, 1_000, max_s=2.0)
    batches = make_batches(read_slowly(), limits, lambda: seconds[0])
    assert [len(batch) for batch in batches] == [3, 3, 1]


def test_only_an_index_that_is_searched_meanwhile_has_small_batches() -> None:
    documents = results(100, 10_000)
    sizes = [
        [len(batch) for batch in make_batches(iter(documents), choose_limits(in_stages=one))]
        for one in (True, False)
    ]
    assert sizes[0][0] < 10
    assert sizes[1] == [100]


@pytest.mark.parametrize(
    ("stages", "is_first_run", "due"),
    [
        # The first commit is due after 10 MB, and the next ones whenever the text has doubled.
        ("first run, rarely", True, [5, 10, 20]),
        ("first run, rarely", False, []),
        ("first run", True, [*range(1, 25)]),
        ("first run", False, []),
        ("always", False, [*range(1, 25)]),
        ("never", True, []),
    ],
)
def test_the_derived_indexes_are_committed_as_often_as_queries_need_it(
    stages: Stages, is_first_run: bool, due: list[int]
) -> None:
    schedule = CommitSchedule(stages, is_first_run=is_first_run)
    batch = results(2, 1_000_000)
    assert [number for number in range(1, 25) if schedule.is_due_after(batch)] == due
