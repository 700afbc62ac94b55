"""What is shown of a record: as much as fits, where most of the question stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rootle.serialization.citation import format_place
from rootle.text.terms import WORD, split_identifier
from rootle.types import Record

_CUT: Final = "…"
# Per cent for the best lines of a file; the rest is for the next best ones. So an agent reads a
# line of an answer for 310 of our 420 labelled questions and three lines for 281; where the best
# lines have all of the room, for 290 and 270 (benchmarks/quality/snippet_coverage.py).
_OWN_SHARE: Final = 80
_FEWEST_CHARS: Final = 60
# "the", "is" and "how" tell nothing about a line; so much of a word is the same in its forms.
_MIN_WORD: Final = 4
_STEM: Final = 5


def shown_text(record: Record, question: str, limit: int) -> str:
    """At most `limit` characters of a record: of its text, and of the next best lines beside it."""
    own_limit = limit * _OWN_SHARE // 100 if record.more else limit
    shown = snippet_of(record.text, question, own_limit)
    for span in record.more:
        head = f"\n{_CUT} {format_place(span)} {span.scope}".rstrip() + "\n"
        room = limit - len(shown) - len(head)
        if room < _FEWEST_CHARS:
            break
        shown += head + snippet_of(span.snippet, question, room)
    return shown


def snippet_of(text: str, question: str, limit: int) -> str:
    """At most `limit` characters of a text.

    They begin with its first line unless later lines have more of the question's words.
    """
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    start = _best_start(lines, _stems(question), limit - 2 * len(f"{_CUT}\n"))
    shown = "\n".join([*([_CUT] if start else []), *lines[start:]])
    return shown if len(shown) <= limit else shown[: limit - len(_CUT)].rstrip() + _CUT


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
