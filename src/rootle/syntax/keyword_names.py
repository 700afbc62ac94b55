"""Find definitions by their keywords, in text for which no grammar is used."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from rootle.syntax.lines import Lines, Name

# The keywords before the name of a definition in most languages, and R's function assignment.
_DEFINITION: Final = re.compile(
    r"""^[ \t]*\(?(?:(?:export|default|public|private|protected|internal|static|abstract|sealed
        |final|async|local|inline|virtual|override|partial|rec|pub)[ \t]+)*
        (?:def|defn-?|defmacro|defun|defprotocol|fn|func|function!?|fun|sub|proc|method|macro|class
        |struct|enum|trait|interface|module|type|typedef|record|object|mixin|@mixin|extension
        |message|service|rpc|package|subroutine|let|val|resource|variable|output)
        [ \t]+"?([A-Za-z_][\w.:']*)
    |^([A-Za-z_.][\w.]*)[ \t]*(?:<-|=)[ \t]*function\b""",
    re.MULTILINE | re.VERBOSE,
)


def find_names(lines: Lines, first: int, end: int) -> Iterator[Name]:
    """Yield the probable names in lines first to end - 1, in order."""
    span = (lines.starts[first], lines.starts[end] - 1)
    for match in _DEFINITION.finditer(lines.text, *span):
        group = match.lastindex or 0
        row = bisect_right(lines.starts, match.start(group)) - 1
        yield Name(row, 0, re.split(r"[.:]+", match[group].strip(".:"))[-1])
