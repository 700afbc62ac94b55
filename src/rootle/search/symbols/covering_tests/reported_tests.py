"""Find the tests and functions that a pasted report names without a place such as `a.py:42`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.query.stack_frames import find_files
from rootle.search.query.test_reports import ReportedTest
from rootle.search.symbols.finder import SymbolFinder
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.text.terms import whole_identifier

# A name with more definitions does not say which one is meant.
_MAX_DEFINITIONS: Final = 3
_MAX_TITLES: Final = 100  # of the same words in a file
_MAX_MACRO_FILES: Final = 20  # that may contain a test of GoogleTest


@dataclass(frozen=True, slots=True)
class FoundTests:
    """The places of the tests and functions that a text names."""

    lines: Mapping[int, list[int]]  # by file id, in the order of the text
    others: Mapping[int, set[int]]  # lines with the titles of these tests that begin other tests


def find_reported_tests(
    tests: Iterable[ReportedTest],
    index: IndexReader,
    finder: SymbolFinder,
    allowed: Collection[int] | None,
) -> FoundTests:
    """Return the places of tests and functions.

    For a test that is not found in its file, the first line of this file is returned.
    """
    found: dict[int, list[int]] = {}
    others: dict[int, set[int]] = {}
    for test in tests:
        for file_id, line in _find(test, index, finder, allowed):
            if line not in found.setdefault(file_id, []):
                found[file_id].append(line)
            if test.title:
                same = _list_titles(test, index.text(file_id))
                others.setdefault(file_id, set()).update(same)
    lines = {at: [line for line in some if line > 1] or some for at, some in found.items()}
    return FoundTests(lines, {at: some.difference(lines[at]) for at, some in others.items()})


def _find(
    test: ReportedTest,
    index: IndexReader,
    finder: SymbolFinder,
    allowed: Collection[int] | None,
) -> Sequence[tuple[int, int]]:
    """Return the file ids and lines of a test."""
    if test.is_macro:
        return list(_find_macros(test.name, index, allowed))
    if not test.path:
        return _find_definitions(test, index, finder, allowed)
    states, is_certain = find_files(test.path, index)
    ids = [state.id for state in states if allowed is None or state.id in allowed]
    if not ids:
        return []
    if test.name:
        # The test may be in a base class in another file.
        found = _find_definitions(test, index, finder, ids) or _find_definitions(
            test, index, finder, allowed
        )
    else:
        found = [(at, lines[0]) for at in ids if (lines := _list_titles(test, index.text(at)))]
    return found or ([(at, 1) for at in ids] if is_certain else [])


def _find_definitions(
    test: ReportedTest, index: IndexReader, finder: SymbolFinder, allowed: Collection[int] | None
) -> list[tuple[int, int]]:
    found = finder.find_with_files(index, SymbolRequest(test.name, files=allowed), is_quick=True)
    answer, ids = found or (None, {})
    definitions = answer.definitions if answer is not None else ()
    if test.path:  # `test_pool.py::test_reuse` is outside of classes
        whole = [one for one in definitions if not one.scope] if "::" not in test.name else []
        definitions = tuple(whole) or definitions
    places = [(ids[one.path], one.line) for one in definitions if one.path.endswith(test.ending)]
    if len(places) > _MAX_DEFINITIONS:
        return []
    return [(at, test.line or line) for at, line in places]


def _find_macros(
    name: str, index: IndexReader, allowed: Collection[int] | None
) -> Iterator[tuple[int, int]]:
    """Yield the places of `TEST(Class, name)` and similar macros."""
    parts = name.split(".")
    macro = re.compile(rf"\(\s*{re.escape(parts[0])}\s*,\s*{re.escape(parts[-1])}\s*\)")
    stems = index.sparse.stems(" ".join(map(whole_identifier, parts)))
    for file_id in index.sparse.files_with(stems, [], _MAX_MACRO_FILES, allowed):
        text = index.text(file_id)
        if match := macro.search(text):
            yield file_id, text.count("\n", 0, match.start()) + 1


def _list_titles(test: ReportedTest, text: str) -> list[int]:
    """Return the lines that quote the longest end of a title.

    The first one follows the titles of the groups of the test most closely.
    """
    words = test.title.split()
    for first in range(len(words)):
        quoted = re.escape(" ".join(words[first:]))
        found = [match.start() for match in re.finditer(rf"([\"'`]){quoted}\1", text)]
        if found:
            groups = [*test.groups, " ".join(words[:first])]
            found.sort(key=lambda at: _measure_distance(text, at, groups))
            return [text.count("\n", 0, at) + 1 for at in found[:_MAX_TITLES]]
    return []


def _measure_distance(text: str, at: int, groups: Iterable[str]) -> int:
    """Return the sum of the distances between an offset and the titles of groups before it."""
    starts = (text.rfind(group, 0, at) for group in groups if group)
    return sum(at - start if start >= 0 else len(text) for start in starts)
