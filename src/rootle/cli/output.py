"""How results look: for people on a terminal, and plain and stable for pipes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from rootle.cli.context import printable
from rootle.rank.features import word_match
from rootle.serialization.markdown import memory_as_text, passages_of, response_as_markdown
from rootle.text.terms import STOP_WORDS, WORD, split_identifier
from rootle.types import Memory, QueryInterpretation, SearchResponse, SearchResult, Span

# A span on a terminal: its head and the lines that match; the rest is a dotted line away.
_TERMINAL_LINES: Final = 10
_ALIKE: Final = 0.8
_COPIES_NAMED: Final = 3
# What a question says of where to look stands in no line that answers.
_NOT_SOUGHT: Final = re.compile(
    r'(?<!\S)(?:-?(?:path|lang|language):(?:"[^"]*"|\S+)|regex:|-\w{3,}|-"[^"]*")'
)


@dataclass(frozen=True, slots=True)
class Style:
    """Colours or none, and whether long spans are cut short for a reader."""

    is_terminal: bool
    has_color: bool

    @classmethod
    def for_stream(cls, stream: TextIO, color: str) -> Style:
        is_terminal = stream.isatty()
        wanted = is_terminal and not os.environ.get("NO_COLOR")
        return cls(is_terminal, color == "always" or (color == "auto" and wanted))

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_color else text


def print_response(response: SearchResponse, question: str, style: Style) -> None:
    """Results to standard output; what is to be said about them to standard error."""
    words = {
        part
        for word in WORD.findall(_NOT_SOUGHT.sub(" ", question))
        for part in split_identifier(word)
        if part not in STOP_WORDS
    }
    if response.interpretation is not None:
        _write(style.paint(f"understood as: {_reading(response.interpretation)}", "2"))
    for number, result in enumerate(response.results):
        if number:
            _write("")
        _print_result(result, words, style)
    if response.memories:
        _print_memories(response.memories, style, is_first=not response.results)
    _say_about(response)


def print_markdown(response: SearchResponse) -> None:
    """The same as Markdown."""
    if response.results or response.memories:
        text = response_as_markdown(response)
        _write("\n".join(printable(line) for line in text.rstrip("\n").split("\n")))
    _say_about(response)


def _say_about(response: SearchResponse) -> None:
    for name in response.degraded:
        print(f"rootle: degraded: {name}", file=sys.stderr)
    if not response.results:
        print("rootle: no results", file=sys.stderr)
    for suggestion in response.suggestions:
        print(f"rootle: {printable(suggestion)}", file=sys.stderr)


def _reading(interpretation: QueryInterpretation) -> str:
    """How a question was read, in one line."""
    parts = [interpretation.intent]
    parts += [f'must contain "{phrase}"' for phrase in interpretation.phrases]
    if interpretation.regex is not None:
        parts.append(f"must match /{interpretation.regex}/")
    parts += [f'without "{word}"' for word in interpretation.excluded]
    parts += [f"{_not(path)}path: {path.lstrip('-')}" for path in interpretation.paths]
    parts += [f"{_not(name)}language: {name.lstrip('-')}" for name in interpretation.languages]
    parts += [f'"{meant}" for "{typed}"' for typed, meant in interpretation.corrected.items()]
    if interpretation.translated:
        parts.append(f"in English: {' '.join(interpretation.translated)}")
    return printable("; ".join(parts))


def _not(value: str) -> str:
    return "not " if value.startswith("-") else ""


def _print_result(result: SearchResult, words: set[str], style: Style) -> None:
    spans = _spans(result)
    first = spans[0]
    for span in spans:
        where = f"{printable(result.file_path)}:{span.start_line}-{span.end_line}"
        head = style.paint(where, "1;36")
        if span is first:
            head += f"  {result.score:.2f}"
            if result.context is not None and result.context.changed:
                head += "  (changed since it was indexed)"
        if span.scope:
            head += f"  {style.paint(printable(span.scope), '33')}"
        _write(head)
        _print_lines(span, words, style)
    if result.duplicates:
        _write(style.paint(f"  {_duplicates(result.duplicates)}", "2"))
    if result.explanation:
        gave = sorted(result.explanation.items(), key=lambda item: -item[1])
        _write("  because " + ", ".join(f"{name} {value:.3f}" for name, value in gave))


def _print_memories(memories: Sequence[Memory], style: Style, *, is_first: bool) -> None:
    if not is_first:
        _write("")
    _write(style.paint("from memory", "1;36"))
    for memory in memories:
        for line in memory_as_text(memory).split("\n"):
            _write(f"  {printable(line)}")


def _spans(result: SearchResult) -> Sequence[Span]:
    """What is shown of a file: its context where it has one."""
    if result.context is not None:
        return passages_of(result)
    first = Span(result.start_line, result.end_line, result.snippet, result.scope)
    return (first, *result.more_spans)


def _duplicates(paths: Sequence[str]) -> str:
    """`and 3 copies: a.py, b.py, …`"""
    named = ", ".join(printable(path) for path in paths[:_COPIES_NAMED])
    more = ", …" if len(paths) > _COPIES_NAMED else ""
    return f"and {len(paths)} {'copy' if len(paths) == 1 else 'copies'}: {named}{more}"


def _print_lines(span: Span, words: set[str], style: Style) -> None:
    lines = span.snippet.split("\n")
    width = len(str(span.end_line))
    shown = _lines_to_show(lines, words) if style.is_terminal else range(len(lines))
    before = -1
    for at in shown:
        if at != before + 1:
            _write(style.paint(f"{'·' * width:>{width + 2}}", "2"))
        number = style.paint(f"{span.start_line + at:>{width + 2}}", "2")
        _write(f"{number}  {_highlighted(printable(lines[at].rstrip()), words, style)}")
        before = at


def _lines_to_show(lines: list[str], words: set[str]) -> list[int]:
    """The first line and the lines with most of the question's words, in order."""
    if len(lines) <= _TERMINAL_LINES:
        return list(range(len(lines)))
    counts = [len(_matches(line, words)) for line in lines]
    best = sorted(range(1, len(lines)), key=lambda at: (-counts[at], at))[: _TERMINAL_LINES - 1]
    return [0, *sorted(best)]


def _matches(line: str, words: set[str]) -> list[tuple[int, int]]:
    """Where words of the question stand in a line."""
    return [
        match.span()
        for match in WORD.finditer(line)
        if any(_is_alike(part, words) for part in split_identifier(match.group()))
    ]


def _is_alike(part: str, words: set[str]) -> bool:
    return part in words or any(word_match(part, word) >= _ALIKE for word in words)


def _highlighted(line: str, words: set[str], style: Style) -> str:
    if not style.has_color:
        return line
    painted, end = [], 0
    for start, stop in _matches(line, words):
        painted += [line[end:start], style.paint(line[start:stop], "1;31")]
        end = stop
    return "".join([*painted, line[end:]])


def _write(line: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
