"""Colors in the output of `rootle search`, and the lines and words that match the question."""

from __future__ import annotations

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
_COMMENT: Final = re.compile(r"\s*(?://|/?\*(?!\w)|#(?=[\s#])|--\s|<!--|;;|%)")
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
    """Return the indexes of the first line and of the lines with the most matches, in order.

    The first line after a comment is ranked by the matches of the comment if it has fewer matches,
    because the comment describes the line. If `limit` is 1, return only the line with the most
    matches.
    """
    if len(lines) <= limit:
        return list(range(len(lines)))
    counts = [len(_matches(line, words)) for line in lines]
    if limit == 1:
        return [counts.index(max(counts))]
    above = 0  # the most matches in one line of the comment directly above
    for index, line in enumerate(lines):
        if _COMMENT.match(line):
            above = max(above, counts[index])
        else:
            counts[index], above = max(counts[index], above), 0
    others = sorted(range(1, len(lines)), key=lambda index: (-counts[index], index))
    return [0, *sorted(others[: limit - 1])]


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
