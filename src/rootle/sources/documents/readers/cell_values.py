"""Show the numbers of cells as people see them: dates as dates, no superfluous digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rootle.sources.documents.zip_container import END, START, ZipContainer

# The predefined formats of dates and times.
_DATE_FORMATS: Final = frozenset({*range(14, 23), *range(45, 48)})
# Quoted text, colors and conditions in a format do not make it the format of a date.
_NOT_PATTERN: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_DAY_0: Final = datetime(1899, 12, 30)
_MAX_DAY: Final = 2_958_466  # the year 9999


@dataclass(frozen=True, slots=True)
class CellFormats:
    """Says for each style, by its number, whether it shows a date."""

    are_dates: tuple[bool, ...]

    def format(self, value: str, style: str) -> str:
        """Return a number as text; a text that is not a number is returned unchanged."""
        try:
            number = float(value)
        except ValueError:
            return value
        at = int(style) if style.isascii() and style.isdigit() and len(style) < 6 else 0
        if at < len(self.are_dates) and self.are_dates[at] and 0 <= number < _MAX_DAY:
            return _format_date(number)
        return f"{number:.10g}" if abs(number) < 1e15 else value


def _format_date(days: float) -> str:
    date = _DAY_0 + timedelta(seconds=round(days * 86_400))
    if days < 1:
        return f"{date:%H:%M:%S}".removesuffix(":00")
    return f"{date:%Y-%m-%d}" if days == int(days) else f"{date:%Y-%m-%d %H:%M}"


def read_formats(container: ZipContainer, part: str) -> CellFormats:
    """Return the formats of the styles in a part."""
    dates = set(_DATE_FORMATS)
    are_dates: list[bool] = []
    in_cells = False
    for kind, name, attributes in container.events(part):
        if name == "cellXfs":
            in_cells = kind != END
        elif kind != START:
            continue
        elif name == "numFmt":
            pattern = _NOT_PATTERN.sub("", attributes.get("formatCode", ""))
            number = attributes.get("numFmtId", "")
            if _DATE_LETTERS.search(pattern) and number.isdigit():
                dates.add(int(number))
        elif name == "xf" and in_cells:
            number = attributes.get("numFmtId", "0")
            are_dates.append(number.isdigit() and int(number) in dates)
    return CellFormats(tuple(are_dates))
