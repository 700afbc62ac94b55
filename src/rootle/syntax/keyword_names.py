"""Find definitions by their keywords, in text for which no grammar is used."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from rootle.syntax.lines import Lines, Name

# Definitions in most languages. There are three alternatives: a keyword before the name; a typedef,
# whose last identifier is the name; and the assignment of a function in R.
_DEFINITION: Final = re.compile(
    r"""^[ \t]*\(?(?:(?:export|default|public|private|protected|internal|static|abstract|sealed
        |final|async|local|inline|virtual|override|partial|rec|pub|open|data|inner|enum|annotation
        |value|case|expect|actual)[ \t]+)*
        (?:def|defn-?|defmacro|defun|defprotocol|fn|func|function!?|fun|sub|proc|method|macro|class
        |struct|enum|trait|interface|module|type|record|object|mixin|@mixin|extension
        |message|service|rpc|package|subroutine|let|val|resource|variable|output)
        [ \t]+(?:(?:rec|inline|mutable)[ \t]+)?"?([A-Za-z_][\w.:']*+)
        (?!\*(?![(\[])|[ \t]+\*|[ \t]+\w+[ \t]*[=;,)\[])
    |^[ \t]*typedef\b[^;={}\n]{0,200}?\b([A-Za-z_]\w*)[ \t]*[;={]
    |^([A-Za-z_.][\w.]*)[ \t]*(?:<-|=)[ \t]*function\b""",
    re.MULTILINE | re.VERBOSE,
)

# A C-style function. Its name, or the type before the name, begins a line that is not indented. The
# body follows the parameters.
_C_FUNCTION: Final = re.compile(
    r"""^(?:[A-Za-z_][\w\t *]{0,200}[\t *])?([A-Za-z_]\w*)[\t ]?
        \((?!\s*(?:async\s+)?function\b)(?://[^\n]*+|/(?!/)|[^;{}"'=/]){0,600}+\{""",
    re.MULTILINE | re.VERBOSE,
)
_STATEMENTS: Final = frozenset(
    "if for while switch catch else return sizeof do function foreach with until elif".split()
)


def find_c_functions(lines: Lines) -> Iterator[Name]:
    """Yield names that are probably names of C functions, in order."""
    for match in _C_FUNCTION.finditer(lines.text):
        # Names in capitals are macros.
        if match[1] not in _STATEMENTS and not match[1].isupper() and match[1][:2] != "__":
            row = bisect_right(lines.starts, match.start(1)) - 1
            yield Name(row, 0, match[1])


def find_marked(lines: Lines, pattern: re.Pattern[str]) -> Iterator[Name]:
    """Yield the names in group 1 of the matches of a pattern, in order."""
    for match in pattern.finditer(lines.text):
        yield Name(bisect_right(lines.starts, match.start(1)) - 1, 0, match[1])


def find_names(lines: Lines, first: int, end: int) -> Iterator[Name]:
    """Yield the names that lines `first` to `end` - 1 probably define, in order."""
    span = (lines.starts[first], lines.starts[end] - 1)
    for match in _DEFINITION.finditer(lines.text, *span):
        group = match.lastindex or 0
        row = bisect_right(lines.starts, match.start(group)) - 1
        yield Name(row, 0, re.split(r"[.:]+", match[group].strip(".:"))[-1])
