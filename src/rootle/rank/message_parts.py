"""Split a pasted line into the parts that may be the message of a program.

A program adds a time, a level and fields before and after a message. It also puts messages into
other messages, separated by colons: `load failed: cannot open a.txt: permission denied`. Each of
them may come from another file. The texts are in lower case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rootle.rank.log_lines import (
    blank_generated,
    blank_values,
    read_message_field,
    split_heads,
    split_tails,
)
from rootle.rank.word_alignment import WORD

COMPOUND: Final = re.compile(r"\S+")
_MAX_PARTS: Final = 10  # of a line that are searched
# The minimum share of the words of a message that a source must have.
MIN_SHARE: Final = 0.6
# The minimum share for a part without what follows it, which leaves out words that the source may
# have.
_HEAD_SHARE: Final = 0.99
_MIN_WORDS: Final = 3  # of a message between two others
# The number of parts of queries whose words are kept, because they are needed several times.
_MAX_KEPT: Final = 64
# Signs of a message or of code: characters of code, quotes around words, log levels, names of
# exceptions, absolute paths and addresses.
_MARKED: Final = re.compile(
    r"[<>{}\[\]=%;\\|]|\w\(|\(\)|\(\d[\w.]{0,9}\)|(?<!\w)[\"'`]|[\"'`](?!\w)|://|\w(?:error|exception):"
    r"|(?:^|\s)(?:error|warn|warning|fatal|panic|critical|severe)\b|(?:^|\s)/[\w.-]{1,80}/|\w@\w"
)
# Signs of a message if both occur.
_WEAK_MARKS: Final = (re.compile(r":(?:\s|$)"), re.compile(r"\b\d"))
# A message that ends with a colon and a value. A topic before a colon has fewer words.
_LONG_HEAD: Final = re.compile(r"[^:\s]+(?:\s+[^:\s]+){3,30}:\s")
# The first words of questions, which are not copied from a file.
QUESTION: Final = re.compile(
    r"(?:how|what|where|when|which|who|whose|why|is|are|can|could|do|does|did)\b"
)
# Words that loggers add to a message.
_LOG_WORDS: Final = frozenset(
    "critical debug err error errors exception fatal info level log main msg notice panic severe "
    "trace uncaught warn warning".split()
)


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a pasted line that may be the message."""

    text: str
    min_share: float = MIN_SHARE
    is_literal: bool = False  # a source must have the literal text
    is_logged: bool = False  # names with dots and exceptions are only values


@lru_cache(_MAX_KEPT)
def is_marked(text: str) -> bool:
    """Return whether a text has signs of a message or of code."""
    if _MARKED.search(text) is not None or _LONG_HEAD.match(text) is not None:
        return True
    return all(mark.search(text) for mark in _WEAK_MARKS)


@lru_cache(_MAX_KEPT)
def fixed_words(text: str) -> frozenset[str]:
    """Return the words of a text that come from its source."""
    return frozenset(WORD.findall(blank_values(text))) - _LOG_WORDS


def split_message(line: str) -> list[MessagePart]:
    """Return the parts of a line that may be the message, in the order of the search.

    If a field of the line contains the message, it is first, followed by its parts. The line is
    next, followed by its other parts, longest first.
    """
    if not is_marked(line):
        return [] if QUESTION.match(line) else [MessagePart(line)]
    message = read_message_field(line)
    parts = [MessagePart(line), *_split_further(line)]
    if message:
        literal = MessagePart(f'"{message}"', is_literal=True)
        parts = [MessagePart(message), literal, *_split_further(message), *parts]
    distinct: dict[tuple[frozenset[str], bool], MessagePart] = {}
    for part in parts:
        distinct.setdefault((fixed_words(part.text), part.is_literal), part)
    is_logged = blank_generated(line) != line
    return [replace(part, is_logged=is_logged) for part in distinct.values()][:_MAX_PARTS]


def _split_further(line: str) -> list[MessagePart]:
    """Return the ends, the beginnings and the inner parts of a line, longest first."""
    tails = [part for part in split_tails(line) if not COMPOUND.fullmatch(part)]
    start = max(tails, key=len, default=line)
    heads = [head for part in dict.fromkeys((line, start)) for head in split_heads(part)]
    inner = [
        shortest
        for tail in tails
        for shortest in split_heads(tail)[-1:]
        if len(WORD.findall(shortest)) >= _MIN_WORDS
    ]
    parts = [
        *map(MessagePart, tails),
        *(
            MessagePart(head, min_share=_HEAD_SHARE)
            for head in (*heads, *inner)
            if not COMPOUND.fullmatch(head)
        ),
    ]
    return sorted(parts, key=lambda part: -len(part.text))
