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
# Lines without directives, and without the end of a statement or the border of a block.
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
    """Return the text with the first branch of each condition that contains no whole statement.

    The directives and the other branches are replaced with spaces. All positions stay unchanged.
    """
    if b"#" not in data:
        return data
    return _BLOCK.sub(lambda block: _blank(block[1]) + block[2] + _blank(block[3]), data)


def _blank(text: bytes) -> bytes:
    return _NO_LINE_END.sub(b" ", text)
