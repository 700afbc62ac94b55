"""Timestamps in records and JSON: ISO 8601 in UTC, as in "2024-07-03T09:46:40Z"."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def format_timestamp(seconds: float, *, timespec: str = "seconds") -> str:
    """Format a Unix time, rounded down to `timespec`, a unit from `datetime.isoformat`."""
    return _format(datetime.fromtimestamp(seconds, UTC), timespec)


def format_file_stamp(seconds: float) -> str:
    """Format a Unix time for a file name: "20240703T094640.250000", without colons."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%S.%f")


@lru_cache(maxsize=4_096)  # the results of one question, and of the next, share commits
def format_commit_time(seconds: int) -> str:
    """Format the time of a commit; "" if it is 0, which means that the commit has no valid time."""
    return format_timestamp(float(seconds)) if seconds else ""


def convert_to_utc(timestamp: str, *, timespec: str = "seconds") -> str:
    """Convert an ISO 8601 timestamp to UTC, rounded down to the unit `timespec`.

    A timestamp without a time zone is assumed to be in UTC. Raises ValueError if the text is not an
    ISO 8601 timestamp.
    """
    parsed = datetime.fromisoformat(timestamp)
    zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return _format(zoned.astimezone(UTC), timespec)


def format_age(seconds: float | None) -> str:
    """Return an age in words, such as "3 days"."""
    if seconds is None:
        return "an unknown time"
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds"


def _format(moment: datetime, timespec: str) -> str:
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")
