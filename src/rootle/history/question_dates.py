"""Convert the dates in a question about commits to the filters `since:` and `until:`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from rootle.history.names.name_questions import REVISION_CHAR, REVISION_NAME, version_spellings

_MONTHS: Final = (
    "january february march april may june july august september october november december"
)
_NAMED_MONTH: Final = "|".join(f"{one[:3]}(?:{one[3:]})?" for one in _MONTHS.split())
_DATE: Final = r"\d{4}(?:-\d{1,2}){0,2}(?![\w.-])"
_IN: Final = r"(?:(?:in|during|within|over|for|from|since) )?(?:the )?"
_PERIOD: Final = re.compile(
    rf"\b{_IN}(?:last|past|previous) (?:(?P<count>\d{{1,4}}|few|couple of) )?"
    r"(?P<unit>hour|day|week|month|year)s?\b",
    re.IGNORECASE,
)
_FEW: Final = 3
_THIS: Final = re.compile(rf"\b{_IN}this (?P<unit>week|month|year)\b", re.IGNORECASE)
_DAY: Final = re.compile(r"\b(?:since |from )?(?P<day>today|yesterday)\b", re.IGNORECASE)
_WITHIN: Final = re.compile(rf"\b(?:in|during|from|of) (?P<date>{_DATE})", re.IGNORECASE)
_BETWEEN: Final = re.compile(
    rf"\b(?:between|from) (?P<first>{_DATE}) (?:and|to|until) (?P<last>{_DATE})", re.IGNORECASE
)
_IN_MONTH: Final = re.compile(
    rf"\b(?P<kind>in|during|since|after|before|until) (?P<month>{_NAMED_MONTH})\.? "
    r"(?:of )?(?P<year>\d{4})\b",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(
    rf"\b(?P<kind>since|after|before|until|till) (?P<date>{_DATE})", re.IGNORECASE
)
_DATE_GROUPS: Final = ("date", "first", "last", "year")
_YEAR_DIGITS: Final = 4
_FIRST_YEAR: Final = 1970
# Matches, after a year, the end of a question or a word that begins another phrase.
_PHRASE_END: Final = re.compile(
    r"\s*(?:[?!.,;:)]|$|(?:in|to|of|for|on|by|at|from|about|and|or|with|under|until|that|which|was"
    r"|were|did|has|have|since:|until:|path:|author:|lang:|in:)(?!\w))",
    re.IGNORECASE,
)
# A name after a word such as "since" or "between" is a revision only if the repository has it.
_KIND: Final = "(?:the )?(?:(?:version|release|tag|branch|commit) )?"
_NAME_END: Final = r"(?=[\s?!,]|\.?$)"
REVISION_PAIR: Final = re.compile(
    rf"\b(?:between|from) {_KIND}(?P<first>{REVISION_NAME}) "
    rf"(?:and|to) {_KIND}(?P<last>{REVISION_NAME}){_NAME_END}",
    re.IGNORECASE | re.ASCII,
)
_REVISION: Final = re.compile(
    rf"\b(?P<kind>since|after|before|until|till) {_KIND}(?P<name>{REVISION_NAME}){_NAME_END}",
    re.IGNORECASE | re.ASCII,
)
# The name must contain a digit, a hyphen, an underscore or a slash, because other words after
# "before" or "until" are rarely revisions.
_BEFORE: Final = re.compile(
    rf"\b(?P<kind>before|until|till) {_KIND}"
    rf"(?P<name>(?=[\w.@]*[\d_/-])[\w@]{REVISION_CHAR}*\w)(?=[\s?!,]|$)",
    re.IGNORECASE,
)
_MAX_BOUNDS: Final = 2  # one "since", and one "until"
# A word of only these letters, such as "added", may be mistaken for the beginning of a hash.
_HASH_LETTERS: Final = re.compile("[a-f]+", re.IGNORECASE)


def read_dates(
    text: str, now: datetime, find_date: Callable[[str], float | None], *, is_strict: bool = False
) -> tuple[str, list[str]]:
    """Return a question without its dates, and the dates as operators, such as "since:2024-03".

    `find_date` returns the Unix time of a revision, or None if there is no such revision. If
    `is_strict` is set, revisions are converted only after "before" and "until", and a number such
    as 2024 counts as a year only if it ends the question or a phrase in it. Otherwise, it may be an
    amount, as in "in 2024 bytes".
    """
    operators: list[str] = []

    def take(pattern: re.Pattern[str], convert: Callable[[re.Match[str]], str]) -> None:
        nonlocal text
        for found in pattern.finditer(text):
            if is_strict and not _is_date(found, now):
                continue
            if written := convert(found):
                operators.append(written)
                text = f"{text[: found.start()]} {text[found.end() :]}"
                return

    take(_PERIOD, _period)
    take(_THIS, lambda found: _this(found["unit"].lower(), now))
    take(_DAY, lambda found: _day(found["day"].lower()))
    take(_BETWEEN, lambda found: f"since:{found['first']} until:{found['last']}")
    take(_IN_MONTH, _month)
    take(_WITHIN, lambda found: f"since:{found['date']} until:{found['date']}")
    take(_BOUND, lambda found: _bound(found["kind"], found["date"]))
    if not is_strict:
        take(REVISION_PAIR, lambda found: _revisions(found, find_date))
    for _ in range(_MAX_BOUNDS):
        take(_BEFORE if is_strict else _REVISION, lambda found: _revision_bound(found, find_date))
    return text, operators


def _is_date(found: re.Match[str], now: datetime) -> bool:
    """Return whether the digits that a pattern found are years, and no other number."""
    numbers = [value for name in _DATE_GROUPS if (value := found.groupdict().get(name))]
    if any(not _FIRST_YEAR <= int(value[:4]) <= now.year for value in numbers):
        return False
    is_bare = any(len(value) == _YEAR_DIGITS for value in numbers)
    return not is_bare or _PHRASE_END.match(found.string[found.end() :]) is not None


def _period(found: re.Match[str]) -> str:
    count = found["count"] or "1"
    number = int(count) if count.isdigit() else _FEW
    return f"since:{number}{found['unit'].lower()}{'' if number == 1 else 's'}"


def _this(unit: str, now: datetime) -> str:
    return {"week": "since:7d", "month": f"since:{now:%Y-%m}", "year": f"since:{now:%Y}"}[unit]


def _day(day: str) -> str:
    return "since:today" if day == "today" else "since:yesterday until:yesterday"


def _month(found: re.Match[str]) -> str:
    names = [one[:3] for one in _MONTHS.split()]
    date = f"{found['year']}-{names.index(found['month'].lower()[:3]) + 1:02}"
    kind = found["kind"].lower()
    return f"since:{date} until:{date}" if kind in ("in", "during") else _bound(kind, date)


def _bound(kind: str, date: str) -> str:
    """Return a filter; "before 2024" excludes 2024, whereas "until 2024" includes it."""
    kind = kind.lower()
    if kind == "before":
        return f"until:{_previous(date)}"
    return f"{'since' if kind in ('since', 'after') else 'until'}:{date}"


def _previous(date: str) -> str:
    """Return the year, month or day before a date."""
    year, *rest = (int(part) for part in date.split("-"))
    if not rest:
        return f"{max(1, year - 1):04}"
    if len(rest) == 1:
        return f"{max(1, year - 1):04}-12" if rest[0] == 1 else f"{year:04}-{rest[0] - 1:02}"
    try:
        day = datetime(year, rest[0], rest[1], tzinfo=UTC)
    except ValueError:
        return date  # no such day; the filter reports it
    return f"{day - timedelta(days=1):%Y-%m-%d}"


def _revisions(found: re.Match[str], find_date: Callable[[str], float | None]) -> str:
    first, last = (_find_revision(found[name], find_date) for name in ("first", "last"))
    return f"since:{first} until:{last}" if first and last else ""


def _revision_bound(found: re.Match[str], find_date: Callable[[str], float | None]) -> str:
    name = _find_revision(found["name"], find_date)
    kind = "since" if found["kind"].lower() in ("since", "after") else "until"
    return f"{kind}:{name}" if name else ""


def _find_revision(name: str, find_date: Callable[[str], float | None]) -> str:
    """Return the spelling of a revision that exists, with or without "v"; "" if none does."""
    if _HASH_LETTERS.fullmatch(name):
        return ""
    return next((one for one in version_spellings(name) if find_date(one) is not None), "")
