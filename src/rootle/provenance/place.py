"""Find the passage around a place, its names, and the weights of its lines."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.errors import SourceError
from rootle.ingest.named_ranges import (
    NamedRange,
    bare_name,
    innermost_range,
    list_named_ranges,
    list_symbols,
)
from rootle.ingest.source_refs import DocumentSet, locate_source
from rootle.provenance.word_diff import split_words, weigh_line, weigh_word
from rootle.serialization.outside_text import describe_missing_history
from rootle.serialization.path_text import escape_path
from rootle.text.languages import CODE_EXTENSIONS
from rootle.types import PACKAGE_URI, Passage

_MAX_DEFINITION_LINES: Final = 150
_MAX_LINES: Final = 400  # lines of a requested range
# The maximum number of lines before and after a line that is in no definition, or in a long one.
_LINES_AROUND: Final = 12
# The share of the weight that the requested lines get. The rest is divided among the other lines,
# and the nearest lines get most of it.
_ASKED_SHARE: Final = 0.65
_DISTANCE: Final = 5.0  # the number of lines over which the weight falls to about a third
_FLOOR: Final = 0.05


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Lines of a file, and the passage around them."""

    whole: Passage  # the whole file
    passage: Passage
    first_line: int  # the first of the requested lines
    last_line: int
    # Names of the enclosing definitions, outermost first, and of a variable in the reference.
    names: tuple[str, ...]
    omitted_lines: int = 0  # requested lines beyond the limit

    @property
    def text(self) -> str:
        """The place as a reference: "path:10" or "path:10-20"."""
        lines = f"{self.first_line}" + (
            f"-{self.last_line}" if self.last_line > self.first_line else ""
        )
        return f"{escape_path(self.whole.source)}:{lines}"

    def line_weights(self) -> dict[int, float]:
        """Return the weight of each line: its share of the meaning of the passage."""
        start = self.passage.start_line
        raw = {
            number: weigh_line(line) * _count_weight(line)
            for number, line in enumerate(self.passage.lines, start=start)
        }
        asked = {
            number: weight
            for number, weight in raw.items()
            if self.first_line <= number <= self.last_line
        }
        if len(asked) == 1:  # if one line is requested, it has the same weight as code
            asked = {number: 1.0 if raw[number] else 0.0 for number in asked}
        near = {
            number: weight * (_FLOOR + math.exp(-self._distance(number) / _DISTANCE))
            for number, weight in raw.items()
            if number not in asked
        }
        asked_sum, near_sum = sum(asked.values()), sum(near.values())
        share = 0.0 if not asked_sum else 1.0 if not near_sum else _ASKED_SHARE
        weights = {number: share * weight / (asked_sum or 1) for number, weight in asked.items()}
        for number, weight in near.items():
            weights[number] = (1 - share) * weight / (near_sum or 1)
        return weights

    def asked_weights(self) -> dict[int, float]:
        """Return the weights of the requested lines, with the sum 1.

        If these lines have no weight, for example because they contain just brackets, return the
        weights of all lines of the passage.
        """
        weights = self.line_weights()
        asked = {
            number: weight
            for number, weight in weights.items()
            if self.first_line <= number <= self.last_line
        }
        total = sum(asked.values())
        return {number: weight / total for number, weight in asked.items()} if total else weights

    def _distance(self, line: int) -> int:
        return max(self.first_line - line, line - self.last_line)


def find_place(reference: str, documents: DocumentSet) -> CodePlace:
    """Return the place for a reference such as "path:10", "path:10-20" or "path#name".

    Raise SourceError if there is no such place, if the reference names no lines, or if it names a
    file of an installed package or of an earlier version.
    """
    if reference.startswith(PACKAGE_URI):
        raise SourceError(describe_missing_history(reference))
    whole, passage, parsed = locate_source(reference, documents)
    if whole.language == "diff" and "/" not in whole.source and "." not in whole.source:
        raise SourceError(
            f'"{reference}" is a commit; name lines of a file, as in path:10 or path#function'
        )
    version, sign, path = whole.source.partition(":")
    if sign and whole.trust is None and not os.path.lexists(documents.root / whole.source):
        raise SourceError(
            f'"{reference}" is in the version "{version}", and only files of the present version '
            f"have commits and links here; name {escape_path(path)} without a version"
        )
    first, last = parsed.first_line, parsed.last_line
    ranges = list_named_ranges("\n".join(whole.lines), whole.language)
    if first is None or last is not None:
        if first is None and not parsed.name:
            raise SourceError(
                f"{escape_path(whole.source)} names no lines; add them, as in "
                f"{escape_path(whole.source)}:10 or {escape_path(whole.source)}#name"
            )
        lines = passage.lines[:_MAX_LINES]
        omitted = len(passage.lines) - len(lines)
        passage = replace(passage, lines=lines)
        first = passage.start_line
        last = first + len(lines) - 1
        found = _range_with(ranges, first, last)
        names = list_symbols(found, whole.language) if found else ()
        has_range = found is not None and found.first_line == first
        name = bare_name(parsed.name)
        is_code = whole.language in CODE_EXTENSIONS
        if is_code and not has_range and name in split_words("\n".join(lines)):
            # The name of a variable, a field or a macro is not in `ranges`, so add it.
            names = (*names, name)
        return CodePlace(whole, passage, first, last, names, omitted)
    found = innermost_range(ranges, first)
    if found is not None and found.last_line - found.first_line < _MAX_DEFINITION_LINES:
        start, end = found.first_line, found.last_line
    else:
        start, end = _paragraph(whole.lines, first)
    lines = whole.lines[start - 1 : end]
    passage = replace(passage, start_line=start, lines=lines, note="")
    names = list_symbols(found, whole.language) if found else ()
    return CodePlace(whole, passage, first, first, names)


def _range_with(ranges: Sequence[NamedRange], first: int, last: int) -> NamedRange | None:
    """Return the smallest range that contains the lines; the last line may be blank."""
    around = [it for it in ranges if it.first_line <= first and last <= it.last_line + 1]
    return min(around, key=lambda it: it.last_line - it.first_line, default=None)


def _paragraph(lines: Sequence[str], line: int) -> tuple[int, int]:
    """Return the range of non-blank lines around a line, at most 12 before and 12 after it."""
    start, end = line, line
    while start > max(1, line - _LINES_AROUND) and lines[start - 2].strip():
        start -= 1
    while end < min(len(lines), line + _LINES_AROUND) and lines[end].strip():
        end += 1
    return start, end


def _count_weight(line: str) -> float:
    """Return the weight of a line's words. Long lines weigh little more than short lines."""
    return math.sqrt(sum(map(weigh_word, split_words(line))))
