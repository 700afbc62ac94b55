"""Parse regular expressions in questions, and find the literals that every match contains."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from rootle.errors import QueryError

# The parser of the standard library: undocumented, but it always agrees with `re`. Its trees are
# lists of (operation, argument) with a different type of argument for each operation, hence Any.
_PARSER: Final[Any] = import_module("re._parser")
REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
MAX_PATTERN_CHARS: Final = 500


@lru_cache(maxsize=64)
def parse_pattern(pattern: str) -> Any:
    """Return the tree of a pattern, with its flags.

    A pattern ignores case unless it contains a capital letter. Raise QueryError if the pattern is
    invalid or too long.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise QueryError(
            f"the regex has {len(pattern)} characters; use at most {MAX_PATTERN_CHARS}"
        )
    bare = re.sub(r"\\.", "", pattern)
    flags = re.NOFLAG if any(map(str.isupper, bare)) else re.IGNORECASE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns about "[["
            return _PARSER.parse(pattern, int(flags))
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise QueryError(
            f'the regex "{pattern}" is invalid: {error}; put a \\ before special characters that '
            "are meant literally, or quote the text instead"
        ) from error


def find_literals(pattern: str) -> tuple[str, ...]:
    """Return the distinct runs of two or more word characters that every match contains."""
    runs: list[str] = []
    run = ""
    for char in _required_chars(parse_pattern(pattern)):
        if char and (char.isalnum() or char == "_"):
            run += char
            continue
        runs.append(run)
        run = ""
    return tuple(dict.fromkeys(text for text in [*runs, run] if len(text) > 1))


def _required_chars(tree: Any) -> Iterator[str]:
    """Yield the characters that every match contains, and "" where other characters may occur."""
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            yield chr(argument)
        elif name == "SUBPATTERN":
            yield from _required_chars(argument[-1])
        elif name in REPEATS and argument[0] > 0:
            yield ""
            yield from _required_chars(argument[2])
            yield ""
        elif name != "AT":  # an anchor, such as ^, matches no characters
            yield ""
