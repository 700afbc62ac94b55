"""Formatting and conversion of timestamps."""

from __future__ import annotations

import pytest

from rootle.serialization.timestamps import convert_to_utc, format_timestamp


def test_a_unix_time_is_formatted_in_utc_and_rounded_down() -> None:
    assert format_timestamp(1_720_000_000.999) == "2024-07-03T09:46:40Z"
    assert format_timestamp(0, timespec="milliseconds") == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    "timestamp",
    [
        "2024-07-03T09:46:40Z",
        "2024-07-03T11:46:40+02:00",
        "2024-07-03T09:46:40.999999",
        "2024-07-03 09:46:40",
    ],
)
def test_a_timestamp_of_any_time_zone_is_converted_to_utc(timestamp: str) -> None:
    assert convert_to_utc(timestamp) == "2024-07-03T09:46:40Z"


@pytest.mark.parametrize("text", ["", "yesterday", "12:00", "None"])
def test_a_text_that_is_no_timestamp_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid isoformat"):
        convert_to_utc(text)
