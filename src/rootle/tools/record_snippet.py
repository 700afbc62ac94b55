"""Shorten a text for an answer by selecting the lines that match the question best."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rootle.text.terms import WORD, split_identifier

_ELLIPSIS: Final = "…"
# Shorter words, such as "the", "is" and "how", are ignored because they occur in most lines.
_MIN_WORD_CHARS: Final = 4
# Number of characters at the start of a word that all its inflected forms are assumed to share.
_STEM_CHARS: Final = 5


def shorten_text(text: str, question: str, limit: int) -> str:
    """Return at most `limit` characters of a text, as whole lines if possible.

    The excerpt begins with the first line unless later lines contain more words of the question.
    """
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    start = _best_start(lines, _stems(question), limit - 2 * len(f"{_ELLIPSIS}\n"))
    shown = "\n".join([*([_ELLIPSIS] if start else []), *lines[start:]])
    return shown if len(shown) <= limit else shown[: limit - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def _best_start(lines: list[str], stems: set[str], room: int) -> int:
    """Return the index of the line from which the next `room` characters contain the most stems."""
    found = [_stems(line) & stems for line in lines]
    best, most = 0, -1
    for start in range(len(lines)):
        if start and not found[start]:
            continue
        count = len(set().union(*_stems_that_fit(lines, found, start, room)))
        if count > most:
            best, most = start, count
    # Near the end of the text, there is room for lines before the best line.
    while best and sum(len(line) + 1 for line in lines[best - 1 :]) <= room:
        best -= 1
    return best


def _stems_that_fit(
    lines: list[str], found: list[set[str]], start: int, room: int
) -> Iterable[set[str]]:
    """Yield the stems of each line from `start` on, as long as the lines fit into `room`."""
    for line, stems in zip(lines[start:], found[start:], strict=True):
        room -= len(line) + 1
        if room < 0:
            return
        yield stems


def _stems(text: str) -> set[str]:
    parts = (part for word in WORD.findall(text) for part in split_identifier(word))
    return {part[:_STEM_CHARS] for part in parts if len(part) >= _MIN_WORD_CHARS}
