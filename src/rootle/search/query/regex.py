"""Regular expressions of a question: which are refused, and what they must find."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from rootle.errors import QueryError

# The standard library's own parser: it is not documented, but it cannot disagree with `re`.
# Its trees are lists of (operation, argument), whatever an operation takes: hence Any.
_PARSER: Final[Any] = import_module("re._parser")
_REPEATS: Final = {"MAX_REPEAT", "MIN_REPEAT"}
# More than so many are as good as no end.
_FEW: Final = 9
# So many parts that may be there or not can be tried in 16 ways: as good as one more repetition.
_OPTIONAL_AS_ONE: Final = 4
# n characters of a line and k repetitions without end may take n^(k+1) / (k+1)! steps: of a line so
# many are looked at that it takes a second at worst.
_LINE_CHARS: Final = (1_000, 1_000, 800, 220, 100)
_MAX_REPEATS: Final = len(_LINE_CHARS) - 1
MAX_PATTERN_CHARS: Final = 500


def check_pattern(pattern: str) -> None:
    """Raise QueryError for a pattern that is none, or that might not come to an end."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise QueryError(
            f"the regex has {len(pattern)} characters; use at most {MAX_PATTERN_CHARS}"
        )
    try:
        compile_pattern(pattern)
        tree = _parsed(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise QueryError(
            f'the regex "{pattern}" is invalid: {error}; put a \\ before signs that are meant '
            "literally, or quote the text instead"
        ) from error
    if _repeats(tree) > _MAX_REPEATS or _is_dangerous(tree):
        raise QueryError(
            f'the regex "{pattern}" could run for ever: a repetition inside a repetition, or '
            f"more than {_MAX_REPEATS} of them; write it with fewer of * and +"
        )


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, without regard to case unless it has a capital letter itself."""
    bare = re.sub(r"\\.", "", pattern)
    flags = re.NOFLAG if any(map(str.isupper, bare)) else re.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of "[[", which may change its meaning
        return re.compile(pattern, flags)


def _parsed(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return _PARSER.parse(pattern)


def line_chars(pattern: str) -> int:
    """How much of a line a pattern may look at."""
    return _LINE_CHARS[_repeats(_parsed(pattern))]


def literals_of(pattern: str) -> tuple[str, ...]:
    """Runs of word characters, in order, each of which stands in whatever the pattern finds."""
    runs: list[str] = []
    run = ""
    for char in _required(_parsed(pattern)):
        if char and (char.isalnum() or char == "_"):
            run += char
            continue
        runs.append(run)
        run = ""
    return tuple(dict.fromkeys(text for text in [*runs, run] if len(text) > 1))


def _required(tree: Any) -> Iterator[str]:
    """The characters that every match has; empty where anything may stand between two."""
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            yield chr(argument)
        elif name == "SUBPATTERN":
            yield from _required(argument[-1])
        elif name in _REPEATS and argument[0] > 0:
            yield ""
            yield from _required(argument[2])
            yield ""
        elif name != "AT":  # the start or end of a line or word takes no room
            yield ""


def _is_dangerous(tree: Any, times: int = 1) -> bool:
    """Whether what is repeated long may match the same text in two ways."""
    for operation, argument in tree:
        name = str(operation)
        often = times * argument[1] if name in _REPEATS else times
        if name in _REPEATS and often > _FEW and _is_ambiguous(argument[2]):
            return True
        if any(_is_dangerous(part, often) for part in _parts(name, argument)):
            return True
    return False


def _is_ambiguous(tree: Any) -> bool:
    for operation, argument in tree:
        name = str(operation)
        if name in _REPEATS and argument[0] != argument[1]:
            return True
        if name == "BRANCH" and not all(_has_own_start(branch) for branch in argument[1]):
            return True
        if any(_is_ambiguous(part) for part in _parts(name, argument)):
            return True
    return False


def _has_own_start(branch: Any) -> bool:
    # The parser takes common beginnings out of a branch: what is left begins differently.
    return len(branch) > 0 and str(branch[0][0]) == "LITERAL"


def _is_long(operation: Any, argument: Any) -> bool:
    return str(operation) in _REPEATS and bool(argument[1] > _FEW)


def _repeats(tree: Any) -> int:
    return _open_repeats(tree) + _optional(tree) // _OPTIONAL_AS_ONE


def _open_repeats(tree: Any) -> int:
    return sum(
        _is_long(operation, argument)
        + max((_open_repeats(part) for part in _parts(str(operation), argument)), default=0)
        for operation, argument in tree
    )


def _optional(tree: Any, times: int = 1) -> int:
    """How many parts may be there or not, a repetition of a few counted as that many."""
    count = 0
    for operation, argument in tree:
        name = str(operation)
        is_few = name in _REPEATS and argument[1] <= _FEW
        count += times * (argument[1] - argument[0]) if is_few else 0
        often = times * argument[1] if is_few else times
        count += sum(_optional(part, often) for part in _parts(name, argument))
    return count


def _parts(name: str, argument: Any) -> list[Any]:
    """What an operation holds inside."""
    if name in _REPEATS:
        return [argument[2]]
    if name == "BRANCH":
        return list(argument[1])
    if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return [argument[-1]]
    if name == "ATOMIC_GROUP":
        return [argument]
    if name == "POSSESSIVE_REPEAT":
        return [argument[2]]
    if name == "GROUPREF_EXISTS":
        return [part for part in argument[1:] if part is not None]
    return []
