"""Format the numbers in cells as spreadsheet programs do: no rounding errors, dates as dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rootle.sources.documents.zip_container import END, START, ZipContainer

_NUMBER: Final = ""
_DATE: Final = "date"
_TIME: Final = "time"  # a time of day
_DURATION: Final = "duration"

# The predefined formats of dates and times.
_PREDEFINED: Final = {
    **dict.fromkeys((*range(14, 18), 22), _DATE),
    **dict.fromkeys((*range(18, 22), 45, 47), _TIME),
    46: _DURATION,
}
_MAX_CODE_CHARS: Final = 255  # the limit of Excel
# Parts of a number format that may contain the letters of a date pattern, but do not make it a date
# format: quoted text, colors, conditions, and the characters after `\` (shown), `_` (replaced by a
# space of the same width) and `*` (repeated).
_NOT_PATTERN: Final = re.compile(
    r'"[^"]*"|\[(?!(?:h{1,9}|m{1,9}|s{1,9})\])[^\]]*\]|[\\_*].', re.IGNORECASE
)
_ELAPSED: Final = re.compile(r"\[[hms]", re.IGNORECASE)
_DAY_LETTERS: Final = re.compile(r"[yd]", re.IGNORECASE)
_TIME_LETTERS: Final = re.compile(r"[hs]", re.IGNORECASE)
_MONTH_LETTERS: Final = re.compile(r"m", re.IGNORECASE)
_DIGITS: Final = 15  # Excel shows at most 15 digits; further digits are rounding errors
DAY_0: Final = datetime(1899, 12, 30)
DAY_0_OF_1904: Final = datetime(1904, 1, 1)
# Excel treats 1900 as a leap year: day 60 is February 29.
_LEAP_DAY: Final = 60
_MAX_DAY: Final = 2_957_003  # the year 9999, for both origins of dates
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class CellFormats:
    """The kind of number, such as a date, that the cells of each style contain."""

    kinds: tuple[str, ...]
    day_0: datetime = DAY_0

    def format(self, value: str, style: str) -> str:
        """Return a number as text; a text that is not a number is returned unchanged."""
        try:
            number = float(value)
        except ValueError:
            return value
        at = int(style) if style.isascii() and style.isdigit() and len(style) < 6 else 0
        kind = self.kinds[at] if at < len(self.kinds) else _NUMBER
        if kind == _DURATION and abs(number) < _MAX_DAY:
            return _format_duration(number)
        if kind and 0 <= number < _MAX_DAY:
            if kind == _TIME or number < 1:
                return _format_time(number)
            return self._format_date(number)
        return f"{number:.{_DIGITS}g}" if abs(number) < 10**_DIGITS else value

    def _format_date(self, days: float) -> str:
        if days < _LEAP_DAY and self.day_0 == DAY_0:
            days += 1
        date = self.day_0 + timedelta(seconds=round(days * _DAY_SECONDS))
        return f"{date:%Y-%m-%d}" if days == int(days) else f"{date:%Y-%m-%d %H:%M}"


def _format_time(days: float) -> str:
    time = DAY_0 + timedelta(seconds=round(days % 1 * _DAY_SECONDS))
    return f"{time:%H:%M:%S}".removesuffix(":00")


def _format_duration(days: float) -> str:
    """Return the hours and minutes, and the seconds if there are any: 36:30."""
    minutes, seconds = divmod(round(abs(days) * _DAY_SECONDS), 60)
    sign = "-" if days < 0 else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def read_formats(container: ZipContainer, part: str, day_0: datetime) -> CellFormats:
    """Return the formats of the styles in a part. Dates are numbers of days since `day_0`."""
    known = {str(number): kind for number, kind in _PREDEFINED.items()}
    kinds: list[str] = []
    in_cells = False
    for kind, name, attributes in container.events(part):
        if name == "cellXfs":
            in_cells = kind != END
        elif kind != START:
            continue
        elif name == "numFmt":
            known[attributes.get("numFmtId", "")] = _find_kind(attributes.get("formatCode", ""))
        elif name == "xf" and in_cells:
            kinds.append(known.get(attributes.get("numFmtId", ""), _NUMBER))
    return CellFormats(tuple(kinds), day_0)


def _find_kind(code: str) -> str:
    """Return the kind of the numbers that a format code describes, such as dates."""
    pattern = _NOT_PATTERN.sub("", code[:_MAX_CODE_CHARS])
    if _ELAPSED.search(pattern):
        return _DURATION
    if _DAY_LETTERS.search(pattern):
        return _DATE
    if _TIME_LETTERS.search(pattern):
        return _TIME
    return _DATE if _MONTH_LETTERS.search(pattern) else _NUMBER
