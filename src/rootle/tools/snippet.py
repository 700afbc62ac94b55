"""The part of a passage that is shown: as much as fits, where most of the question stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rootle.text import WORD, split_identifier

_CUT: Final = "…"
# "the", "is" and "how" tell nothing about a line; so much of a word is the same in its forms.
_MIN_WORD: Final = 4
_STEM: Final = 5


def snippet_of(text: str, question: str, limit: int) -> str:
    """At most `limit` characters of a text, by whole lines where lines are not too long for that.

    It begins at the first line unless later lines have more of the question's words.
    """
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    start = _best_start(lines, _stems(question), limit - 2 * len(f"{_CUT}\n"))
    front = f"{_CUT}\n" if start else ""
    rest = "\n".join(lines[start:])
    room = limit - len(front)
    if len(rest) <= room:
        return front + rest
    end = rest.rfind("\n", 0, room - len(_CUT))
    # A line that is cut says more than none.
    whole = f"{rest[:end]}\n" if end > room // 2 else rest[: room - len(_CUT)]
    return f"{front}{whole}{_CUT}"


def _best_start(lines: list[str], wanted: set[str], room: int) -> int:
    """The line from which so many characters have most of the wanted words."""
    found = [_stems(line) & wanted for line in lines]
    best, most = 0, -1
    for start in range(len(lines)):
        if start and not found[start]:
            continue
        count = len(set().union(*_within(lines, found, start, room)))
        if count > most:
            best, most = start, count
    # Where the end of the text is reached there is room for what stands before.
    while best and sum(len(line) + 1 for line in lines[best - 1 :]) <= room:
        best -= 1
    return best


def _within(lines: list[str], found: list[set[str]], start: int, room: int) -> Iterable[set[str]]:
    for line, words in zip(lines[start:], found[start:], strict=True):
        room -= len(line) + 1
        if room < 0:
            return
        yield words


def _stems(text: str) -> set[str]:
    parts = (part for word in WORD.findall(text) for part in split_identifier(word))
    return {part[:_STEM] for part in parts if len(part) >= _MIN_WORD}
