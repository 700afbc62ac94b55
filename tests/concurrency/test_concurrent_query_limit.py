"""The count of queries in progress."""

from __future__ import annotations

from rootle.concurrency.concurrent_query_limit import ActiveQueries


def test_a_query_is_alone_unless_another_one_is_in_progress() -> None:
    active = ActiveQueries()
    with active:
        found = [active.is_alone]
        with active:
            found.append(active.is_alone)
        found.append(active.is_alone)
    assert found == [True, False, True]
