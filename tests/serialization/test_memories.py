"""The age of a memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rootle.serialization.memories import describe_age
from rootle.types import Memory

NOON = datetime(2026, 11, 28, 12, 0)  # local time


def age_at(stored: datetime, now: datetime = NOON) -> str:
    created_at = stored.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return describe_age(Memory("1", "a b", created_at), now.timestamp())


@pytest.mark.parametrize(
    ("stored", "age"),
    [
        (NOON, "today"),
        (NOON.replace(hour=0), "today"),
        (NOON.replace(hour=23), "today"),
        (NOON.replace(hour=0) - timedelta(minutes=1), "1 day ago"),
        (NOON - timedelta(days=6), "6 days ago"),
        (NOON - timedelta(days=21), "3 weeks ago"),
        (NOON + timedelta(days=400), "in the future"),
    ],
)
def test_an_age_counts_the_days_of_the_calendar(stored: datetime, age: str) -> None:
    assert age_at(stored) == age
