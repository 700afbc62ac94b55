"""Measure how the time of the compiled patterns of rootle grows with hostile texts.

Run as a program, this prints the name of each pattern before it is measured, and a line "slow" if
its time grows faster than the length of the text. The reader can end the process if a pattern does
not finish. It also prints the names in `SHORT_TEXTS` that do not belong to any pattern.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from time import process_time
from typing import Any

import rootle
from rootle.errors import MissingExtraError
from rootle.text.patterns.lazy_pattern import LazyPattern

# No public module gives access to the parts of a pattern, and another parser could differ from
# what `re` does.
codes: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

# Patterns that need more than linear time, but are used only for texts of limited length.
SHORT_TEXTS = {
    "rootle.agents.locations._VARIABLE": "constants of this module",
    "rootle.config.template._LINK": "constants: the descriptions of settings",
    "rootle.history.authors.author_questions._CHANGES_IN": "a question of at most 300 characters",
    "rootle.history.authors.author_questions._FORMS": "a question of at most 300 characters",
    "rootle.history.past_question._FROM": "a question of at most 400 characters",
    "rootle.history.past_question._PAST": "the first 400 characters of a question",
    "rootle.history.removals.removal_scores._NAME": "the first 1,000 characters of a query",
    "rootle.ingest.chunking.chunker._WORD_END": "at most MAX_WORD_CHARS characters of a line",
    "rootle.ingest.named_ranges._TYPE_ARGUMENTS": "a title of at most MAX_TITLE characters",
    "rootle.links.drift.foreign_names._MOVED_OUT": "the first 500 characters of a subject",
    "rootle.provenance.mentions._FOLDERS": "at most 200 characters before a name",
    "rootle.rank.question.intent._COMPLAINT": "the first 300 characters of a question",
    "rootle.rank.question.intent._INTENTS": "the first 300 characters of a question",
    "rootle.rank.question.intent._LIST_BREAK": "the first 300 characters of a question",
    "rootle.rank.question.intent._PRINTED": "the first 300 characters of a question",
    "rootle.rank.question.intent._USE_OF_NAME": "the first 300 characters of a question",
    "rootle.rank.question.name_question._FROM": "a question of at most 160 characters",
    "rootle.rank.question.name_question._REASON": "a question of at most 160 characters",
    "rootle.rank.question.test_request._REQUEST": "the first 1,000 characters of a question",
    "rootle.search.symbols.place_kinds._EXAMPLE_PROJECT": "a path, whose length is limited",
    "rootle.search.symbols.bases.extending_files._HEADS": "at most 1,000 characters before a name",
    "rootle.sources.documents.readers.cell_values._NOT_PATTERN": "the first 255 characters",
    "rootle.sources.documents.readers.split_words._END_OF_LINE": "at most _MAX_FRAGMENT characters",
    "rootle.syntax.assignments._KEY_BEFORE": "at most 500 characters before a name",
    "rootle.syntax.aliases._NAMED": "300 characters of an import",
    "rootle.syntax.aliases._RENAMED": "300 characters of an import",
    "rootle.syntax.declared.expressions._CAST": "an expression of limited length",
    "rootle.syntax.declared.expressions._NEW": "an expression of limited length",
    "rootle.syntax.declared.type_names._LIST_SUFFIX": "a type of at most 200 characters",
    "rootle.text.secret_detection._PUBLIC_BEFORE": "at most _MAX_MARKER_CHARS characters",
    "rootle.text.secret_values._NAME_BEFORE": "at most 40 characters before a name",
    "rootle.web.page_text._META": "the first 1,024 bytes of a page",
}
# Patterns that are passed to functions or used in loops, only with `match` or `fullmatch`.
_ONLY_MATCHED = frozenset(
    f"rootle.{module}.{name}"
    for module, names in {
        "rank.question.name_forms": ("PATTERNS",),
        "rank.question.name_question": ("PATTERNS",),
        "search.symbols.types.variable_types": (
            *("_ASSIGNED", "_ASSIGNED_WITH_NEW", "_GO_PATTERN", "_TYPE_LAST_PATTERN"),
        ),
        "sources.git.commits.definition_lines": ("_UNDERLINE", "_PARAGRAPH_UNDERLINE"),
    }.items()
    for name in names
)
Pattern = re.Pattern[str] | re.Pattern[bytes]
_SHORT, _LONG = 300, 1_200  # the numbers of repetitions
_MIN_S = 0.001  # shorter times are too inexact to compare
_MAX_RATIO = 9  # four times the length takes 4 times as long, or 16 times if the time is quadratic
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
# Modules that need an optional package or start something when they are imported.
_NOT_IMPORTED = ("rootle.__main__",)
# For a pattern that is used with these methods, the time of a search is measured, which also tries
# the positions after the first.
_SEARCHES = frozenset({"search", "finditer", "findall", "split", "sub", "subn"})
_MATCHES = frozenset({"match", "fullmatch"})


def named_patterns() -> Iterator[tuple[str, Pattern]]:
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
                value, re.Pattern | LazyPattern
            ):
                for at, pattern in enumerate(_patterns_in(value)):
                    yield f"{found.name}.{name}{f'[{at}]' if at else ''}", pattern


def _patterns_in(value: object) -> Iterator[Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, LazyPattern):
        yield value.compiled
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _patterns_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _patterns_in(one)
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _patterns_in(one)


def searched_patterns() -> frozenset[str]:
    """Return the names of the patterns with which a module searches a text."""
    return frozenset(
        f"{module}.{name}"
        for module in sorted(sys.modules)
        if module.partition(".")[0] == "rootle"
        for name in _searched_names(ast.parse(_source(module)))
    )


def _searched_names(tree: ast.Module) -> set[str]:
    """Return the names of values that search a text, or that other code may use for a search."""
    nodes = list(ast.walk(tree))
    methods = {
        id(name): node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and (name := _base(node.value)) is not None
    }
    arguments = {
        id(argument) for node in nodes if isinstance(node, ast.Call) for argument in node.args
    }
    constants = {node.id for node in nodes if isinstance(node, ast.Name) and node.id.isupper()}
    constants.add("re")  # its functions get their patterns as arguments
    # Other values with the method `split` are usually strings, not patterns.
    others_search = any(
        isinstance(node, ast.Attribute)
        and node.attr in _SEARCHES - {"split"}
        and not ((name := _base(node.value)) is not None and name.id in constants)
        for node in nodes
    )
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and (
            methods.get(id(node)) in _SEARCHES
            or (methods.get(id(node)) not in _MATCHES and (others_search or id(node) in arguments))
        )
    }


def _base(node: ast.expr) -> ast.Name | None:
    """Return NAME in the expressions NAME and NAME[...]."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    return inner if isinstance(inner, ast.Name) else None


