"""Divide source text into comments and code, line by line.

Parsing each file would take a hundred times as long. A comment that follows code on the same line
is ignored: it counts neither as a comment nor as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.links.drift.mentions import MAX_LINE_CHARS

_SLASH: Final = (
    *("c", "cpp", "csharp", "java", "javascript", "typescript", "tsx", "go", "rust", "php"),
    *("kotlin", "swift", "scala", "dart", "zig", "groovy", "d", "proto", "scss", "vue", "svelte"),
    *("objc", "fsharp", "css"),
)
_HASH: Final = (
    *("python", "ruby", "bash", "perl", "r", "elixir", "julia", "nim", "yaml", "toml", "make"),
    *("cmake", "dockerfile", "tcl", "powershell", "nix", "terraform", "php"),
)
_DASH: Final = ("lua", "sql", "haskell", "elm")
_OTHER: Final[Mapping[str, str]] = {
    "erlang": "%",
    "clojure": ";",
    "scheme": ";",
    "vim": '"',
    "ini": ";",
}
_TRAILING: Final[Mapping[str, str]] = {
    **dict.fromkeys(_HASH, " # "),
    **dict.fromkeys(_SLASH, " // "),
}
_BLOCKS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(_SLASH, (("/*", "*/"),)),
    "python": (('"""', '"""'), ("'''", "'''"), ('r"""', '"""')),
    "elixir": (('@moduledoc """', '"""'), ('@doc """', '"""'), ('@typedoc """', '"""')),
    "ruby": (("=begin", "=end"),),
    "lua": (("--[[", "]]"),),
    "haskell": (("{-", "-}"),),
}
# The quotation marks of multi-line strings.
_STRINGS: Final[Mapping[str, tuple[str, ...]]] = {"python": ('"""', "'''"), "elixir": ('"""',)}
# The strings on a line, and the mark of a multi-line string that the line does not close. Short
# strings are matched too, because `text.startswith('"""')` does not start a multi-line string.
_STRING_TOKEN: Final = re.compile(
    r"\"{3}.*?\"{3}|'{3}.*?'{3}|(?P<open>\"{3}|'{3})|\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\])*+'|#.*"
)
# Patterns for comments that declare names for type checkers and editors, keyed by language.
_TYPEDEF: Final = re.compile(
    r"^@(?:typedef|callback|property|prop)\s+(?:\{.{0,500}\}\s+)?\[?(?P<name>[A-Za-z_$][\w$]*)"
)
_DECLARATIONS: Final[Mapping[str, re.Pattern[str]]] = {
    "php": re.compile(
        r"^@(?:method\b[^(]{0,200}?(?P<name>\w+)\s*\(|property(?:-read|-write)?\b[^$]{0,200}\$(?P<field>\w+))"
    ),
    "lua": re.compile(
        r"^@(?:class|field|alias|enum)\s+(?:\((?:exact|partial)\)\s+|(?:public|private|protected)\s+)?"
        r"(?P<name>[A-Za-z_]\w*)"
    ),
    "ruby": re.compile(r"^@!(?:method|attribute)\s+(?:\[\w+\]\s+)?(?P<name>\w+)"),
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), _TYPEDEF),
}


@dataclass(slots=True)
class DividedText:
    """The lines of a source text, divided into comments and code."""

    code: list[str] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)  # line number -> comment without marker

    def add_comment(self, number: int, text: str) -> None:
        """Add the comment on a line; a long comment is truncated."""
        self.comments[number] = text[:MAX_LINE_CHARS]


def divide(text: str, language: str) -> DividedText:
    """Return the comments and the code of a text. Text in an unknown language is code."""
    found = DividedText()
    markers = _markers(language)
    blocks = _BLOCKS.get(language, ())
    starts = tuple(start for start, _ in blocks)
    trailing = _TRAILING.get(language)
    strings = _STRINGS.get(language, ())
    end = string = ""
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if end:
            found.add_comment(number, stripped.removesuffix(end).lstrip("* "))
            end = "" if end in stripped else end
            continue
        if string:
            found.code.append(line)
            string = "" if string in stripped else string
            continue
        if starts and stripped.startswith(starts):
            block = next(one for one in blocks if stripped.startswith(one[0]))
            rest = stripped[len(block[0]) :]
            found.add_comment(number, rest.removesuffix(block[1]).lstrip("*! "))
            end = "" if block[1] in rest else block[1]
        elif markers and stripped.startswith(markers):
            found.add_comment(number, stripped.lstrip('/#-!%;"* '))
        else:
            found.code.append(line.partition(trailing)[0] if trailing else line)
            if strings:
                string = _find_open_string(stripped, strings)
    return found


def _find_open_string(line: str, marks: Sequence[str]) -> str:
    """Return the mark of a multi-line string that a line opens and does not close, or ""."""
    if not any(mark in line for mark in marks):
        return ""
    tokens = _STRING_TOKEN.finditer(line, 0, MAX_LINE_CHARS)
    return next((token["open"] for token in tokens if token["open"] in marks), "")


def find_declared(divided: DividedText, language: str) -> Iterator[str]:
    """Yield the names that comments declare, such as the methods in `@method` of PHP."""
    pattern = _DECLARATIONS.get(language)
    if pattern is None:
        return
    for text in divided.comments.values():
        if found := pattern.match(text):
            yield next(filter(None, found.groups()))


def _markers(language: str) -> tuple[str, ...]:
    found = []
    if language in _SLASH:
        found.append("//")
    if language in _HASH:
        found.append("#")
    if language in _DASH:
        found.append("--")
    if language in _OTHER:
        found.append(_OTHER[language])
    return tuple(found)
