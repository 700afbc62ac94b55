"""Parse dates that users type: "2024", "2024-03", "2024-03-31", "90d", "3months", "yesterday"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_DAY: Final = timedelta(days=1)
_PARTIAL: Final = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", re.ASCII)
_AGO: Final = re.compile(
    r"(\d{1,5})[-_ ]?(h|d|w|m|y|hours?|days?|weeks?|months?|years?)(?:[-_ ]?ago)?",
    re.ASCII | re.IGNORECASE,
)
_DAYS: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.44, "y": 365.25}
# A Unix time, and the revision whose commit has this time, if any.
_UNIX: Final = re.compile(r"@(\d{1,11})(?::(.+))?", re.ASCII)


def parse_date(text: str, now_s: float, *, is_end: bool = False) -> float | None:
    """Return the Unix time at which a date in UTC begins, or ends if `is_end`.

    Return None for a text that is not a date.
    """
    lower = text.strip().lower()
    if found := _UNIX.fullmatch(lower):
        return float(found[1])
    if found := _AGO.fullmatch(lower):
        return now_s - int(found[1]) * _DAYS[found[2][0]] * _DAY.total_seconds()
    if lower in ("today", "yesterday"):
        today = datetime.fromtimestamp(now_s, UTC).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        day = today if lower == "today" else today - _DAY
        return (day + _DAY if is_end else day).timestamp()
    try:
        return _parse_calendar(lower, is_end=is_end)
    except (ValueError, OverflowError):
        return None


def is_calendar_date(text: str) -> bool:
    """Return whether a text has the form of a date; the date need not exist, as in "2024-13"."""
    return _PARTIAL.fullmatch(text.strip()) is not None


def write_revision(name: str, time_s: float) -> str:
    """Return a date for `parse_date` that contains a revision and its Unix time."""
    return f"@{int(time_s)}:{name}"


def read_revision(text: str) -> str:
    """Return the name of the revision in a date from `write_revision`; "" for other dates."""
    found = _UNIX.fullmatch(text.strip())
    return (found[2] or "") if found else ""


def _parse_calendar(text: str, *, is_end: bool) -> float:
    found = _PARTIAL.fullmatch(text)
    if found is None:
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    year, month, day = (int(part) if part else None for part in found.groups())
    # A year, month or day of 0 is an error.
    start = datetime(
        year or 0, 1 if month is None else month, 1 if day is None else day, tzinfo=UTC
    )
    if not is_end:
        return start.timestamp()
    if day:
        return (start + _DAY).timestamp()
    if month:
        return datetime(start.year + month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp()
    return datetime(start.year + 1, 1, 1, tzinfo=UTC).timestamp()
