"""Translate gitignore patterns to RE2 expressions that match the same paths in linear time."""

from __future__ import annotations

import re
from typing import Final

SPECIAL_CHARACTERS: Final = frozenset("*?[\\")
# Matches the parts of a pattern that are not literal: everything from the first to the last
# character set or escape, and all other wildcards and slashes.
_NOT_LITERAL: Final = re.compile(r"[\[\\].*[\]\\].?|[\[\\].*|[*?/]+", re.DOTALL)
_NEVER: Final = r"[^\x00-\xff]"
# Named classes of characters. They lack "/", because no character set in git matches it.
_POSIX_CLASSES: Final[dict[str, str]] = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x2e\\x30-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x2e\\x30-\\x7e",
    "punct": "\\x21-\\x2e\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": " \\t\\n\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def translate_pattern(pattern: str) -> str:
    """Return an expression for a full match of Latin-1 text, equivalent to git's wildmatch."""
    # git compares the part before the first wildcard literally and passes only the rest to
    # wildmatch. In `foo**/bar`, wildmatch therefore sees `**/` at the start.
    literal = 0
    while literal < len(pattern) and pattern[literal] not in SPECIAL_CHARACTERS:
        literal += 1
    return re.escape(pattern[:literal]) + _translate_wild(pattern[literal:])


def find_literals(pattern: str) -> list[str]:
    """Return strings that every match contains."""
    return [text for text in _NOT_LITERAL.split(pattern) if text]


def _translate_wild(pattern: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "*":
            part, position = _translate_stars(pattern, position)
        elif char == "[":
            part, position = _translate_class(pattern, position + 1)
        elif char == "\\":
            escaped = pattern[position + 1 : position + 2]
            part, position = (re.escape(escaped) if escaped else _NEVER), position + 2
        else:
            part, position = ("[^/]" if char == "?" else re.escape(char)), position + 1
        parts.append(part)
    return "".join(parts)


def _translate_stars(pattern: str, start: int) -> tuple[str, int]:
    end = start
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    opens = start == 0 or pattern[start - 1] == "/"
    if end - start == 1 or not opens or pattern[end : end + 1] not in ("", "/"):
        return "[^/]*", end
    return (".*", end) if end == len(pattern) else ("(?:.*/)?", end + 1)


def _translate_class(pattern: str, start: int) -> tuple[str, int]:
    """Translate the character set after a "["; return the result and the end of the set.

    An unclosed set matches nothing.
    """
    position = start
    negated = pattern[position : position + 1] in ("!", "^")
    position += negated
    items: list[str] = []
    first = position
    while position < len(pattern) and (pattern[position] != "]" or position == first):
        item, position = _class_item(pattern, position)
        if item is None:
            return _NEVER, len(pattern)
        items.append(item)
    if position >= len(pattern):
        return _NEVER, len(pattern)
    inside = "".join(items)
    if negated:
        return f"[^/{inside}]", position + 1
    return (f"[{inside}]" if inside else _NEVER), position + 1


def _class_item(pattern: str, position: int) -> tuple[str | None, int]:
    """Translate a character, range or [:name:]; return the result (None: rejected) and the end."""
    if pattern.startswith("[:", position):
        end = pattern.find(":]", position + 2)
        if end > 0:
            return _POSIX_CLASSES.get(pattern[position + 2 : end]), end + 2
    low, position = _class_character(pattern, position)
    if pattern[position : position + 1] != "-" or pattern[position + 1 : position + 2] in ("", "]"):
        return _translate_range(low, low) if low else None, position
    high, position = _class_character(pattern, position + 1)
    if not low or not high:
        return None, position
    # In git, a reversed range such as [z-a] matches its first character.
    return _translate_range(low, max(low, high)), position


def _translate_range(low: str, high: str) -> str:
    """Translate a range of characters, leaving out "/", which no character set matches."""
    if not low <= "/" <= high:
        return f"{re.escape(low)}-{re.escape(high)}"
    below = f"{re.escape(low)}-\\." if low < "/" else ""
    above = f"0-{re.escape(high)}" if high > "/" else ""
    return below + above


def _class_character(pattern: str, position: int) -> tuple[str, int]:
    position += pattern[position] == "\\"
    return pattern[position : position + 1], position + 1
