"""Replace the names of commits in the filters `since:` and `until:` by their dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rootle.serialization.dates import parse_date

_FILTER: Final = re.compile(r'(?<!\S)(since|until):("[^"]+"|[^\s"]+)')


def resolve_revisions(text: str, date_of: Callable[[str], float | None]) -> str:
    """Return a query whose dates are dates; `date_of` returns the Unix time of a revision.

    A name that is no revision stays, so that the filter can report it. A name such as "2024" is a
    date. `since:v2.1` excludes the commit v2.1 itself.
    """
    if "since:" not in text and "until:" not in text:
        return text

    def resolve(found: re.Match[str]) -> str:
        name = found[2].strip('"').rstrip(",;")
        if parse_date(name, 0.0) is not None:
            return found[0]
        date_s = date_of(name)
        return found[0] if date_s is None else f"{found[1]}:@{int(date_s) + 1}"

    return _FILTER.sub(resolve, text)
