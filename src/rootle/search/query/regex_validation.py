"""Regular expressions in questions: validation, and the literals that every match contains."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from rootle.errors import QueryError

# The parser of the standard library: undocumented, but it always agrees with `re`. Its trees are
# lists of (operation, argument) with a different type of argument for each operation, hence Any.
_PARSER: Final[Any] = import_module("re._parser")
_REPEATS: Final = {"MAX_REPEAT", "MIN_REPEAT"}
# A repetition with a higher limit is treated as unlimited.
_MAX_FEW: Final = 9
# Four optional parts can be tried in 16 ways, which counts as one more repetition.
_OPTIONAL_PER_REPEAT: Final = 4
# Matching n characters with k unlimited repetitions may take n^(k+1) / (k+1)! steps. Entry k is the
# number of characters of a line that are searched, so that a line takes a second at worst.
_LINE_CHARS: Final = (1_000, 1_000, 800, 220, 100)
_MAX_REPEATS: Final = len(_LINE_CHARS) - 1
MAX_PATTERN_CHARS: Final = 500


def check_pattern(pattern: str) -> None:
    """Raise QueryError for an invalid pattern, or for one that may take too long."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise QueryError(
            f"the regex has {len(pattern)} characters; use at most {MAX_PATTERN_CHARS}"
        )
    try:
        compile_pattern(pattern)
        tree = _parse_pattern(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise QueryError(
            f'the regex "{pattern}" is invalid: {error}; put a \\ before special characters that '
            "are meant literally, or quote the text instead"
        ) from error
    if _count_repeats(tree) > _MAX_REPEATS or _is_dangerous(tree):
        raise QueryError(
            f'the regex "{pattern}" may take too long: it nests repetitions or has more than '
            f"{_MAX_REPEATS} of them; use fewer * and +"
        )


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern; it ignores case unless it contains a capital letter."""
    bare = re.sub(r"\\.", "", pattern)
    flags = re.NOFLAG if any(map(str.isupper, bare)) else re.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about "[["
        return re.compile(pattern, flags)


def max_line_chars(pattern: str) -> int:
    """Return how many characters of a line to search with a pattern."""
    return _LINE_CHARS[_count_repeats(_parse_pattern(pattern))]


def find_literals(pattern: str) -> tuple[str, ...]:
    """Return the runs of word characters that every match contains, in order."""
    runs: list[str] = []
    run = ""
    for char in _required_chars(_parse_pattern(pattern)):
        if char and (char.isalnum() or char == "_"):
            run += char
            continue
        runs.append(run)
        run = ""
    return tuple(dict.fromkeys(text for text in [*runs, run] if len(text) > 1))


def _parse_pattern(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return _PARSER.parse(pattern)


def _required_chars(tree: Any) -> Iterator[str]:
    """Yield the characters that every match contains, and "" where others may occur."""
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            yield chr(argument)
        elif name == "SUBPATTERN":
            yield from _required_chars(argument[-1])
        elif name in _REPEATS and argument[0] > 0:
            yield ""
            yield from _required_chars(argument[2])
            yield ""
        elif name != "AT":  # an anchor matches no characters
            yield ""


def _is_dangerous(tree: Any, times: int = 1) -> bool:
    """Return whether a part that is repeated often can match the same text in two ways."""
    for operation, argument in tree:
        name = str(operation)
        total = times * argument[1] if name in _REPEATS else times
        if name in _REPEATS and total > _MAX_FEW and _is_ambiguous(argument[2]):
            return True
        if any(_is_dangerous(part, total) for part in _subtrees(name, argument)):
            return True
    return False


def _is_ambiguous(tree: Any) -> bool:
    for operation, argument in tree:
        name = str(operation)
        if name in _REPEATS and argument[0] != argument[1]:
            return True
        if name == "BRANCH" and not all(_starts_with_literal(branch) for branch in argument[1]):
            return True
        if any(_is_ambiguous(part) for part in _subtrees(name, argument)):
            return True
    return False


def _starts_with_literal(branch: Any) -> bool:
    # The parser factors out the common prefix of all branches, so these literals differ.
    return len(branch) > 0 and str(branch[0][0]) == "LITERAL"


def _count_repeats(tree: Any) -> int:
    return _count_unlimited(tree) + _count_optional(tree) // _OPTIONAL_PER_REPEAT


def _count_unlimited(tree: Any) -> int:
    return sum(
        (str(operation) in _REPEATS and bool(argument[1] > _MAX_FEW))
        + max((_count_unlimited(part) for part in _subtrees(str(operation), argument)), default=0)
        for operation, argument in tree
    )


def _count_optional(tree: Any, times: int = 1) -> int:
    """Count the optional parts; parts inside a limited repetition count once per repetition."""
    count = 0
    for operation, argument in tree:
        name = str(operation)
        is_limited = name in _REPEATS and argument[1] <= _MAX_FEW
        count += times * (argument[1] - argument[0]) if is_limited else 0
        total = times * argument[1] if is_limited else times
        count += sum(_count_optional(part, total) for part in _subtrees(name, argument))
    return count


def _subtrees(name: str, argument: Any) -> list[Any]:
    """Return the trees inside an operation."""
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
