"""Dates in topics."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from rootle.memory.corpus import distance_days
from rootle.memory.dates import DateRange, asks_for_present, parse_dates

TODAY = date(2023, 8, 16)  # a Wednesday

NAMED = [
    ("what happened on 2023-05-03", (2023, 5, 3), (2023, 5, 3)),
    ("releases of 2023-05", (2023, 5, 1), (2023, 5, 31)),
    ("who came to dinner on May 3, 2023?", (2023, 5, 3), (2023, 5, 3)),
    ("who came on 3 May 2023?", (2023, 5, 3), (2023, 5, 3)),
    ("what broke on the 3rd of June", (2023, 6, 3), (2023, 6, 3)),
    ("which library was chosen in May 2022", (2022, 5, 1), (2022, 5, 31)),
    ("what was decided in February", (2023, 2, 1), (2023, 2, 28)),
    ("the outage in December", (2022, 12, 1), (2022, 12, 31)),
    ("plans for Sept 2023", (2023, 9, 1), (2023, 9, 30)),
    ("the goals of 2022", (2022, 1, 1), (2022, 12, 31)),
    ("what did we do yesterday", (2023, 8, 15), (2023, 8, 15)),
    ("what did we do today", (2023, 8, 16), (2023, 8, 16)),
    ("last night's failure", (2023, 8, 15), (2023, 8, 16)),
    ("what was merged last week", (2023, 8, 7), (2023, 8, 13)),
    ("this week's work", (2023, 8, 14), (2023, 8, 16)),
    ("last month's costs", (2023, 7, 1), (2023, 7, 31)),
    ("last year", (2022, 1, 1), (2022, 12, 31)),
    ("what was said on Monday", (2023, 8, 14), (2023, 8, 14)),
    ("last Wednesday", (2023, 8, 9), (2023, 8, 9)),
    ("three days ago", (2023, 8, 13), (2023, 8, 13)),
    ("2 weeks ago", (2023, 7, 31), (2023, 8, 4)),
]


@pytest.mark.parametrize(("topic", "first", "last"), NAMED, ids=[case[0] for case in NAMED])
def test_dates_are_parsed(
    topic: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert parse_dates(topic, TODAY) == DateRange(date(*first), date(*last))


@pytest.mark.parametrize(
    "topic",
    [
        "the user may change it",
        "march through the list",
        "port 2023 of the server",
        "which test framework is used",
        "2023-13-45 is not a date",
        "February 31, 2023",
        "version 3.12.2024",
        "",
    ],
)
def test_other_words_and_numbers_are_not_parsed_as_dates(topic: str) -> None:
    assert parse_dates(topic, TODAY) is None


def test_a_day_before_the_range_counts_as_two_days() -> None:
    may = DateRange(date(2023, 5, 1), date(2023, 5, 31))
    days = [date(2023, 5, 20), date(2023, 6, 3), date(2023, 4, 28)]
    since_epoch = np.array([(day - date(1970, 1, 1)).days for day in days])
    assert distance_days(since_epoch, may).tolist() == [0, 3, 6]


@pytest.mark.parametrize(
    "topic", ["the user's current main project", "what is the latest plan", "do we still use tox?"]
)
def test_some_topics_ask_for_the_present(topic: str) -> None:
    assert asks_for_present(topic)
    assert not asks_for_present("how the user likes test output")
