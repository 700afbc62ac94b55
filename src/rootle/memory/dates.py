"""The time that a topic names: "in May 2023", "last week", "yesterday"; or that it asks for now."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

# Not those of the module `calendar`, which are in the language of whoever runs this.
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
_DAY_WORD: Final = re.compile(
    r"\b(?P<word>today|yesterday|the day before yesterday)\b", re.IGNORECASE
)
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|current(?:ly)?|latest|newest|most recent(?:ly)?|still|anymore|up to date"
    r"|these days|at the moment|at present|right now|so far)\b",
    re.IGNORECASE,
)
_DAYS_OF: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
# A month that is a word of its own too, and is meant as one unless something says otherwise.
_AMBIGUOUS: Final = frozenset({"may", "march", "mar", "sun", "dec", "jan", "jun", "sep", "oct"})


@dataclass(frozen=True, slots=True)
class DateRange:
    """The days from the first to the last one."""

    first: date
    last: date

    def away(self, day: date) -> int:
        """Days until `day` that count against it: what is told is told afterwards.

        What was told before counts twice.
        """
        return max((day - self.last).days, 2 * (self.first - day).days, 0)


def days_named(topic: str, today: date) -> DateRange | None:
    """The days that a topic names, of several the first ones; None where it names none."""
    for found in _readers(topic, today):
        if found is not None:
            return found
    return None


def asks_for_now(topic: str) -> bool:
    """Whether a topic is about how things stand at present."""
    return _NOW.search(topic) is not None


def _readers(topic: str, today: date) -> Iterator[DateRange | None]:
    readers: tuple[
        tuple[re.Pattern[str], Callable[[re.Match[str], date], DateRange | None]], ...
    ] = (
        (_ISO, _iso),
        (_DATE, _dated),
        (_DAY_WORD, _day_word),
        (_AGO, _ago),
        (_UNIT, _unit),
        (_WEEKDAY, _weekday),
        (_YEAR, _year),
    )
    for pattern, read in readers:
        for match in pattern.finditer(topic):
            yield read(match, today)


def _iso(match: re.Match[str], _: date) -> DateRange | None:
    return _days_of(int(match["year"]), int(match["month"]), int(match["day"] or 0))


def _dated(match: re.Match[str], today: date) -> DateRange | None:
    name = match["month"].lower()
    month = _MONTHS[name]
    day = int(match["first"] or match["last"] or 0)
    if name in _AMBIGUOUS and not (match["year"] or day or match["month"][0].isupper()):
        return None
    # Without a year it is the last month of that name.
    year = int(match["year"] or (today.year if month <= today.month else today.year - 1))
    return _days_of(year, month, day)


def _day_word(match: re.Match[str], today: date) -> DateRange | None:
    back = {"today": 0, "yesterday": 1}.get(match["word"].lower(), 2)
    day = today - timedelta(back)
    return DateRange(day, day)


def _ago(match: re.Match[str], today: date) -> DateRange | None:
    said, unit = match["count"].lower(), _DAYS_OF[match["unit"].lower()]
    day = today - timedelta((_COUNTS.get(said) or int(said)) * unit)
    # "Three months ago" may be a week or two off, "three days ago" is not.
    return DateRange(day - timedelta(unit // 3), day + timedelta(unit // 3))


def _unit(match: re.Match[str], today: date) -> DateRange | None:
    unit, is_this = match["unit"].lower(), match["which"].lower() in ("this", "current")
    if unit == "night":
        return DateRange(today - timedelta(0 if is_this else 1), today)
    if unit == "week":
        monday = today - timedelta(today.weekday())
        return (
            DateRange(monday, today) if is_this else DateRange(monday - timedelta(7), monday - _DAY)
        )
    if unit == "month":
        first = today.replace(day=1)
        before = first - _DAY
        return DateRange(first, today) if is_this else DateRange(before.replace(day=1), before)
    return _days_of(today.year if is_this else today.year - 1)


def _weekday(match: re.Match[str], today: date) -> DateRange | None:
    back = (today.weekday() - _WEEKDAYS.index(match["day"].lower())) % 7
    day = today - timedelta(back or 7)
    return DateRange(day, day)


def _year(match: re.Match[str], _: date) -> DateRange | None:
    return _days_of(int(match["year"]))


_DAY: Final = timedelta(1)


def _days_of(year: int, month: int = 0, day: int = 0) -> DateRange | None:
    """A year, a month or a day; None where the calendar has no such one."""
    try:
        first = date(year, month or 1, day or 1)
    except ValueError:
        return None
    if day:
        return DateRange(first, first)
    last_month = month or 12
    return DateRange(first, date(year, last_month, calendar.monthrange(year, last_month)[1]))
