"""Find hyphenated names in queries, such as `max-page-size`, and the lines that contain them."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from typing import Final

from rootle.rank.question.name_question import parse_name_question
from rootle.text.whole_names import line_numbers

# The name of an option, a flag, a header or a package, without the hyphens before a flag.
_HYPHENATED: Final = re.compile(
    r"(?<![\w./-])-{0,2}([A-Za-z]\w{0,60}(?:-\w{1,60}){1,12})(?![\w/-])(?!\.\w)"
)
# In a longer query, a word with one hyphen is usually an ordinary one, such as "built-in".
_MIN_HYPHENS: Final = 2
_MAX_NAMES: Final = 2
_MAX_FLAG_WORDS: Final = 5  # a query with a flag and at most this many words is about the flag
# Patterns for the text around a name. They show whether the name is a part of a longer name, a
# whole string, a key or a selector.
_CONTINUED: Final = re.compile(r"[\w-]")
_MEMBER: Final = re.compile(r"\.\w")
_BEGUN: Final = re.compile(r"\w-{0,9}$")
_OPEN_QUOTE: Final = re.compile(r"[\"'`]-{0,2}$")
_CLOSE_QUOTE: Final = re.compile(r"=?[\"'`]")
_BEFORE_KEY: Final = re.compile(r"[ \t]*(?:- )?|.*[.#]")
_MAX_BEFORE_NAME: Final = 200
# The share of a line that mentions a name, but does not have it as a string or a key.
_MENTION: Final = 0.8
_MAX_PLACES: Final = 400  # occurrences of a name per text


def find_hyphenated_names(text: str) -> tuple[list[str], bool]:
    """Return at most two hyphenated names in a query, and whether the query is just about a name.

    Such a query consists of a name, asks where it is defined, or has few words and a flag. In other
    queries, flags and names with several hyphens are returned.
    """
    matches = list(_HYPHENATED.finditer(text))
    names = list(dict.fromkeys(match[1] for match in matches))
    flags = {match[1] for match in matches if _is_flag(text, match)}
    if len(names) == 1 and (_asks_for_place(text, names[0]) or _is_about_flag(text, flags)):
        return names, True
    kept = [name for name in names if name in flags or name.count("-") >= _MIN_HYPHENS]
    return kept[:_MAX_NAMES], False


def _asks_for_place(text: str, name: str) -> bool:
    """Return whether a query is just a hyphenated name, or asks where this name is defined."""
    identifier = name.replace("-", "_")
    asked = parse_name_question(re.sub(rf"-{{0,2}}{re.escape(name)}", identifier, text))
    return asked is not None and asked.name == identifier and asked.aspect == "definitions"


def _is_about_flag(text: str, flags: Collection[str]) -> bool:
    return bool(flags) and len(text.split()) <= _MAX_FLAG_WORDS


def _is_flag(text: str, match: re.Match[str]) -> bool:
    """Return whether hyphens come before a name, or an equals sign after it."""
    return match[0].startswith("-") or text[match.end() : match.end() + 1] == "="


def find_name_lines(name: str, text: str) -> dict[int, float]:
    """Return the lines of a lower-case text that contain a name as a whole, with their shares.

    Strings and keys have a share of 1. A key with a dot in it is not the key of a longer path:
    `pool.size` is only mentioned in `pool.size.max: 3`.
    """
    has_dot = "." in name
    starts = [match.start() for match in islice(re.finditer(re.escape(name), text), _MAX_PLACES)]
    best: dict[int, float] = {}
    for number, start in zip(line_numbers(text, starts), starts, strict=True):
        before = text[text.rfind("\n", 0, start) + 1 : start][-_MAX_BEFORE_NAME:]
        after = text[start + len(name) : start + len(name) + 2]
        if not _CONTINUED.match(after) and not _BEGUN.search(before):
            is_string = _OPEN_QUOTE.search(before) and _CLOSE_QUOTE.match(after)
            is_key = _BEFORE_KEY.fullmatch(before) and not (has_dot and _MEMBER.match(after))
            is_named = bool(is_string or is_key)
            best[number] = max(best.get(number, 0.0), 1.0 if is_named else _MENTION)
    return best
