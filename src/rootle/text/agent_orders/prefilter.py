"""Literals that a text must contain so that a pattern can match: a fast test before the pattern.

The literals come from the syntax tree of the pattern, so the test never rejects a text in which the
pattern matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

# A choice of more literals than this is not worth testing.
_MAX_CHOICES: Final = 400
_MIN_CHARS: Final = 2
_PART_CHARS: Final = 3


class LiteralFilter:
    """Find the patterns that can match a text, by the three-letter parts of the text."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._needed = [
            sorted(
                map(_Choice.from_literals, required_literals(one)), key=lambda choice: choice.size
            )
            for one in patterns
        ]

    def possible(self, plain: str) -> list[int]:
        """Return the indexes of the patterns that can match a text, in order."""
        parts = set(map("".join, zip(plain, plain[1:], plain[2:], strict=False)))
        return [
            index
            for index, needed in enumerate(self._needed)
            if all(choice.occurs(plain, parts) for choice in needed)
        ]


class _Choice(NamedTuple):
    """Literals of which one must occur, by their first three letters."""

    starts: frozenset[str]
    long: Mapping[str, tuple[str, ...]]  # literals of at least three letters
    short: tuple[str, ...]
    size: int

    @classmethod
    def from_literals(cls, literals: frozenset[str]) -> _Choice:
        # A literal that contains another one of the choice adds nothing.
        kept = [
            one
            for one in sorted(literals)
            if not any(two != one and two in one for two in literals)
        ]
        long: dict[str, list[str]] = {}
        for one in kept:
            if len(one) >= _PART_CHARS:
                long.setdefault(one[:_PART_CHARS], []).append(one)
        short = tuple(one for one in kept if len(one) < _PART_CHARS)
        by_start = {start: tuple(literals) for start, literals in long.items()}
        return cls(frozenset(long), by_start, short, len(kept) + 100 * len(short))

    def occurs(self, plain: str, parts: Set[str]) -> bool:
        return any(one in plain for one in self.short) or any(
            one in plain for start in self.starts if start in parts for one in self.long[start]
        )


def required_literals(pattern: str) -> list[frozenset[str]]:
    """Return sets of literals; a text in which the pattern matches contains one of each set.

    The pattern is matched against lower-case text.
    """
    return _collect(parser.parse(pattern))


def _collect(items: Sequence[tuple[Any, Any]]) -> list[frozenset[str]]:
    found: list[frozenset[str]] = []
    exact = frozenset({""})  # the texts that the last items match
    for code, value in items:
        choices = _exact(code, value)
        if choices is not None and len(choices) * len(exact) <= _MAX_CHOICES:
            exact = frozenset(one + two for one in exact for two in choices)
            continue
        found.append(exact)
        exact = choices if choices is not None else frozenset({""})
        if choices is None:
            found.extend(_inside(code, value))
    found.append(exact)
    return [one for one in dict.fromkeys(found) if min(map(len, one)) >= _MIN_CHARS]


def _exact(code: Any, value: Any) -> frozenset[str] | None:
    """Return all texts that an item matches; None if they are many or unknown."""
    if code is codes.LITERAL:
        return frozenset({chr(value)})
    if code is codes.IN and all(kind is codes.LITERAL for kind, _ in value):
        return frozenset(chr(one) for _, one in value)
    if code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return frozenset({""})
    if code is codes.SUBPATTERN:
        return _exact_sequence(value[3])
    if code is codes.BRANCH:
        branches = [_exact_sequence(branch) for branch in value[1]]
        known = [one for one in branches if one is not None]
        return _limit(frozenset().union(*known)) if len(known) == len(branches) else None
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] == 1:
        once = _exact_sequence(value[2])
        return once if once is None or value[0] else _limit(once | {""})
    return None


def _exact_sequence(items: Sequence[tuple[Any, Any]]) -> frozenset[str] | None:
    exact = frozenset({""})
    for code, value in items:
        choices = _exact(code, value)
        if choices is None or len(exact) * len(choices) > _MAX_CHOICES:
            return None
        exact = frozenset(one + two for one in exact for two in choices)
    return exact


def _limit(choices: frozenset[str]) -> frozenset[str] | None:
    return choices if len(choices) <= _MAX_CHOICES else None


def _inside(code: Any, value: Any) -> list[frozenset[str]]:
    """Return the required literals of an item that matches unknown texts."""
    if code is codes.SUBPATTERN:
        return _collect(value[3])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[0]:
        return _collect(value[2])
    if code is codes.BRANCH:
        # One of the branches matches, so one of the literals of each branch occurs.
        best = [max(_collect(one), key=_selectivity, default=None) for one in value[1]]
        if None not in best:
            merged = frozenset[str]().union(*(one for one in best if one))
            return [merged] if len(merged) <= _MAX_CHOICES else []
    return []


def _selectivity(choices: frozenset[str]) -> tuple[int, int]:
    return min(map(len, choices)), -len(choices)
