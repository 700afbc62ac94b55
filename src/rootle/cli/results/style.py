"""Colors in the output of `rootle search`, and the lines and words that match the question."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from rootle.rank.features import word_similarity
from rootle.text.terms import STOP_WORDS, WORD, split_identifier

CYAN, RED, YELLOW, DIM = "1;36", "1;31", "33", "2"

# The minimum similarity, from 0 to 1, of a highlighted word to a word of the question.
_MIN_WORD_SIMILARITY: Final = 0.8
_BEFORE_MATCH: Final = 4  # a line that is cut before a match keeps a quarter of the columns there
_NO_WORDS: Final = (0.0, 0)
_COMMENT: Final = re.compile(r"\s*(?://|/?\*(?!\w)|#(?=[\s#])|--\s|<!--|;;|%)")
# Comments for programs, and statements that name the package of a file and what it imports.
_PREAMBLE: Final = re.compile(
    r"#!|# *(?:-\*-|(?:frozen_string_literal|(?:en)?coding|typed|rubocop|pylint)\b)"
    r"|(?://|/\*|#) *(?:eslint|@ts-|SPDX-|Copyright\b)"
    r"|(?:package|import|using|include|from|require|require_relative|use)\b[ (]"
    r"|#\s*include\b|[\"']use (?:strict|client)[\"']"
)
# Filters and excluded words of a question, which are not highlighted.
_FILTER: Final = re.compile(
    r'(?<!\S)(?:-?(?:path|lang|language|in|author|since|until):(?:"[^"]*"|\S+)|regex:|-\w{3,}|-"[^"]*")'
)


@dataclass(frozen=True, slots=True)
class Style:
    """Settings for output: whether to use colors, and whether to shorten long spans."""

    is_terminal: bool
    has_color: bool

    @classmethod
    def from_stream(cls, stream: TextIO, color: str) -> Style:
        """Return the style for a stream; `color` is auto, always or never."""
        is_terminal = stream.isatty()
        is_wanted = is_terminal and not os.environ.get("NO_COLOR")
        return cls(is_terminal, color == "always" or (color == "auto" and is_wanted))

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_color else text


def words_to_highlight(question: str) -> set[str]:
    """Return the parts of the words in a question, without filters and common words."""
    return {
        part
        for word in WORD.findall(_FILTER.sub(" ", question))
        for part in split_identifier(word)
        if part not in STOP_WORDS
    }


def most_relevant(lines: Sequence[str], words: set[str], limit: int) -> list[int]:
    """Return the indexes of the first line and of the lines with the most words, in order.

    Lines at the beginning that almost every file has, such as imports, do not count as the first
    unless they contain words of the question.
    Exact matches count more than similar words. Repetitions count only between lines that have the
    same number of words. If a comment has more of the words than the line below it, the line is
    ranked by the words of the comment, because the comment describes it. If `limit` is 1, return
    only the line with the most words.
    """
    if len(lines) <= limit:
        return list(range(len(lines)))
    counts = [_count_words(line, words) for line in lines]
    if limit == 1:
        return [counts.index(max(counts))]
    above = _NO_WORDS  # the most words in one line of the comment directly above
    for index, line in enumerate(lines):
        if _COMMENT.match(line):
            above = max(above, counts[index])
        else:
            counts[index], above = max(counts[index], above), _NO_WORDS
    first = _find_first(lines, counts)
    others = list(range(first + 1, len(lines)))  # the lines before it have no words
    others.sort(key=counts.__getitem__, reverse=True)  # stable
    return sorted([first, *others[: limit - 1]])


def _find_first(lines: Sequence[str], counts: Sequence[tuple[float, int]]) -> int:
    """Return the index of the first line after comments about the file, its package and imports.

    `counts` are the words of the question in each line. A line with such words is not skipped.
    """
    for at, line in enumerate(lines):
        if counts[at] > _NO_WORDS or (line.strip() and not _PREAMBLE.match(line)):
            return at
    return 0


def cut_around_match(line: str, words: set[str], columns: int) -> str:
    """Return a line that is cut to a number of columns; the cuts are marked with "…".

    The line is cut at its end, or at both ends if its first match would not be visible otherwise.
    """
    if len(line) <= columns:
        return line
    start = next((start for start, end in _matches(line, words)), 0)
    first = max(0, start - columns // _BEFORE_MATCH)
    if start < columns - columns // _BEFORE_MATCH:
        return f"{line[: columns - 1]}…"
    end = "…" if len(line) - first >= columns else ""
    return f"…{line[first + 1 : first + columns - len(end)]}{end}"


def _count_words(line: str, words: set[str]) -> tuple[float, int]:
    """Return the number of words of the question in a line, and the number of all matches.

    A similar word counts less than an exact match.
    """
    parts = {part for word in WORD.findall(line) for part in split_identifier(word)}
    others = [
        max((word_similarity(part, word) for part in parts), default=0.0) for word in words - parts
    ]
    similar = math.fsum(one for one in others if one >= _MIN_WORD_SIMILARITY)
    return len(words & parts) + similar, len(_matches(line, words))


def highlight(line: str, words: set[str], style: Style) -> str:
    """Return the line with its matching words in color, if the style has colors."""
    if not style.has_color:
        return line
    parts, end = [], 0
    for start, stop in _matches(line, words):
        parts += [line[end:start], style.paint(line[start:stop], RED)]
        end = stop
    return "".join([*parts, line[end:]])


def _matches(line: str, words: set[str]) -> list[tuple[int, int]]:
    """Return the start and end of each word of a line that matches a word of the question."""
    return [
        match.span()
        for match in WORD.finditer(line)
        if any(_is_match(part, words) for part in split_identifier(match.group()))
    ]


def _is_match(part: str, words: set[str]) -> bool:
    return part in words or any(
        word_similarity(part, word) >= _MIN_WORD_SIMILARITY for word in words
    )
