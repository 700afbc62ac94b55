"""Look-up benchmarks: scores of definitions and uses, ranks of removed functions, and depths."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from benchmarks.quality.candidate_lists import UNION, FirstAnswer, summarize_lists
from benchmarks.quality.removed_functions import first_rank, format_shares
from benchmarks.quality.symbol_lookup import Tally, format_row, score_definition, score_use
from benchmarks.quality.symbol_oracles import Tag

from rootle import FileMetadata, SearchResult, Span

_TAG = Tag("badger", "den.py", 30, "", is_top=True, language="python")
_RESULT = SearchResult("den.py", 1, 9, "", 0.5, "merged", FileMetadata(None, "python", 1))


@pytest.mark.parametrize(
    ("first", "file_first", "shown"),
    [
        (None, 0, 0),
        (replace(_RESULT, file_path="set.py", end_line=40), 0, 0),
        (_RESULT, 1, 0),
        (replace(_RESULT, end_line=30), 1, 1),
        (replace(_RESULT, more_spans=(Span(30, 31, "", ""),)), 1, 1),
    ],
)
def test_a_definition_counts_in_its_file_and_on_its_line(
    first: SearchResult | None, file_first: int, shown: int
) -> None:
    assert score_definition(_TAG, first) == Tally(names=1, file_first=file_first, shown=shown)


def test_the_resolved_uses_of_a_method_are_compared_with_those_of_jedi() -> None:
    tally = Tally()
    for is_right, is_resolved in ((True, True), (True, True), (True, False), (False, True)):
        tally.add(score_use(is_right=is_right, is_resolved=is_resolved))
    assert tally == Tally(listed=4, expected=3, resolved=3, right=2, reported=2)


def test_the_row_of_a_repository_has_its_shares() -> None:
    tally = Tally(
        names=8, file_first=6, shown=4, used=5, use_lines=40, found_lines=39, first_hits=1,
        resolved=3, right=2, listed=4, expected=3, reported=2,
    )  # fmt: skip
    shares = ["75.0%", "50.0%", "5", "97.5%", "20.0%", "66.7%", "66.7%", "75.0%"]
    assert format_row("zoo", tally).split() == ["zoo", "8", *shares]
    assert format_row("zoo", Tally()).split() == ["zoo", "0", "-", "-", "0", *["-"] * 5]


def test_the_rank_of_a_removal_is_that_of_its_first_commit() -> None:
    assert first_rank(["a", "b", "c"], {"b", "c"}) == 2
    assert first_rank(["a", "b"], {"d"}) == 0


def test_removed_functions_are_found_first_or_at_all() -> None:
    assert format_shares("name", [1, 0, 3, 1]) == "by name: first 0.500, among 5 0.750, of 4"


def test_an_answer_counts_from_the_depth_at_which_the_list_contains_it() -> None:
    found = [
        {"text": FirstAnswer(0, 9), UNION: FirstAnswer(0, 9)},
        {"text": FirstAnswer(10, math.inf), UNION: FirstAnswer(3, 60)},
    ]
    report = summarize_lists(found)
    # The chunk in place 10 is the eleventh, so the first ten do not contain it.
    assert {"file 10": 0.5, "file 50": 1.0, "lines 10": 0.5, "lines 1000": 0.5}.items() <= (
        report["text"].items()
    )
    assert (report[UNION]["file 10"], report[UNION]["lines 50"]) == (1.0, 0.5)
    assert report[UNION]["lines 200"] == 1.0
