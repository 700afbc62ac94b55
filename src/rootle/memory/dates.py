"""Find dates in a topic ("in May 2023", "last week"), and questions about the present."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

# The names in the module `calendar` depend on the locale.
_MONTH_NAMES: Final = (
    "january february march april may june july august september october november december"
).split()
_MONTHS: Final = {
    **{name: at for at, name in enumerate(_MONTH_NAMES, start=1)},
    **{name[:3]: at for at, name in enumerate(_MONTH_NAMES, start=1)},
    "sept": 9,
}
_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_COUNT_WORDS: Final = "one two three four five six seven eight nine ten".split()
_COUNTS: Final = {word: at for at, word in enumerate(_COUNT_WORDS, start=1)} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
}

_ISO: Final = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_DATE: Final = re.compile(
    rf"""
    \b (?: (?P<first>\d{{1,2}})(?:st|nd|rd|th)? \s+ (?:of\s+)? )?
    (?P<month>{_MONTH}) \b \.?
    (?: \s+ (?P<last>\d{{1,2}})(?:st|nd|rd|th)? \b )?
    (?: ,?\s* (?P<year>(?:19|20)\d\d) \b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_YEAR: Final = re.compile(
    r"\b(?:in|during|since|of|from)\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
)
_UNIT: Final = re.compile(
    r"\b(?P<which>last|past|previous|this|current)\s+(?P<unit>night|week|month|year)\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(
    rf"\b(?:on|last|this|since)\s+(?P<day>{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE
)
_AGO: Final = re.compile(
    rf"\b(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})\s+"
    r"(?P<unit>day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_RELATIVE_DAY: Final = re.compile(
    r"\b(?P<word>today|yesterday|the day before yesterday)\b", re.IGNORECASE
)
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|current(?:ly)?|latest|newest|most recent(?:ly)?|still|anymore|up to date"
    r"|these days|at the moment|at present|right now|so far)\b",
    re.IGNORECASE,
)
_UNIT_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
# Words with other meanings. They count as dates only if they are capitalized, or occur with a day
# or a year.
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "sun", "dec", "jan", "jun", "sep", "oct"})
_ONE_DAY: Final = timedelta(1)


@dataclass(frozen=True, slots=True)
class DateRange:
    """A range of days, including the first and the last."""

    first: date
    last: date


_Parser = Callable[[re.Match[str], date], DateRange | None]


def parse_dates(topic: str, today: date) -> DateRange | None:
    """Return a date or period that a topic names; None if there is none."""
    for dates in _candidates(topic, today):
        if dates is not None:
            return dates
    return None


def asks_for_present(topic: str) -> bool:
    """Return whether a topic asks for the current state."""
    return _NOW.search(topic) is not None


def _candidates(topic: str, today: date) -> Iterator[DateRange | None]:
    parsers: tuple[tuple[re.Pattern[str], _Parser], ...] = (
        (_ISO, _parse_iso),
        (_DATE, _parse_month),
        (_RELATIVE_DAY, _parse_relative_day),
        (_AGO, _parse_ago),
        (_UNIT, _parse_unit),
        (_WEEKDAY, _parse_weekday),
        (_YEAR, _parse_year),
    )
    for pattern, parse in parsers:
        for match in pattern.finditer(topic):
            yield parse(match, today)


def _parse_iso(match: re.Match[str], _: date) -> DateRange | None:
    return _calendar_range(int(match["year"]), int(match["month"]), int(match["day"] or 0))


def _parse_month(match: re.Match[str], today: date) -> DateRange | None:
    name = match["month"].lower()
    month = _MONTHS[name]
    day = int(match["first"] or match["last"] or 0)
    if name in _AMBIGUOUS and not (match["year"] or day or match["month"][0].isupper()):
        return None
    # Without a year, use the most recent month of that name.
    year = int(match["year"] or (today.year if month <= today.month else today.year - 1))
    return _calendar_range(year, month, day)


def _parse_relative_day(match: re.Match[str], today: date) -> DateRange | None:
    days_ago = {"today": 0, "yesterday": 1}.get(match["word"].lower(), 2)
    day = today - timedelta(days_ago)
    return DateRange(day, day)


def _parse_ago(match: re.Match[str], today: date) -> DateRange | None:
    count, unit_days = match["count"].lower(), _UNIT_DAYS[match["unit"].lower()]
    day = today - timedelta((_COUNTS.get(count) or int(count)) * unit_days)
    # The longer the unit, the less exact people are: "three months ago" may be off by a week or
    # two, and "three days ago" is exact.
    tolerance = timedelta(unit_days // 3)
    return DateRange(day - tolerance, day + tolerance)


def _parse_unit(match: re.Match[str], today: date) -> DateRange | None:
    unit, is_this = match["unit"].lower(), match["which"].lower() in ("this", "current")
    if unit == "night":
        return DateRange(today - timedelta(0 if is_this else 1), today)
    if unit == "week":
        monday = today - timedelta(today.weekday())
        previous = DateRange(monday - timedelta(7), monday - _ONE_DAY)
        return DateRange(monday, today) if is_this else previous
    if unit == "month":
        first = today.replace(day=1)
        previous_last = first - _ONE_DAY
        previous = DateRange(previous_last.replace(day=1), previous_last)
        return DateRange(first, today) if is_this else previous
    return _calendar_range(today.year if is_this else today.year - 1)


def _parse_weekday(match: re.Match[str], today: date) -> DateRange | None:
    days_ago = (today.weekday() - _WEEKDAYS.index(match["day"].lower())) % 7
    day = today - timedelta(days_ago or 7)
    return DateRange(day, day)


def _parse_year(match: re.Match[str], _: date) -> DateRange | None:
    return _calendar_range(int(match["year"]))


def _calendar_range(year: int, month: int = 0, day: int = 0) -> DateRange | None:
    """Return the range of a year, a month or a day; None if the date does not exist."""
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    if day:
        return DateRange(first, first)
    last_month = month or 12
    return DateRange(first, date(year, last_month, calendar.monthrange(year, last_month)[1]))
