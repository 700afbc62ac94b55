"""Questions out of doc comments, and the source text without what they were made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.ingest.chunking.grammars import load_grammar
from rootle.ingest.chunking.lines import Comment, Lines
from rootle.ingest.chunking.outline import Outline, Unit, read_outline
from training.corpus.text_cleaning import plain_text, sentences
from training.questions.phrasing import choice, question_of

MIN_CODE: Final = 50  # characters besides the first line, or there is nothing to find
MAX_SPAN: Final = 60  # lines of a result that are shown
BOX_SPAN: Final = 30  # what is said of a class is answered by how it begins
MAX_DOCSTRING_ROW: Final = 14  # lines of a signature before its docstring

_MARKS: Final = re.compile(r"^\s*(?:///?!?|//!|\*+/?|#+!?|--+\s?[|^]?|;+|%+)?\s*")
_OPENER: Final = re.compile(
    r'^(\s*(?:@\w+\s+)?(?:/\*[*!]?|~[sS]?"""|r?"""|r?\'\'\'|\{-\s*\|?|--\[=*\[))\s*(.*)$'
)
# Where a doc comment ends to say what the definition does, and speaks of its parts.
_PARTS: Final = re.compile(
    r"^(?:[@\\]\w+|:\w+[ :]|</?(?:param|returns|remarks|typeparam|exception|example|para|value)\b"
    r"|(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Usage|Notes?)\s*:?$"
    r"|#+\s|-{3,}|={3,}|```|>>>)"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DocQuestion:
    """A question and the lines that answer it, counted from 0 in the text as it was."""

    query: str
    sentence: str  # as the comment has it
    name: str
    first: int
    end: int
    removed: tuple[int, ...]  # rows of the comment that go
    replaced: tuple[int, str] | None  # a row of it that keeps its opening mark only
    code: str  # what answers, without the comment


def doc_questions(text: str, language: str, path: str) -> list[DocQuestion]:
    """What the doc comments of a source text say of its definitions."""
    lines = Lines(text)
    outline = read_outline(lines, load_grammar(language))
    if outline is None:
        return []
    found = []
    for unit in _units(outline.root):
        rows = _doc_rows(unit, outline, lines)
        if rows is not None:
            question = _question(unit, rows, lines, path)
            if question is not None:
                found.append(question)
    return found


def without_docs(text: str, chosen: list[DocQuestion]) -> tuple[str, list[tuple[int, int]]]:
    """The text less what the chosen questions were made of, and where each is answered now.

    The answers are lines counted from 1, inclusive, in the order of `chosen`.
    """
    gone = {row for question in chosen for row in question.removed}
    replaced = dict(question.replaced for question in chosen if question.replaced)
    kept, now = [], []
    for row, line in enumerate(text.split("\n")):
        now.append(len(kept))
        if row not in gone:
            kept.append(replaced.get(row, line))
    spans = []
    for question in chosen:
        left = [row for row in range(question.first, question.end) if row not in gone]
        spans.append((now[left[0]] + 1, now[left[-1]] + 1))
    return "\n".join(kept), spans


def _units(unit: Unit) -> Iterator[Unit]:
    for member in unit.members:
        if member.symbol:
            yield member
        yield from _units(member)


def _doc_rows(unit: Unit, outline: Outline, lines: Lines) -> tuple[int, int] | None:
    """The first row of the comment that documents a definition, and the row after it."""
    above = [
        comment
        for comment in outline.comments
        if unit.first <= comment.first and comment.end <= unit.row
        and not lines.rows[comment.first].lstrip().startswith(("#[", "#!"))
    ]  # fmt: skip
    if above:
        return _last_block(above)
    floor = min((member.first for member in unit.members), default=unit.end)
    limit = min(floor, unit.row + MAX_DOCSTRING_ROW)
    for comment in outline.comments:
        if unit.row < comment.first < limit and comment.text.lstrip("rRuU")[:1] in "\"'":
            before = lines.rows[comment.first - 1].rstrip()
            is_doc = before.endswith(":") or "@moduledoc" in lines.rows[comment.first]
            return (comment.first, comment.end) if is_doc else None
    return None


def _last_block(above: list[Comment]) -> tuple[int, int]:
    first, end = above[-1].first, above[-1].end
    if end - first > 1:
        return first, end
    for comment in reversed(above[:-1]):
        if comment.end != first or comment.end - comment.first > 1:
            break
        first = comment.first
    return first, end


def _question(unit: Unit, rows: tuple[int, int], lines: Lines, path: str) -> DocQuestion | None:
    first, end = rows
    summary = _summary_end(lines.rows[first:end]) + first
    text = plain_text("\n".join(lines.rows[first:summary]))
    said = sentences(_BULLET.split(text, 1)[0])
    if not said:
        return None
    query = question_of(said[0], unit.symbol)
    if query is None or not _has_code(unit, rows, lines):
        return None
    keeps_rest = any(
        len(_MARKS.sub("", row)) > 12 for row in lines.rows[summary:end]
    ) and choice(f"{path}:{unit.symbol}", 3)  # fmt: skip
    removed, replaced = range(first, end), None
    if keeps_rest:
        opener = _OPENER.match(lines.rows[first])
        removed = range(first + 1 if opener else first, summary)
        replaced = (first, opener[1]) if opener and opener[2] else None
    start = unit.first if keeps_rest or end > unit.row else end
    span = BOX_SPAN if unit.is_box else MAX_SPAN
    # A docstring that is gone lengthens nothing: the span is counted in lines that stay.
    gone = sum(start <= row < unit.end for row in removed)
    stop = min(unit.end, start + span + gone)
    code = "\n".join(lines.rows[row] for row in range(start, stop) if not first <= row < end)
    return DocQuestion(query, said[0], unit.symbol, start, stop, tuple(removed), replaced, code)


def _summary_end(rows: list[str]) -> int:
    """How many rows of a comment say what the definition does, before its parts or a blank."""
    has_text = False
    for number, row in enumerate(rows):
        opener = _OPENER.match(row)
        said = opener[2] if opener else _MARKS.sub("", row)
        if has_text and (not said.strip("*/ -") or _PARTS.match(said)):
            return number
        has_text = has_text or bool(re.sub(r"</?summary>", "", said).strip("*/\"' "))
    return len(rows)


def _has_code(unit: Unit, rows: tuple[int, int], lines: Lines) -> bool:
    first, end = rows
    code = [
        line.strip()
        for row, line in enumerate(lines.rows[unit.row : unit.end], unit.row)
        if not first <= row < end
    ]
    return len([line for line in code if line]) >= 2 and sum(map(len, code)) >= MIN_CODE
