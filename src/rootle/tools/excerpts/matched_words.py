"""The words of a question in the lines of a file, and how much they say about a line.

Words are stored in sets, whose order differs between processes. Therefore their weights are added
with `math.fsum`, whose result does not depend on the order. Otherwise, because of rounding errors,
two processes could choose different places that have the same value.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from rootle.text.word_stems import find_stems

# The weight of a repeated word in an excerpt, relative to its first occurrence.
_REPEATED: Final = 0.2
_NO_WORDS: Final = frozenset[str]()
# The first line of an import in the languages that are split into definitions. The name of a
# package or a module that a file belongs to is not an import.
_IMPORT: Final = re.compile(
    r"(?:import|using|use|extern crate|@import|require_relative)\s[\w\"'{(*@\\]"
    r"|import\s?\(|from\s+[\w.]+\s+import\b|#\s?(?:include|import)\b"
    r"|require\s?\(?[\"']|(?:const|let|var|local)\s[\w\s{},:$*]{1,200}=\s?require\s?\(?[\"']"
)
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_MAX_IMPORT_LINES: Final = 200  # of one import


class MatchedWords:
    """The stems of a question, its pairs of adjacent stems and its names in the lines of one file.

    Words that are rare in the file weigh more. A pair counts in addition to its stems, so
    a line that quotes the question has a higher value than one with the same words in another
    order. Imports count only if no other line has a word: they repeat the names that a file uses.
    """

    def __init__(self, lines: Sequence[str], question: str, *, is_code: bool = False) -> None:
        by_line = find_stems(lines, question)
        imports = find_import_lines(lines) if by_line and is_code else set()
        others = {number: words for number, words in by_line.items() if number not in imports}
        self._by_line = others or by_line
        counts = Counter(word for words in self._by_line.values() for word in words)
        self._weights: Mapping[str, float] = {
            word: math.log(1 + len(lines) / count) for word, count in counts.items()
        }
        self._total = math.fsum(self._weights.values())

    def numbers(self) -> list[int]:
        """Return the numbers of the lines with words of the question, in ascending order."""
        return sorted(self._by_line)

    def find_in_line(self, number: int) -> frozenset[str]:
        """Return the words of a line; `number` is counted from 1."""
        return self._by_line.get(number, _NO_WORDS)

    def find_in_lines(self, numbers: Iterable[int]) -> frozenset[str]:
        """Return the words that occur in at least one of some lines."""
        return frozenset().union(*map(self.find_in_line, numbers))

    def value_of_line(self, number: int) -> float:
        """Return the total weight of the words of a line."""
        return math.fsum(self._weights[word] for word in self.find_in_line(number))

    def share_in(self, numbers: Iterable[int]) -> float:
        """Return the weight of the words in some lines, as a share of the weight of all words."""
        if not self._total:
            return 0.0
        return math.fsum(self._weights[word] for word in self.find_in_lines(numbers)) / self._total

    def measure_value(self, numbers: Iterable[int], shown: Collection[str]) -> float:
        """Return the value of lines; words that were `shown` before add little to it."""
        seen = set(shown)
        values = []
        for number in numbers:
            for word in self.find_in_line(number):
                values.append(self._weights[word] * (_REPEATED if word in seen else 1.0))
                seen.add(word)
        return math.fsum(values)


def find_import_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that are part of an import, from 1.

    Only imports that are not indented are found. An import in parentheses or braces ends with the
    line that closes them.
    """
    found: set[int] = set()
    depth = first = 0
    for number, line in enumerate(lines, start=1):
        if not depth and (line[:1].isspace() or _IMPORT.match(line) is None):
            continue
        if not depth:
            first = number
        depth += sum(map(line.count, _OPENING)) - sum(map(line.count, _CLOSING))
        if depth <= 0 or number - first >= _MAX_IMPORT_LINES:
            depth = 0
        found.add(number)
    return found
