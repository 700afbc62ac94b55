"""Find macros that are alone on a line or follow an access specifier in C++.

The parser does not expand macros. A call without a semicolon, such as `Q_OBJECT` in a class or
`BEGIN_NAMESPACE` before one, is a syntax error, after which the parser can lose the class.
"""

from __future__ import annotations

import re
from typing import Final

_ARGUMENTS: Final = rb"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*+\))*+\))*+\)"
# A line that consists of the call of a macro, with or without arguments.
_LINE: Final = re.compile(
    rb"(?:\A|(?<=\n))[ \t]*+([A-Z][A-Z0-9]*_[A-Z0-9_]*+(?:%b)?)[ \t]*+\r?(?=\n|\Z)" % _ARGUMENTS
)
# A statement or declaration begins after a line with one of these ends.
_ENDS: Final = frozenset({b"", b";", b"{", b"}", b":"})
_START: Final = re.compile(rb"[A-Za-z_~\[/]")  # of a line that does not continue an expression
_SPACE: Final = re.compile(rb"\s*+")
_ENUMERATOR: Final = re.compile(rb"\w+\s*[,=}]")
_FUNCTION: Final = re.compile(rb"~?\w+\s*\(")
_MAX_SKIPPED: Final = 50  # lines of comments and directives above a macro
# Sections of a class with signals and slots of Qt.
_SIGNALS: Final = re.compile(rb"(?<=\n)([ \t]*+)(signals|Q_SIGNALS)(?=[ \t]*:(?!:))")
_SLOTS: Final = re.compile(rb"(?<=\n)([ \t]*+(?:public|protected|private)[ \t]++)(slots|Q_SLOTS)\b")
_PUBLIC: Final = b"public"


def hide_lone_macros(data: bytes) -> bytes:
    """Return the text with spaces instead of the macros. All positions stay unchanged.

    A line remains if it may be the last enumerator of an enumeration, a part of an expression, or
    the head of a function that a macro declares.
    """
    readable = bytearray(data)
    for match in _LINE.finditer(data):
        if _is_alone(readable, match):
            readable[match.start(1) : match.end(1)] = b" " * len(match[1])
    hidden = _SIGNALS.sub(lambda one: one[1] + _PUBLIC.ljust(len(one[2])), bytes(readable))
    return _SLOTS.sub(lambda one: one[1] + b" " * len(one[2]), hidden)


def _is_alone(data: bytearray, match: re.Match[bytes]) -> bool:
    """Return whether the lines around a line show that it is not a part of something else."""
    before = _end_before(data, match.start())
    if before not in _ENDS:
        return False
    after = _SPACE.match(data, match.end())
    at = after.end() if after is not None else match.end()
    following = bytes(data[at : at + 1])
    if before == b"{":
        # The line may be the first or only enumerator.
        return _START.match(following) is not None and _ENUMERATOR.match(data, at) is None
    if not match[1].endswith(b")") and _FUNCTION.match(data, at) is not None:
        return False  # the macro may be the type of the function
    return following in (b"", b"}", b"#") or _START.match(following) is not None


def _end_before(data: bytearray, start: int) -> bytes:
    """Return the last character of code before a line; b"" at the beginning of the text.

    Comments and directives are skipped. If there are too many of them, the result is b"?".
    """
    for _ in range(_MAX_SKIPPED):
        if start <= 0:
            return b""
        end, start = start - 1, data.rfind(b"\n", 0, start - 1) + 1
        line = bytes(data[start:end]).strip()
        if line.endswith(b"*/"):
            start = max(data.rfind(b"/*", 0, end), 0)
            line = bytes(data[data.rfind(b"\n", 0, start) + 1 : start]).strip()
            start = data.rfind(b"\n", 0, start) + 1
        code = line.partition(b"//")[0].rstrip()
        if code.endswith(b"\\") or (code and not code.startswith(b"#")):
            return code[-1:]
    return b"?"
