"""Find conditional directives inside a declaration or an expression of C and C++.

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
from typing import Final

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


def hide_inner_directives(data: bytes) -> bytes:
    """Return the text with only the first branch of each conditional inside a statement.

    Such a conditional contains no ";" and no brace. The directives and the other branches are
    replaced with spaces. All positions stay unchanged.
    """
    if b"#" not in data:
        return data
    return _BLOCK.sub(lambda block: _blank(block[1]) + block[2] + _blank(block[3]), data)


def _blank(text: bytes) -> bytes:
    return _NO_LINE_END.sub(b" ", text)
