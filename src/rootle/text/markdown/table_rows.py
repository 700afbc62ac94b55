"""Rows of Markdown tables: their text without padding, and the options that they describe.

In the reference of a program, each row of a table describes one option: its first cell is the name,
and the others are the meaning and the default. Rows are padded with spaces, and can contain anchors
that only browsers need, so that most of a row of a thousand characters may be invisible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from rootle.text.terms import STOP_WORDS, WORD, split_identifier, whole_identifier

_RULE: Final = re.compile(r"[\s|:]*-[\s|:-]*")
_ANCHOR: Final = re.compile(r"</?(?:a|span)\b[^<>|]*>", re.IGNORECASE)
# A name that is divided for the browser, as in `transport.`<br />`timeout`.
_DIVISION: Final = re.compile(r"(?<=[.:/_-])`\s*<br\s*/?>\s*`", re.IGNORECASE)
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_NAME_END: Final = re.compile(r"[.:/]")
# The maximum numbers of cached questions and words: several chunks are compared with one question,
# and tables repeat their words.
_MAX_QUESTIONS: Final = 64
_MAX_WORDS: Final = 16_384
_Word = tuple[str, Sequence[str]]  # the stem of a word, and those of its parts
# Words that ask for any option.
_GENERAL: Final = frozenset(
    """config configuration configure control controls default defaults disable enable flag flags
    key keys mean means option options parameter set sets setting settings turn turned turns
    value values""".split()
)
# A row describes the option of a question if it has at least this share of the other words.
_MIN_SHARE: Final = 0.5
# Ordinary words also occur in questions about something else, so they count only in short
# questions.
_ORDINARY: Final = re.compile(r"[^\W\d_][^\W\d_A-Z]*(?: [^\W\d_A-Z]+)*")
_MAX_SHORT: Final = 3


def is_row(line: str) -> bool:
    """Return whether a line is a row of a Markdown table; rows begin and end with a bar."""
    text = line.strip()
    return len(text) > 1 and text[0] == text[-1] == "|"


def compact_row(line: str) -> str:
    """Return a row without padding, anchors and line breaks; other lines are returned unchanged."""
    if not is_row(line):
        return line
    if _RULE.fullmatch(line):
        return "|" + "---|" * (len(_CELL_END.findall(line)) - 1)
    return _compact(line)


def _compact(text: str) -> str:
    if "<" in text:
        text = _BREAK.sub(" ", _DIVISION.sub("", _ANCHOR.sub("", text)))
    return " ".join(text.split())


def read_row_name(row: str) -> str:
    """Return the last part of the name in the first cell of a row."""
    name = _read_first_cell(row)
    return name if " " in name else _NAME_END.split(name.rstrip(".:/"))[-1]


def _read_first_cell(row: str) -> str:
    return _compact(_CELL_END.split(row, maxsplit=2)[1]).strip(" `*")


def find_named_row(lines: Sequence[str], question: str) -> int | None:
    """Return the index of the row that describes the option of a question, or None.

    The last part of the name in the first cell of this row, such as `timeout` in
    `transport.timeout`, must be in the question, and the row must have at least half of the other
    words of the question. If the whole name is an ordinary word, such as `users`, the question must
    be short.
    """
    asked, words = _read_question(question)
    is_long = len(words) > _MAX_SHORT
    best: tuple[float, int | None] = (0.0, None)
    for at, line in enumerate(lines) if words else ():
        if not is_row(line) or (is_long and _ORDINARY.fullmatch(_read_first_cell(line))):
            continue
        if _is_named(read_row_name(line), asked):
            share = len(words.intersection(_stems(_compact(line)))) / len(words)
            if share >= _MIN_SHARE and share > best[0]:
                best = share, at
    return best[1]


def _is_named(name: str, asked: Collection[str]) -> bool:
    words = list(_read_words(name))
    return bool(words) and all(
        whole in asked or all(part in asked for part in parts) for whole, parts in words
    )


def _stems(text: str) -> Iterator[str]:
    """Yield the stems of the words in a text, and of the parts of identifiers."""
    for whole, parts in _read_words(text):
        yield whole
        yield from parts


def _read_words(text: str) -> Iterator[_Word]:
    """Yield the stems of the words in a text; stop words are left out."""
    return filter(None, map(_read_word, WORD.findall(text)))


@lru_cache(_MAX_WORDS)
def _read_word(word: str) -> _Word | None:
    parts = split_identifier(word)
    if word.lower() in STOP_WORDS or not parts:
        return None
    return _stemmer()(whole_identifier(word))[0], tuple(_stemmer()(" ".join(parts)))


@lru_cache(_MAX_QUESTIONS)
def _read_question(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return all stems of a question, and those of its words that do not ask for any option."""
    general = frozenset(_stemmer()(" ".join(_GENERAL)))
    whole = frozenset(whole for whole, _ in _read_words(question))
    return frozenset(_stems(question)), whole - general


@cache
def _stemmer() -> Callable[[str], list[str]]:
    from rootle.text.stemmer import open_stemmer  # loads a library, so it is imported when needed

    return open_stemmer()
