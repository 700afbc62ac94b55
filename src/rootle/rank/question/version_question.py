"""Recognize questions about versions: "what is new in 5.56.10", "which node version is needed"."""

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

# How people ask for the version of a tool, a language or a package that the project requires.
_TOOL: Final = r"[\w.+#@/-]{1,40}"
_LEAST: Final = r"(?:minimum|minimal|required|supported|oldest|lowest)"
_TOOL_VERSION: Final = re.compile(
    rf"\b(?:which|what)(?:'s| is| are)?(?: the)?(?: {_LEAST})?"
    rf" (?:versions? of (?:the )?(?P<of>{_TOOL})|(?P<tool>{_TOOL})(?: {_TOOL})? versions?)\b"
    rf"|^\W*(?:the )?{_LEAST}"
    rf" (?:versions? of (?:the )?(?P<least_of>{_TOOL})|(?P<least>{_TOOL}) versions?)\b",
    re.IGNORECASE,
)
_REQUIREMENT: Final = re.compile(
    r"\b(?:needs?|needed|requir\w{1,6}|support\w{0,3}|minimum|minimal|oldest|lowest|must|should"
    r"|compatible|builds?|compiles?|runs?|installs?|used?|works?|depends?|expects?|tested)\b",
    re.IGNORECASE,
)
# Versions of these things are a part of the project itself. The project was changed in a release.
_OWN_VERSION: Final = frozenset(
    """a api commit data document file format index key message model package protocol release
    schema the this wire""".split()
)
# Questions about changes, and about the versions in a certain file: that of a workflow.
_OTHER_SUBJECT: Final = re.compile(
    r"\b(?:added|changed|deprecated|dropped|fixed|introduced|released?|removed|since|when"
    r"|ci|workflows?|pipelines?)\b",
    re.IGNORECASE,
)
# Questions are short. A longer text describes code.
_MAX_QUESTION: Final = 120


def asks_for_requirement(text: str) -> bool:
    """Return whether a question asks which version of a tool or a package the project requires."""
    if len(text) > _MAX_QUESTION or _OTHER_SUBJECT.search(text) is not None:
        return False
    found = _TOOL_VERSION.search(text)
    if found is None or _REQUIREMENT.search(text) is None:
        return False
    return next(filter(None, found.groups()), "").lower() not in _OWN_VERSION


def find_asked_version(text: str) -> str:
    """Return the version, without "v", whose changes a question asks for; "" if there is none."""
    found = _VERSION.findall(text)
    if len(found) != 1 or _RELEASE.search(text) is None or _RANGE.search(text) is not None:
        return ""
    return str(found[0]).lower()


def version_pattern(version: str) -> re.Pattern[str]:
    """Return a pattern that matches a version as a whole: 5.6.1, but not in 5.6.10 or 15.6.1."""
    return re.compile(rf"(?<![\w.])v?{re.escape(version)}(?![\w-]|\.\w)", re.IGNORECASE)
