"""Decide from the text of a file whether it may extend or implement a name.

A common name can occur in more files than a scan may parse. Only a few of them contain the name in
the head of a class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.aliases import is_renamed

_MAX_HEAD: Final = 1_000  # characters of a head that are searched before the name
_BRACES: Final = re.compile(r"[{};]")


@dataclass(frozen=True, slots=True)
class _Head:
    """Patterns that recognize, by the text before a name, that the name is in a class head.

    Only the text after the last match of `start` is searched for `words`.
    """

    words: re.Pattern[str]
    start: re.Pattern[str] = _BRACES


_LINE: Final = re.compile(r"\n")
_CLASS: Final = re.compile(r"\b(?:class|enum|extends|implements|interface|new|record)\b")
_HEADS: Final = {
    "cpp": _Head(re.compile(r"\b(?:class|struct)\b")),
    "csharp": _Head(re.compile(r"\b(?:class|interface|record|struct)\b[^;{}]*:")),
    "elixir": _Head(re.compile(r"@(?:behaviour|derive)\b|\b(?:defimpl|use)\b"), _LINE),
    "java": _Head(_CLASS),
    "javascript": _Head(re.compile(r"\bextends\b")),
    # A parameter of a class can have a lambda as its default value, as in "class A(f: F = {}) : B".
    "kotlin": _Head(
        re.compile(r"\b(?:class|interface|object)\b[^{}]*:|^(?![^{}]*\bfun\b)[^{}]*\)\s*:"),
        re.compile(r"[{}]"),
    ),
    "php": _Head(re.compile(r"\b(?:extends|implements|use)\b")),
    "python": _Head(re.compile(r"\bclass\s"), re.compile(r"\)\s*:|\n(?=\S)(?!class\b)")),
    "ruby": _Head(re.compile(r"<|\b(?:extend|include|new|prepend)\b"), _LINE),
    "rust": _Head(re.compile(r"\b(?:derive|impl|trait)\b")),
    "scala": _Head(re.compile(r"\b(?:derives|extends|given|new|with)\b")),
    "swift": _Head(
        re.compile(r"\b(?:actor|class|enum|extension|protocol|struct)\b[^{}]*:"),
        re.compile(r"[{}]"),
    ),
    "tsx": _Head(re.compile(r"\b(?:extends|implements)\b")),
    "typescript": _Head(re.compile(r"\b(?:extends|implements)\b")),
}
_LUA_BASE: Final = re.compile(r"\s*:\s*(?:extend|new|subclass)\b")


def can_extend(found: FileOccurrences) -> bool:
    """Return whether a file may contain a class that extends or implements the name.

    The result is True in languages without a known form of class heads, and if an import gives the
    name another name, which a class head may contain instead.
    """
    size = len(found.token)
    if any(is_renamed(found.text, offset, offset + size) for offset in found.offsets):
        return True
    language = "cpp" if found.state.language == "c" else found.state.language
    if language == "lua":
        ends = (offset + len(found.token) for offset in found.offsets)
        return any(_LUA_BASE.match(found.text, end) for end in ends)
    head = _HEADS.get(language)
    return head is None or any(_is_in_head(found.text, offset, head) for offset in found.offsets)


def _is_in_head(text: str, offset: int, head: _Head) -> bool:
    before = text[max(0, offset - _MAX_HEAD) : offset]
    start = 0
    for match in head.start.finditer(before):
        start = match.end()
    return head.words.search(before[start:]) is not None
