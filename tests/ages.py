"""The ages of memories in output, for tests that can run at midnight."""

from __future__ import annotations

import re

_YESTERDAY = re.compile(r"\b1 day ago\b")


def replace_yesterday(text: str) -> str:
    """Return `text` with "today" in place of "1 day ago".

    A test that stores a memory before midnight and lists it after midnight then has the same output
    as at any other time of day.
    """
    return _YESTERDAY.sub("today", text)
