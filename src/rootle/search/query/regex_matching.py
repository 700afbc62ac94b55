"""Match a regular expression line by line, in time linear in the text.

RE2 matches the pattern. Its character classes differ from those of Python: `\\w`, `\\b` and case
are limited to ASCII or need large tables. Therefore each character of a text is first replaced by a
byte that represents the class of the character. All characters that are matched by the same parts
of the pattern, according to `re`, form one class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any, Final

import re2

from rootle.errors import QueryError
from rootle.search.query.character_classes import CharacterClasses
from rootle.search.query.regex_parsing import parse_pattern
from rootle.search.query.regex_translation import translate_tree

# The slowest patterns take 4 ns for each character and instruction: 0.6 s for a block of this size
# and the maximum number of instructions.
_BLOCK_CHARS: Final = 16_384
_MAX_INSTRUCTIONS: Final = 10_000
# At least this many characters of each line are searched. The rest of a longer line may be ignored.
_MAX_LINE_CHARS: Final = 65_536
# The memory limit of RE2. The largest program needs 0.3 MB; RE2 caches states in the rest.
_MAX_MEMORY_BYTES: Final = 4 << 20
# Carriage returns at the end of a line are not part of the line. The lookbehind makes each match
# begin at the first carriage return of a run, so that long runs take linear time.
_LINE_END_RETURNS: Final = re.compile(r"(?<!\r)\r++(?=\n|\Z)")


class LineRegex:
    """A regular expression that is matched within lines."""

    def __init__(self, pattern: str) -> None:
        """Compile a pattern. Raise QueryError if it is invalid, unsupported or too large."""
        self._pattern = pattern
        self._translation = translate_tree(pattern, parse_pattern(pattern))
        self._classes = CharacterClasses(self._translation)
        self._classes_in_program = self._classes.count
        self._compiled = self._compile()

    def find_lines(self, text: str, is_late: Callable[[], bool]) -> Iterator[int]:
        """Yield the position of the first match in each line. Stop when `is_late` returns True."""
        lines = text
        if "\r" in text:
            lines = _LINE_END_RETURNS.sub(lambda run: "\n" * len(run[0]), text)
        encoded = self._classes.encode(lines)
        if self._classes_in_program != self._classes.count:
            self._compiled, self._classes_in_program = self._compile(), self._classes.count
        blocks = takewhile(lambda _: not is_late(), _blocks(encoded))
        found = (start + at for start, block in blocks for at in self._matches(block))
        # Drop matches in the empty lines that the replacement above creates.
        return (at for at in found if text[at - 1 : at] != "\r" or lines[at - 1] == "\r")

    def _matches(self, block: bytes) -> Iterator[int]:
        start = 0
        while match := self._compiled.search(block, start):
            yield match.start()
            start = block.find(b"\n", match.start()) + 1
            if start == 0:
                return

    def _compile(self) -> Any:
        compiled = _compile(self._translation.source(self._classes.matching))
        if compiled is None or compiled.programsize > _MAX_INSTRUCTIONS:
            raise QueryError(
                f'the regex "{self._pattern}" is too large; use lower numbers in braces, in total '
                "at most 1,000, or an unlimited repetition such as + or {3,}"
            )
        return compiled


def _compile(source: str) -> Any:
    """Return the compiled expression, or None if it is too large for RE2."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    try:
        return re2.compile(source.encode("ascii"), options)
    except re2.error:
        return None


def _blocks(encoded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with its position and without its final line end."""
    start = 0
    while start >= 0:
        end = encoded.find(b"\n", start + _BLOCK_CHARS)
        block = encoded[start:end] if end >= 0 else encoded[start:]
        yield start, block[: _BLOCK_CHARS + _MAX_LINE_CHARS]
        start = end + 1 if end >= 0 else -1