def _source(module: str) -> str:
    return Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")


def hostile_texts(pattern: Pattern, *, is_searched: bool) -> Iterator[tuple[str, str]]:
    """Yield, for each unlimited repetition, beginnings and the texts to repeat after them.

    For a search, the beginning is also repeated, so that a match can start at many positions.
    """
    seen = set()
    for before, body in _repetitions(parser.parse(pattern.pattern, pattern.flags), ""):
        for unit in _samples(body):
            for text in ((before, unit), ("", before + unit))[: 1 + is_searched]:
                if text[1] and text not in seen:
                    seen.add(text)
                    yield text


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
    """Yield short texts that match; for a single item, one for each branch or character of it."""
    yield _sample(items)
    if len(items) == 1:
        op, argument = items[0]
        if op is codes.IN:
            yield from filter(None, (_char(one) for one in argument))
            yield from (char for char in "a1_ \t.:/-=,(" if accepts(argument, char))
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
            text += next((char for char in "a1_ .-/\t\n:(" if accepts(argument, char)), "")
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


def accepts(items: Any, char: str) -> bool:
    """Return whether a set in a pattern contains a character."""
    is_negated = bool(items) and items[0][0] is codes.NEGATE
    found = False
    for op, argument in items:
        if op is codes.LITERAL:
            found = found or ord(char) == argument
        elif op is codes.RANGE:
            found = found or argument[0] <= ord(char) <= argument[1]
        elif op is codes.CATEGORY:
            found = found or _is_in_category(argument, char)
    return found != is_negated


def _is_in_category(category: Any, char: str) -> bool:
    name = str(category)
    kinds = {"DIGIT": char.isdigit(), "SPACE": char.isspace()}
    kinds["WORD"] = char.isalnum() or char == "_"
    kind = name.rpartition("_")[2]
    return kinds[kind] != ("_NOT_" in name)


def grows_too_fast(find: Callable[[str], object], before: str, unit: str) -> bool:
    """Return whether the time to match or search a text grows much faster than its length."""
    return any(
        # Repeat the measurement, because another process may have disturbed it.
        all(_is_too_slow(find, before, unit, end) for _ in range(4))
        for end in ("", "\0", "\n\0")
    )


def _is_too_slow(find: Callable[[str], object], before: str, unit: str, end: str) -> bool:
    text = f"{before}{unit * _SHORT}{end}"
    seconds = _seconds(find, f"{before}{unit * _LONG}{end}")
    return seconds >= _MIN_S and seconds >= _MAX_RATIO * min(_seconds(find, text) for _ in range(3))


def _seconds(find: Callable[[str], object], text: str) -> float:
    started_s = process_time()
    find(text)
    return process_time() - started_s


def _finder(pattern: Pattern, *, is_searched: bool) -> Callable[[str], object]:
    find: Callable[[Any], object] = pattern.search if is_searched else pattern.match
    if isinstance(pattern.pattern, str):
        return find
    return lambda text: find(text.encode("latin-1"))


def main(first: int) -> None:
    """Measure the patterns, starting at the position `first`."""
    patterns = list(named_patterns())  # this imports the modules
    searched = searched_patterns()
    for name in sorted(SHORT_TEXTS.keys() - {name for name, _ in patterns}):
        print(json.dumps(["unknown", name]), flush=True)
    measured = set()  # many modules use a pattern of another one
    for at, (name, pattern) in enumerate(patterns):
        is_searched = name.partition("[")[0] in searched - _ONLY_MATCHED
        is_known = name.partition("[")[0] in SHORT_TEXTS or (pattern, is_searched) in measured
        if at < first or is_known:
            continue
        measured.add((pattern, is_searched))
        find = _finder(pattern, is_searched=is_searched)
        print(json.dumps(["start", at, name]), flush=True)
        for before, unit in hostile_texts(pattern, is_searched=is_searched):
            if grows_too_fast(find, before, unit):
                print(json.dumps(["slow", name, before, unit]), flush=True)
                break
    print(json.dumps(["end"]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
