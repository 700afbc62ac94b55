"""Read the version in a question about a release, such as "what is new in 5.56.10"."""

from __future__ import annotations

import re
from typing import Final

# The last part may have a suffix, as in `5.0.0-rc.1`, `5.6b2` and `2.0.0.dev3`.
_VERSION: Final = re.compile(
    r"(?<![\w./-])(?:[\w/-]{1,40}@)?v?(\d{1,4}(?:\.\d{1,6}){1,3}"
    r"(?:[-.]?(?:alpha|beta|canary|dev|next|pre|post|rc|a|b)[-.]?\d{0,4})?)(?![\w/-]|\.\w)",
    re.IGNORECASE,
)
_RELEASE: Final = re.compile(
    r"\b(?:change ?logs?|release ?notes?|news|what(?:'s| is| was) new|new (?:in|features)"
    r"|what (?:has |was |did )?changed? (?:in|with)|changes (?:in|of))\b",
    re.IGNORECASE,
)
# Matches questions that ask for a time or name a range of versions.
_RANGE: Final = re.compile(
    r"^\s*(?:when|who|why)\b|\b(?:since|between|from|before|after|until|to)\b|\.\.", re.IGNORECASE
)


def find_asked_version(text: str) -> str:
    """Return the version, without "v", whose changes a question asks for; "" if there is none."""
    found = _VERSION.findall(text)
    if len(found) != 1 or _RELEASE.search(text) is None or _RANGE.search(text) is not None:
        return ""
    return str(found[0]).lower()


def version_pattern(version: str) -> re.Pattern[str]:
    """Return a pattern that matches a version as a whole: 5.6.1, but not in 5.6.10 or 15.6.1."""
    return re.compile(rf"(?<![\w.])v?{re.escape(version)}(?![\w-]|\.\w)", re.IGNORECASE)
