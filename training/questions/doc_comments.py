"""Questions from doc comments, and the source text without these comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.syntax.grammars import load_grammar
from rootle.syntax.lines import Comment, Lines
from rootle.syntax.symbol_outline import Outline, Unit, read_outline
from training.corpus.text_cleaning import plain_text, split_sentences
from training.questions.phrasing import comment_query, hash_choice

MIN_CODE_LINES: Final = 2
MIN_CODE_CHARS: Final = 50
MAX_SPAN_LINES: Final = 60  # lines of an answer, because a result shows no more
MAX_CLASS_LINES: Final = 30  # the start of a class is enough to answer a question about it
MAX_SIGNATURE_LINES: Final = 14  # a docstring must begin within this many lines
MIN_REST_CHARS: Final = 12  # the rest after a summary is kept only if a line is longer

_MARKS: Final = re.compile(r"^\s*(?:///?!?|//!|\*+/?|#+!?|--+\s?[|^]?|;+|%+)?\s*")
_OPENER: Final = re.compile(
    r'^(\s*(?:@\w+\s+)?(?:/\*[*!]?|~[sS]?"""|r?"""|r?\'\'\'|\{-\s*\|?|--\[=*\[))\s*(.*)$'
)
# Lines that end the summary of a doc comment: the start of its parameters or sections.
_SECTION: Final = re.compile(
    r"^(?:[@\\]\w+|:\w+[ :]|</?(?:param|returns|remarks|typeparam|exception|example|para|value)\b"
    r"|(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Usage|Notes?)\s*:?$"
    r"|#+\s|-{3,}|={3,}|```|>>>)"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)

RowRange = tuple[int, int]  # first row, and the row after the last


@dataclass(frozen=True, slots=True)
class DocQuestion:
    """A question and the rows that answer it, counted from 0 in the original text."""

    query: str
    sentence: str  # the sentence of the comment
    name: str
    first: int
    end: int
    removed: tuple[int, ...]  # rows of the comment that are deleted
    replaced: tuple[int, str] | None  # a row that keeps only its opening mark
    code: str  # the answering code, without the comment


@dataclass(frozen=True, slots=True)
class Removal:
    """The rows of a comment that are deleted or reduced to their opening mark."""

    rows: range
    replaced: tuple[int, str] | None
    keeps_rest: bool  # whether the comment after the summary is kept


def doc_questions(text: str, language: str, path: str) -> list[DocQuestion]:
    """Return the questions made from the doc comments of a source text."""
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(language))
    if outline is None:
        return []
    questions = []
    for unit in _named_units(outline.root):
        comment = _doc_comment(unit, outline, lines)
        if comment is not None:
            question = _make_question(unit, comment, lines, path)
            if question is not None:
                questions.append(question)
    return questions


def remove_docs(text: str, questions: Sequence[DocQuestion]) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without the comments behind the questions, and the answering lines.

    Each question has one pair of first and last line, counted from 1.
    """
    removed = {row for question in questions for row in question.removed}
    replaced = dict(question.replaced for question in questions if question.replaced)
    kept: list[str] = []
    new_rows = []  # old row -> new row
    for row, line in enumerate(text.split("\n")):
        new_rows.append(len(kept))
        if row not in removed:
            kept.append(replaced.get(row, line))
    spans = []
    for question in questions:
        left = [row for row in range(question.first, question.end) if row not in removed]
        spans.append((new_rows[left[0]] + 1, new_rows[left[-1]] + 1))
    return "\n".join(kept), spans


def _named_units(unit: Unit) -> Iterator[Unit]:
    for member in unit.members:
        if member.symbol:
            yield member
        yield from _named_units(member)


def _doc_comment(unit: Unit, outline: Outline, lines: Lines) -> RowRange | None:
    """Return the rows of the comment that documents a definition."""
    above = [
        comment
        for comment in outline.comments
        if unit.first <= comment.first and comment.end <= unit.row
        and not lines.rows[comment.first].lstrip().startswith(("#[", "#!"))
    ]  # fmt: skip
    if above:
        return _last_block(above)
    body = min((member.first for member in unit.members), default=unit.end)
    limit = min(body, unit.row + MAX_SIGNATURE_LINES)
    for comment in outline.comments:
        if unit.row < comment.first < limit and comment.text.lstrip("rRuU")[:1] in "\"'":
            before = lines.rows[comment.first - 1].rstrip()
            is_doc = before.endswith(":") or "@moduledoc" in lines.rows[comment.first]
            return (comment.first, comment.end) if is_doc else None
    return None


def _last_block(above: Sequence[Comment]) -> RowRange:
    """Return the rows of the last comment, joined with adjacent line comments before it."""
    first, end = above[-1].first, above[-1].end
    if end - first > 1:
        return first, end
    for comment in reversed(above[:-1]):
        if comment.end != first or comment.end - comment.first > 1:
            break
        first = comment.first
    return first, end


def _make_question(unit: Unit, comment: RowRange, lines: Lines, path: str) -> DocQuestion | None:
    first, end = comment
    summary_end = first + _count_summary_rows(lines.rows[first:end])
    text = plain_text("\n".join(lines.rows[first:summary_end]))
    sentences = split_sentences(_BULLET.split(text, 1)[0])
    if not sentences:
        return None
    query = comment_query(sentences[0], unit.symbol)
    if query is None or not _has_code(unit, comment, lines):
        return None
    removal = _plan_removal(comment, summary_end, lines, f"{path}:{unit.symbol}")
    start = unit.first if removal.keeps_rest or end > unit.row else end
    limit = MAX_CLASS_LINES if unit.is_box else MAX_SPAN_LINES
    # The limit counts only lines that remain.
    removed_lines = sum(start <= row < unit.end for row in removal.rows)
    stop = min(unit.end, start + limit + removed_lines)
    code = "\n".join(lines.rows[row] for row in range(start, stop) if not first <= row < end)
    return DocQuestion(
        query, sentences[0], unit.symbol, start, stop, tuple(removal.rows), removal.replaced, code
    )


def _plan_removal(comment: RowRange, summary_end: int, lines: Lines, key: str) -> Removal:
    """Choose the rows to remove: in two of three cases only the summary, else the whole comment.

    A comment without further text is always removed as a whole.
    """
    first, end = comment
    has_rest = any(len(_MARKS.sub("", row)) > MIN_REST_CHARS for row in lines.rows[summary_end:end])
    if not (has_rest and hash_choice(key, 3)):
        return Removal(range(first, end), None, keeps_rest=False)
    opener = _OPENER.match(lines.rows[first])
    rows = range(first + 1 if opener else first, summary_end)
    replaced = (first, opener[1]) if opener and opener[2] else None
    return Removal(rows, replaced, keeps_rest=True)


def _count_summary_rows(rows: Sequence[str]) -> int:
    """Return the number of rows of a comment before its parameters or a blank row."""
    has_text = False
    for number, row in enumerate(rows):
        opener = _OPENER.match(row)
        text = opener[2] if opener else _MARKS.sub("", row)
        if has_text and (not text.strip("*/ -") or _SECTION.match(text)):
            return number
        has_text = has_text or bool(re.sub(r"</?summary>", "", text).strip("*/\"' "))
    return len(rows)


def _has_code(unit: Unit, comment: RowRange, lines: Lines) -> bool:
    first, end = comment
    code = [
        line.strip()
        for row, line in enumerate(lines.rows[unit.row : unit.end], unit.row)
        if not first <= row < end
    ]
    return (
        len([line for line in code if line]) >= MIN_CODE_LINES
        and sum(map(len, code)) >= MIN_CODE_CHARS
    )
