"""Decide which texts are parsed, and with which grammar."""

from __future__ import annotations

import re
from typing import Final

# Larger source files are not parsed. They are usually data in the form of code, and a syntax tree
# takes ten times as much memory as its text.
MAX_PARSED_CHARS: Final = 2_000_000
# Text whose lines have at least this mean length is regarded as minified: all its definitions are
# on a few lines.
MINIFIED_LINE: Final = 500
# Maximum number of unclosed "<". Each "<" may begin type arguments, and the parsers of Java and C#
# keep every alternative in memory: 1,000 of them take 150 MB, and 4,000 take 2 GB. The time limit
# does not help, because a parser can allocate this memory before it checks the time again.
MAX_OPEN_ANGLES: Final = 1_000

# A C file (.c or .h) is parsed as C++ if it contains a line like this.
_CPP_LINE: Final = re.compile(
    r"^[ \t]*(?:class\s+\w[^;]*\{|namespace\b|template\s*<|(?:public|private|protected):"
    r"|using\s+\w|virtual\s|#[ \t]*include[ \t]*<[a-z_]+>)",
    re.MULTILINE,
)


def grammar_name(text: str, language: str) -> str:
    """Return the name in `GRAMMARS` for a text in a language that has a grammar."""
    return "cpp" if language == "c" and _CPP_LINE.search(text) else language


def is_parseable(text: str) -> bool:
    """Return whether a parser can parse the text in reasonable time and memory."""
    if len(text) > min(MAX_PARSED_CHARS, MINIFIED_LINE * (text.count("\n") + 10)):
        return False
    return text.count("<") - 2 * text.count("<<") - text.count(">") < MAX_OPEN_ANGLES
