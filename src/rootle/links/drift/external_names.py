"""Recognize lines of code that define the names that users type: options and variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from rootle.text.languages import UNKNOWN, file_language

_OPTION_WORDS: Final = re.compile(
    r"(?i)option|add_arg|argument|flag|getopt|strcmp|\bon\b|\bArg\b|long|case|\busage"
)
# A line that contains only a string, such as an argument of a call with one argument per line.
_LONE_STRING: Final = re.compile(r"\s*[\"'`][\w -]+[\"'`]\)?,?\s*$")
_QUOTED_OPTION: Final = re.compile(r"[\"'`(\[](?:--)?[a-z][a-z0-9]*(?:-[a-z0-9]+)+[\"'`\s=\[,]")
_LINES_ABOVE: Final = 2  # lines that may belong to the same call as a lone string below
_SCRIPTS: Final = ("bash", "yaml", "make", "dockerfile", UNKNOWN)


def defines_option(path: str, line: str, read_above: Callable[[int], str]) -> bool:
    """Return whether a line with an option's name defines the option instead of passing it on.

    `read_above` returns the given number of lines above the line.
    """
    if file_language(path) in _SCRIPTS:
        return False
    if _OPTION_WORDS.search(line):
        return True
    is_alone = _LONE_STRING.match(line) is not None
    return is_alone and _OPTION_WORDS.search(read_above(_LINES_ABOVE)) is not None


def lists_options(path: str, text: str) -> bool:
    """Return whether a file defines options by their names in strings, such as "max-retries"."""
    lines = text.split("\n")
    named = (at for at, line in enumerate(lines) if _QUOTED_OPTION.search(line))
    return any(defines_option(path, lines[at], partial(_join_above, lines, at)) for at in named)


def _join_above(lines: Sequence[str], at: int, count: int) -> str:
    return "\n".join(lines[max(0, at - count) : at])


def environment_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for a line of code that reads an environment variable."""
    return re.compile(rf"(?i:env)[\w.:]*\W.{{0,40}}?[\"'`.]{re.escape(name)}(?!\w)|\bENV\W+{name}")
