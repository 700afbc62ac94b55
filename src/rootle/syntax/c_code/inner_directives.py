"""Hide directives of the preprocessor inside a declaration or an expression of C and C++.

The parsers expect whole declarations or statements between directives. In

    result<T> get() &
    #if HAS_CONCEPTS
      noexcept(is_safe<T>)
    #else
      noexcept
    #endif
    {

they lose the function, and often also the class around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.syntax.lines import Name

_NO_LINE_END: Final = re.compile(rb"[^\r\n]")
# Lines that contain no directive, no ";" and no brace.
_LINES: Final = rb"(?:(?![ \t]*+\#)[^;{}\n]*+(?<!\\)\n)++"
# Text below "#if 0" is often not code.
_BLOCK: Final = re.compile(
    rb"""(?<=\n)([ \t]*+\#[ \t]*+if(?![ \t]+0\b)[^\n]*+(?<!\\)\n)
    (%b)
    ((?:[ \t]*+\#[ \t]*+el[^\n]*+(?<!\\)\n%b)*+
    [ \t]*+\#[ \t]*+endif[^\n]*+)"""
    % (_LINES, _LINES),
    re.VERBOSE,
)

_ENUM: Final = re.compile(rb"\benum\b[^;{}()\n]{0,200}+\s{0,80}+\{([^{}]*)\}")
_DEFINE: Final = re.compile(
    rb"^[ \t]*+\#[ \t]*+define[ \t]++(\w++)(?:[^\\\n]|\\\r?\n|\\(?!\r?\n))*+", re.MULTILINE
)


def hide_inner_directives(data: bytes) -> bytes:
    """Return the text with only the first branch of each conditional inside a statement.

    Such a conditional contains no ";" and no brace. The directives and the other branches are
    replaced with spaces. All positions stay unchanged.
    """
    if b"#" not in data:
        return data
    return _BLOCK.sub(lambda block: _blank(block[1]) + block[2] + _blank(block[3]), data)


def hide_enum_macros(data: bytes) -> bytes:
    """Return the text without the macros that are defined inside enums.

    The parsers lose the constants that follow `#define FIRST FIRST` in an enum. All positions stay
    unchanged.
    """
    parts, end = [], 0
    for macro in _find_enum_macros(data):
        parts += [data[end : macro.start()], _blank(macro[0])]
        end = macro.end()
    return b"".join([*parts, data[end:]]) if parts else data


def list_enum_macros(data: bytes) -> list[Name]:
    """Return the names of the macros that are defined inside enums, in order."""
    names: list[Name] = []
    row = end = 0
    for macro in _find_enum_macros(data):
        row += data.count(b"\n", end, macro.start(1))
        end = macro.start(1)
        column = end - data.rfind(b"\n", 0, end) - 1
        names.append(Name(row, column, macro[1].decode("utf-8", "replace")))
    return names


def _find_enum_macros(data: bytes) -> Iterator[re.Match[bytes]]:
    if b"define" in data:
        for enum in _ENUM.finditer(data):
            yield from _DEFINE.finditer(data, *enum.span(1))


def _blank(text: bytes) -> bytes:
    return _NO_LINE_END.sub(b" ", text)
