"""Add the dates of tags, branches and hashes to the filters of a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rootle.history.names.name_questions import NAME_START, REVISION_CHAR, version_spellings
from rootle.history.question_dates import REVISION_PAIR
from rootle.serialization.dates import parse_date, write_revision

_SINCE_VERSION: Final = re.compile(
    r"\bsince (?:version |release )?(v?\d+(?:\.\d+)+(?:-[\w.]+)?)(?=[\s?!,]|$)", re.IGNORECASE
)
# A name that is probably not an ordinary word, because it contains a digit, "^" or "~", or follows
# a word such as "tag".
_SINCE_NAME: Final = re.compile(
    rf"\bsince (?:(?:the )?(?:tag|branch|release|version|commit) |(?={REVISION_CHAR}*[\d^~]))"
    rf"(?P<name>{NAME_START}{REVISION_CHAR}{{1,99}}[\w^~])(?=[\s?!,]|\.?$)",
    re.IGNORECASE,
)
_FILTER: Final = re.compile(r'(?<!\S)(since|until):("[^"]+"|[^\s"]+)')


def resolve_dates(text: str, find_date: Callable[[str], float | None], *, in_words: bool) -> str:
    """Return a query whose `since:` and `until:` contain the dates of tags or branches.

    The filters select files by these dates, but commits by the history of the revision. The name of
    the revision stays in the date, where `search.revision_periods` reads it.

    `find_date` returns the Unix time of a revision; None if there is no such revision. If
    `in_words` is set, the words "since v2.1" and "between v2.0 and v2.1" also become filters,
    provided that these revisions exist.
    """
    if in_words:
        text = _convert_words(text, find_date)
    return _resolve_revisions(text, find_date)


def restore_revisions(notes: Sequence[str], question: str, resolved: str) -> tuple[str, ...]:
    """Return the notes with the filters of the question instead of those from `resolve_dates`."""
    pairs = zip(_FILTER.finditer(question), _FILTER.finditer(resolved), strict=False)
    for written, replaced in pairs:
        notes = [note.replace(replaced[0], written[0]) for note in notes]
    return tuple(notes)


def _convert_words(text: str, find_date: Callable[[str], float | None]) -> str:
    """Replace words such as "since v2.1" or "between v2.0 and v2.1" in a question with filters."""
    if pair := REVISION_PAIR.search(text):
        names = {"since": pair["first"], "until": pair["last"]}
        replaced = _replace_words(text, pair, names, find_date)
        if replaced != text:  # "from client to server" is not a pair of revisions
            return replaced
    found = _SINCE_VERSION.search(text) or _SINCE_NAME.search(text)
    return text if found is None else _replace_words(text, found, {"since": found[1]}, find_date)


def _replace_words(
    text: str,
    found: re.Match[str],
    names: Mapping[str, str],
    find_date: Callable[[str], float | None],
) -> str:
    """Replace the words of a match with filters for revisions, if all of them exist."""
    filters = []
    for kind, name in names.items():
        dates = ((one, find_date(one)) for one in version_spellings(name))
        written = (_write_filter(kind, one, date) for one, date in dates if date is not None)
        filters.append(next(written, ""))
    if not all(filters):
        return text
    rest = f"{text[: found.start()]}{text[found.end() :]}"
    return " ".join((rest, *filters)).strip()


def _resolve_revisions(text: str, find_date: Callable[[str], float | None]) -> str:
    """Add the dates from `find_date` to the revisions in the filters of a query.

    A name that is not a revision is kept, so that the filter can report it. A name such as "2024"
    is always a date.
    """
    if "since:" not in text and "until:" not in text:
        return text

    def resolve(found: re.Match[str]) -> str:
        name = found[2].strip('"').rstrip(",;")
        if parse_date(name, 0.0) is not None:
            return found[0]
        date_s = find_date(name)
        return found[0] if date_s is None else _write_filter(found[1], name, date_s)

    return _FILTER.sub(resolve, text)


def _write_filter(kind: str, name: str, date_s: float) -> str:
    """Return a filter for a revision. `since:v2.1` excludes a file changed in the commit v2.1."""
    value = write_revision(name, int(date_s) + 1)
    return f'{kind}:"{value}"' if any(map(str.isspace, value)) else f"{kind}:{value}"
