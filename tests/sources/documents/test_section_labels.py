"""The labels of sections."""

from __future__ import annotations

from rootle.sources.documents.places import shorten_title
from rootle.sources.documents.section_labels import MAX_LABEL_CHARS, UniqueLabels


def test_many_equal_labels_are_numbered_in_order() -> None:
    labels = UniqueLabels()
    # With cubic time, this would take days.
    found = [labels.add("example") for _ in range(50_000)]
    assert found[:3] == ["example", "example-2", "example-3"]
    assert found[-1] == "example-50000"


def test_a_number_in_a_heading_is_not_given_twice() -> None:
    labels = UniqueLabels()
    found = [labels.add(label) for label in ("a-2", "a", "a", "a", "a-2")]
    assert found == ["a-2", "a", "a-3", "a-4", "a-2-2"]


def test_long_labels_with_equal_beginnings_stay_unique_and_short() -> None:
    labels = UniqueLabels()
    found = [labels.add("x" * 59 + str(number)) for number in range(20_000)]
    assert len(set(found)) == 20_000
    assert max(map(len, found)) <= MAX_LABEL_CHARS


def test_a_title_is_never_cut_within_a_token() -> None:
    assert shorten_title("one  two three", 9) == "one two"
    assert shorten_title("one two three", 7) == "one two"
    assert shorten_title("鯨の声を聞く", 3) == "鯨の声"
