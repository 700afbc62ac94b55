"""Questions from the titles of test cases, and the test files without these titles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from benchmarks.common.labels import content_words

from rootle.syntax.grammars import load_grammar
from rootle.syntax.lines import Lines
from rootle.syntax.symbol_outline import MAX_TITLE, Unit, read_outline
from rootle.text.terms import split_identifier
from training.corpus.text_cleaning import is_prose
from training.questions.phrasing import hash_choice

MAX_SPAN_LINES: Final = 60
MIN_CASE_LINES: Final = 3
MIN_WORDS, MAX_WORDS = 4, 16
MIN_CONTENT_WORDS: Final = 3

_TITLE: Final = re.compile(r"([\"'`])((?:(?!\1).){12,140})\1")
_PREFIX_WORD: Final = re.compile(r"^(?:tests?|should|can|it|benchmark|ensure|check|spec)$")
_TEST_NAME: Final = re.compile(r"^(?:test|Test|should|bench|Benchmark|it_)|_test$|Test$")
_TEST_MARK: Final = re.compile(r"@\w*Test\b|\[(?:Test|Fact|Theory)|#\[[\w:]*test|@test\b|@Property")
_TEST_CALL: Final = re.compile(
    r"\b(?:it|test|specify|scenario|should|property|example|TEST_CASE|SECTION|SCENARIO|[tb]\.Run"
    r"|Deno\.test|in)\b"
)


class TitleQuestion(NamedTuple):
    """A question and the first and last line of the test case that answers it."""

    query: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class CaseTitle:
    """The title of a test case: its words, its source text, and a neutral replacement."""

    words: str
    source: str
    replacement: str


def title_questions(
    text: str, language: str, path: str, limit: int
) -> tuple[str, list[TitleQuestion]]:
    """Return a test file without the titles of up to `limit` cases, and their questions."""
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(language))
    if outline is None:
        return text, []
    cases = [unit for unit in _leaves(outline.root) if unit.end - unit.row >= MIN_CASE_LINES]
    cases.sort(key=lambda unit: hash_choice(f"{path}{unit.title}", 10_000))
    questions: list[TitleQuestion] = []
    rows = lines.rows
    for case in cases:
        if len(questions) == limit:
            break
        row = _title_row(case, rows)
        if row is None:
            continue
        title = _find_title(case, rows[row], len(questions) + 1)
        if title is not None and text.count(title.source) == 1:
            rows[row] = rows[row].replace(title.source, title.replacement, 1)
            last = min(case.end, case.first + MAX_SPAN_LINES)
            questions.append(TitleQuestion(_query(title.words), case.first + 1, last))
    return "\n".join(rows), questions


def _leaves(unit: Unit) -> Iterator[Unit]:
    for member in unit.members:
        if member.members:
            yield from _leaves(member)
        elif not member.is_box:
            yield member


def _title_row(case: Unit, rows: Sequence[str]) -> int | None:
    """Return the row with the title of a test case, or None for other definitions."""
    row = case.row
    while row < case.end and case.symbol and case.symbol not in rows[row]:
        row += 1
    if row == case.end or len(case.symbol) >= MAX_TITLE:
        return None
    return row if _is_test(case, rows[case.first : row + 1]) else None


def _is_test(unit: Unit, head: Sequence[str]) -> bool:
    """Return whether a definition is a test, judging by its name, its annotation or its call."""
    if unit.symbol:
        has_mark = _TEST_MARK.search("\n".join(head))
        return bool(_TEST_NAME.search(unit.symbol) or has_mark)
    return _TEST_CALL.search(head[-1]) is not None


def _find_title(case: Unit, line: str, number: int) -> CaseTitle | None:
    """Return the title of a test case, or None if it is not suitable as a question."""
    if case.symbol:
        words = split_identifier(case.symbol)
        while words and _PREFIX_WORD.match(words[0]):
            words = words[1:]
        source, replacement = case.symbol, f"{case.symbol[:4]}_case_{number}"
    else:
        match = _TITLE.search(line)
        if match is None:
            return None
        words = re.sub(r"^(?:it )?should\s+|^tests?\s+(?:that\s+)?", "", match[2]).split()
        source, replacement = match[2], f"case {number}"
    title = " ".join(words)
    if not MIN_WORDS <= len(words) <= MAX_WORDS or len(content_words(title)) < MIN_CONTENT_WORDS:
        return None
    return CaseTitle(title, source, replacement) if is_prose(title) and "{" not in title else None


def _query(title: str) -> str:
    forms = ("test that {}", "test {}", "is there a test that {}", "{} test", "{}", "tests for {}")
    return forms[hash_choice(title, len(forms))].format(title.strip(" ."))
