"""Measure how the time of the compiled patterns of rootle grows with hostile texts.

Run as a program, this prints the name of each pattern before it is measured, and a line "slow" if
its time grows faster than the length of the text. The reader can end the process if a pattern does
not finish.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import process_time
from typing import Any

import rootle
from rootle.errors import MissingExtraError

# No public module gives access to the parts of a pattern, and another parser could differ from
# what `re` does.
codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

_SHORT, _LONG = 1_500, 6_000  # the numbers of repetitions
_MIN_S = 0.004  # shorter times are too inexact to compare
_MAX_RATIO = 9  # four times the length takes 4 times as long, or 16 times if the time is quadratic
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
# Modules that need an optional package or start something when they are imported.
_NOT_IMPORTED = ("rootle.__main__",)
# Every document passes through these modules, at its full length. Patterns that are searched there
# are measured by a search, which also tries the positions after the first.
_SEARCHED = "rootle.text."
_SEARCHES = frozenset({"search", "finditer", "findall", "split", "sub", "subn"})


def named_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the patterns in the modules of rootle, each with its module and name."""
    for found in pkgutil.walk_packages(rootle.__path__, "rootle."):
        if found.name in _NOT_IMPORTED:
            continue
        try:
            module = importlib.import_module(found.name)
        except (ImportError, MissingExtraError):
            continue
        for name, value in vars(module).items():
            if getattr(value, "__module__", found.name) == found.name or isinstance(
                value, re.Pattern
            ):
                for at, pattern in enumerate(_patterns_in(value)):
                    yield f"{found.name}.{name}{f'[{at}]' if at else ''}", pattern


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _patterns_in(one)
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _patterns_in(one)


def searched_patterns() -> frozenset[str]:
    """Return the names of the patterns with which modules in `_SEARCHED` search a text."""
    return frozenset(
        f"{module}.{node.value.id}"
        for module in sorted(sys.modules)
        if module.startswith(_SEARCHED)
        for node in ast.walk(ast.parse(_source(module)))
        if isinstance(node, ast.Attribute)
        and node.attr in _SEARCHES
        and isinstance(node.value, ast.Name)
    )


def _source(module: str) -> str:
    return Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")


def hostile_texts(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield beginnings and texts to repeat after them: one pair for each unlimited repetition."""
    seen = set()
    for before, body in _repetitions(parser.parse(pattern.pattern, pattern.flags), ""):
        for unit in _samples(body):
            if unit and (before, unit) not in seen:
                seen.add((before, unit))
                yield before, unit


def _repetitions(items: Any, before: str) -> Iterator[tuple[str, Any]]:
    for op, argument in items:
        if op in _REPEATS:
            low, high, body = argument
            if high > 100:
                yield before, body
            yield from _repetitions(body, before)
            before += _sample(body) * min(low, 50)
            continue
        for inner in _inner(op, argument):
            yield from _repetitions(inner, before)
        before += _sample([(op, argument)])


def _inner(op: Any, argument: Any) -> Any:
    if op is codes.BRANCH:
        return argument[1]
    if op in (codes.SUBPATTERN,):
        return (argument[-1],)
    if op in (codes.ASSERT, codes.ASSERT_NOT):
        return (argument[1],)
    return ()


def _samples(items: Any) -> Iterator[str]:
    """Yield short texts that match: different ones for the branches and sets of the first item."""
    yield _sample(items)
    if len(items) == 1:
        op, argument = items[0]
        if op is codes.IN:
            yield from filter(None, (_char(one) for one in argument))
            yield from (char for char in "a1_ \t.:/-=,(" if _accepts(argument, char))
        elif op is codes.BRANCH:
            for branch in argument[1]:
                yield from _samples(branch)
        elif op is codes.SUBPATTERN:
            yield from _samples(argument[-1])
        elif op in (codes.ANY, codes.NOT_LITERAL):
            yield from "a1 :(=/"


def _sample(items: Any) -> str:
    text = ""
    for op, argument in items:
        if op is codes.LITERAL:
            text += chr(argument)
        elif op in (codes.NOT_LITERAL, codes.ANY):
            text += "a"
        elif op is codes.IN:
            text += next((char for char in "a1_ .-/\t\n:(" if _accepts(argument, char)), "")
        elif op is codes.BRANCH:
            text += _sample(argument[1][0])
        elif op is codes.SUBPATTERN:
            text += _sample(argument[-1])
        elif op in _REPEATS:
            text += _sample(argument[2]) * (max(argument[0], 1) if argument[0] < 50 else 50)
    return text


def _char(one: tuple[Any, Any]) -> str:
    op, argument = one
    if op is codes.LITERAL:
        return chr(argument)
    return chr(argument[0]) if op is codes.RANGE else ""


def _accepts(items: Any, char: str) -> bool:
    is_negated = bool(items) and items[0][0] is codes.NEGATE
    found = False
    for op, argument in items:
        if op is codes.LITERAL:
            found = found or ord(char) == argument
        elif op is codes.RANGE:
            found = found or argument[0] <= ord(char) <= argument[1]
        elif op is codes.CATEGORY:
            found = found or _in_category(argument, char)
    return found != is_negated


def _in_category(category: Any, char: str) -> bool:
    name = str(category)
    kinds = {"DIGIT": char.isdigit(), "SPACE": char.isspace()}
    kinds["WORD"] = char.isalnum() or char == "_"
    kind = name.rpartition("_")[2]
    return kinds[kind] != ("_NOT_" in name)


def grows_too_fast(find: Callable[[str], object], before: str, unit: str) -> bool:
    """Return whether the time to match or search a text grows much faster than its length."""
    for end in ("", "\0", "\n\0"):
        seconds = [_seconds(find, f"{before}{unit * count}{end}") for count in (_SHORT, _LONG)]
        if seconds[1] < _MIN_S or seconds[1] < _MAX_RATIO * seconds[0]:
            continue
        # Repeat the measurement, because another process may have disturbed it.
        again = [_seconds(find, f"{before}{unit * count}{end}") for count in (_SHORT, _LONG)]
        if again[1] >= _MIN_S and again[1] >= _MAX_RATIO * again[0]:
            return True
    return False


def _seconds(find: Callable[[str], object], text: str) -> float:
    started_s = process_time()
    find(text)
    return process_time() - started_s


def main(first: int) -> None:
    """Measure the patterns from a position on."""
    patterns = list(named_patterns())  # this imports the modules
    searched = searched_patterns()
    for at, (name, pattern) in enumerate(patterns):
        if at < first:
            continue
        find = pattern.search if name in searched else pattern.match
        print(json.dumps(["start", at, name]), flush=True)
        for before, unit in hostile_texts(pattern):
            if grows_too_fast(find, before, unit):
                print(json.dumps(["slow", name, before, unit]), flush=True)
                break
    print(json.dumps(["end"]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
