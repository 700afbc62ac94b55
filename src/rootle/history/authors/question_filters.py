"""Convert the words of a question about commits to filters: dates and paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rootle.text.languages import UNKNOWN, language_of
from rootle.text.terms import STOP_WORDS, WORD

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
_REVISION: Final = re.compile(
    r"\b(?:since|after) (?:version |release )?(?P<name>v?\d+(?:\.\d+)+(?:-[\w.]+)?)(?=[\s?!,]|$)",
    re.IGNORECASE,
)
_PATH: Final = re.compile(
    r"(?:\b(?:in|to|on|of|under|inside|within|from|touching|touched|below|for) )?(?:the )?"
    r"(?:(?:file|folder|directory|path|module|package) )?"
    r"`?(?<![\w./@-])(?P<path>(?=[\w@$+-]*[/.][\w./@$+-]*\w)[\w./@$+-]*\w/?)`?"
    r"(?: (?:file|folder|directory))?(?!\S)"
)
_FOLDER: Final = re.compile(
    r"\b(?:in|under|inside|within|below|to) (?:the )?(?:(?:folder|directory) )?"
    r"`?(?P<path>[\w.-]+)`?(?: (?:folder|directory))?(?=\s*$)"
)
_LEADING: Final = re.compile(
    r"(?:(?:about|regarding|concerning|related to|mentioning|touching|touched|that|which|and|to|on"
    r"|for|with|in|changed?)\s+)+",
    re.IGNORECASE,
)
# Words that say nothing about the subject of a commit.
_FILLERS: Final = frozenset(
    "about regarding concerning related touching mentioning last latest recent recently lately ever"
    " commit commits change changes anything something files file code thing things ago also"
    " there project repo repository who history everything ordered newest first list"
    " work so far but only added made pushed committed".split()
)


@dataclass(frozen=True, slots=True)
class CommitFilters:
    """The subject, dates and paths of the commits that a question asks for."""

    words: str  # the subject, which is searched; "" if there is none
    operators: str  # such as "path:src since:30d"; "" if there are none


def read_filters(
    text: str,
    now_s: float,
    date_of: Callable[[str], float | None],
    is_folder: Callable[[str], bool],
) -> CommitFilters:
    """Return the dates and paths in a text as operators, and the other words.

    `date_of` returns the Unix time of a revision, or None if there is no such revision, and
    `is_folder` whether a commit changed files below a folder.
    """
    text, operators = _read_dates(f"{text} ", datetime.fromtimestamp(now_s, UTC), date_of)
    for found in _PATH.finditer(text):
        path = found["path"].removeprefix("./")
        if "/" in path or language_of(path) != UNKNOWN:
            operators.append(f"path:{path}")
            text = text.replace(found[0], " ", 1)
    if (folder := _FOLDER.search(text)) is not None and is_folder(folder["path"]):
        operators.append(f"path:{folder['path']}/")
        text = text.replace(folder[0], " ", 1)
    text = _LEADING.sub("", text.strip())
    words = [word.lower() for word in WORD.findall(text)]
    is_empty = all(word in STOP_WORDS or word in _FILLERS for word in words)
    return CommitFilters("" if is_empty else " ".join(text.split()), " ".join(operators))


def _read_dates(
    text: str, now: datetime, date_of: Callable[[str], float | None]
) -> tuple[str, list[str]]:
    operators: list[str] = []

    def take(pattern: re.Pattern[str], convert: Callable[[re.Match[str]], str]) -> None:
        nonlocal text
        found = pattern.search(text)
        if found is not None and (written := convert(found)):
            operators.append(written)
            text = f"{text[: found.start()]} {text[found.end() :]}"

    take(_PERIOD, _period)
    take(_THIS, lambda found: _this(found["unit"].lower(), now))
    take(_DAY, lambda found: _day(found["day"].lower()))
    take(_BETWEEN, lambda found: f"since:{found['first']} until:{found['last']}")
    take(_IN_MONTH, _month)
    take(_WITHIN, lambda found: f"since:{found['date']} until:{found['date']}")
    take(_BOUND, lambda found: _bound(found["kind"], found["date"]))
    take(_REVISION, lambda found: _revision(found["name"], date_of))
    return text, operators


def _period(found: re.Match[str]) -> str:
    count = found["count"] or "1"
    return f"since:{count if count.isdigit() else _FEW}{found['unit'].lower()}s"


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
    return f"{'since' if kind.lower() in ('since', 'after') else 'until'}:{date}"


def _revision(name: str, date_of: Callable[[str], float | None]) -> str:
    other = name[1:] if name.startswith("v") else f"v{name}"
    known = next((one for one in (name, other) if date_of(one) is not None), None)
    return "" if known is None else f"since:{known}"
