"""Parse the time of a commit, which may be damaged or forged."""

from __future__ import annotations

from typing import Final

_LAST_YEAR_S: Final = 253_402_300_799  # the end of the year 9999
_MAX_DIGITS: Final = 19  # the digits of a 64-bit number


def parse_commit_time(seconds: str) -> int:
    """Parse a Unix time as git prints it. Times after the year 9999 become the end of that year.

    Return 0 if the text is not a number, or if the number is negative.
    """
    if not (seconds.isascii() and seconds.isdigit()):
        return 0
    return min(int(seconds), _LAST_YEAR_S) if len(seconds) <= _MAX_DIGITS else _LAST_YEAR_S
