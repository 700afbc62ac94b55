"""Questions out of the titles of tests, and the test files with these titles taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.ingest.chunking.grammars import load_grammar
from rootle.ingest.chunking.lines import Lines
from rootle.ingest.chunking.outline import MAX_TITLE, Unit, read_outline
from rootle.text.terms import split_identifier
from training.corpus.text_cleaning import is_prose
from training.questions.phrasing import choice, content_words

MAX_SPAN: Final = 60
MIN_WORDS: Final = 4
MAX_WORDS: Final = 16

_TITLE: Final = re.compile(r"([\"'`])((?:(?!\1).){12,140})\1")
_CALLED: Final = re.compile(r"^(?:tests?|should|can|it|benchmark|ensure|check|spec)$")
_NAMED: Final = re.compile(r"^(?:test|Test|should|bench|Benchmark|it_)|_test$|Test$")
_MARKED: Final = re.compile(r"@\w*Test\b|\[(?:Test|Fact|Theory)|#\[[\w:]*test|@test\b|@Property")
_CALL: Final = re.compile(
    r"\b(?:it|test|specify|scenario|should|property|example|TEST_CASE|SECTION|SCENARIO|[tb]\.Run"
    r"|Deno\.test|in)\b"
)

TestQuestion = tuple[str, int, int]  # the question; first and last line, from 1


def test_questions(
    text: str, language: str, path: str, limit: int
) -> tuple[str, list[TestQuestion]]:
    """At most `limit` tests asked for by their titles, and the text without these titles."""
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(language))
    if outline is None:
        return text, []
    units = [unit for unit in _leaves(outline.root) if unit.end - unit.row >= 3]
    units.sort(key=lambda unit: choice(f"{path}{unit.title}", 10_000))
    found: list[TestQuestion] = []
    rows = lines.rows
    for unit in units:
        if len(found) == limit:
            break
        row = unit.row
        while row < unit.end and unit.symbol and unit.symbol not in rows[row]:
            row += 1
        if (
            row == unit.end
            or len(unit.symbol) >= MAX_TITLE
            or not _is_test(unit, rows[unit.first : row + 1])
        ):
            continue
        title, renamed = _title(unit, rows[row], len(found) + 1)
        if title and text.count(renamed[1]) == 1:
            rows[row] = rows[row].replace(renamed[1], renamed[0], 1)
            last = min(unit.end, unit.first + MAX_SPAN)
            found.append((_query(title), unit.first + 1, last))
    return "\n".join(rows), found


def _leaves(unit: Unit) -> Iterator[Unit]:
    for member in unit.members:
        if member.members:
            yield from _leaves(member)
        elif not member.is_box:
            yield member


def _is_test(unit: Unit, head: list[str]) -> bool:
    """Whether a definition of a test file is a test, by its name, a mark above it or its call."""
    if unit.symbol:
        return bool(_NAMED.search(unit.symbol) or _MARKED.search("\n".join(head)))
    return _CALL.search(head[-1]) is not None


def _title(unit: Unit, line: str, number: int) -> tuple[str, tuple[str, str]]:
    """What a test is called, in words; what replaces its title, and the title as it stands."""
    if unit.symbol:
        parts = split_identifier(unit.symbol)
        while parts and _CALLED.match(parts[0]):
            parts = parts[1:]
        name, was = f"{unit.symbol[:4]}_case_{number}", unit.symbol
    else:
        match = _TITLE.search(line)
        if match is None:
            return "", ("", "")
        parts = re.sub(r"^(?:it )?should\s+|^tests?\s+(?:that\s+)?", "", match[2]).split()
        name, was = f"case {number}", match[2]
    title = " ".join(parts)
    if not MIN_WORDS <= len(parts) <= MAX_WORDS or len(content_words(title)) < 3:
        return "", ("", "")
    return (title, (name, was)) if is_prose(title) and "{" not in title else ("", ("", ""))


def _query(title: str) -> str:
    forms = ("test that {}", "test {}", "is there a test that {}", "{} test", "{}", "tests for {}")
    return forms[choice(title, len(forms))].format(title.strip(" ."))
