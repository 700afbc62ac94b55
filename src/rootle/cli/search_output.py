"""The output of `rootle search`: text for people, or Markdown for a language model."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TextIO

from rootle.cli.symbol_output import print_symbols
from rootle.cli.terminal import fit_line, printable, warn, warn_all, write_line
from rootle.rank.features import word_similarity
from rootle.serialization.brief import (
    INDEX_DEGRADATIONS,
    describe_cut,
    has_notes_first,
    is_weak,
    shorten_weak,
)
from rootle.serialization.citation import (
    cite,
    describe_commit_briefly,
    describe_renames,
    result_spans,
)
from rootle.serialization.markdown import (
    passages_of,
    response_as_markdown,
    starts_with_notes,
)
from rootle.serialization.memories import memory_as_text
from rootle.serialization.outside_text import marks_of
from rootle.text.terms import STOP_WORDS, WORD, split_identifier
from rootle.types import (
    PARTIAL_HISTORY,
    Memory,
    QueryInterpretation,
    SearchResponse,
    SearchResult,
    Span,
)

# Maximum lines of a span on a terminal: the first one, and those with the most matching words.
_MAX_TERMINAL_LINES: Final = 10
# A brief answer on a terminal shows these numbers of lines of the best spans of its first three
# results, and one line of every other result. With headings, ten results take about 40 rows.
_BRIEF_LINES: Final = (10, 5, 5)
# The same numbers for results that follow a list of definitions.
_BRIEF_LINES_AFTER_DEFINITIONS: Final = (6,)
# The minimum similarity, from 0 to 1, of a highlighted word to a word of the question.
_MIN_WORD_SIMILARITY: Final = 0.8
_MAX_DUPLICATES_NAMED: Final = 3
_MAX_RELATED_NAMED: Final = 10
# Filters and excluded words of a question, which are not highlighted.
_FILTER: Final = re.compile(
    r'(?<!\S)(?:-?(?:path|lang|language|in|author|since|until):(?:"[^"]*"|\S+)|regex:|-\w{3,}|-"[^"]*")'
)
# The meaning of the names in `degraded`.
_DEGRADATIONS: Final[Mapping[str, str]] = {
    "dense": "vector search did not answer",
    "sparse": "full-text search did not answer",
    "embedding": "the configured embedding model is not used",
    "pending": "some text has no vectors yet",
    "stale": "the index is out of date",
    "partial": "the first index is not complete yet",
    "history": "not all commits are indexed yet",
    "deps": "the installed packages are not searched",
    "web": "the added sources are not searched",
    "memory": "memories are not searched",
    "images": "not all images are searched",
    "source": "its documents may be out of date",
    "reranker": "the results are not reranked",
    "expansion": "the query is not expanded",
}
_CYAN, _RED, _YELLOW, _DIM = "1;36", "1;31", "33", "2"


@dataclass(frozen=True, slots=True)
class Style:
    """Whether to use colors, and whether to shorten long spans."""

    is_terminal: bool
    has_color: bool

    @classmethod
    def for_stream(cls, stream: TextIO, color: str) -> Style:
        """Return the style for a stream; `color` is auto, always or never."""
        is_terminal = stream.isatty()
        is_wanted = is_terminal and not os.environ.get("NO_COLOR")
        return cls(is_terminal, color == "always" or (color == "auto" and is_wanted))

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.has_color else text


def print_response(
    response: SearchResponse,
    question: str,
    style: Style,
    *,
    is_brief: bool = True,
    limit: int | None = None,
) -> None:
    """Print results to standard output, and messages to standard error.

    Messages that the index lacks files come first. If the response is not confident, or if not all
    commits were searched, all messages come first. `is_brief` shortens a response without
    confidence to the best results, with few lines each, and on a terminal any other response to
    about one screen. `limit` is the maximum number of uses of a name.
    """
    response = _print_index_messages(response)
    is_first = has_notes_first(response)
    if is_first:
        _print_messages(response)
    if is_weak(response):
        if is_brief:
            if cut := describe_cut(response):
                warn(f"{cut}; -n {len(response.results)} shows all")
            response = shorten_weak(response)
        _print_results(response, question, style, limit)
    elif is_brief and style.is_terminal and _can_shorten(response):
        is_long = _print_screen(response, question, style)
        if not is_first:
            _print_messages(response)
        if is_long:
            warn(f"shortened; -n {len(response.results)} shows more lines")
    else:
        _print_results(response, question, style, limit)
        if not is_first:
            _print_messages(response)


def _can_shorten(response: SearchResponse) -> bool:
    """Return whether neither an explanation nor the whole context of the results is requested."""
    return response.interpretation is None and all(
        result.context is None for result in response.results
    )


def _print_screen(response: SearchResponse, question: str, style: Style) -> bool:
    """Print about one screen of a response: first the definitions of a name, if it is about one.

    A list of uses replaces the results. Return whether results were shortened.
    """
    symbols = response.symbols
    if symbols is not None:
        print_symbols(symbols, has_results=True, is_brief=True)
    if symbols is not None and symbols.aspect != "definitions":
        return False
    if symbols is not None and response.results:
        write_line("")
    is_long = _is_long(response)
    if is_long:
        limits = _BRIEF_LINES if symbols is None else _BRIEF_LINES_AFTER_DEFINITIONS
        _print_brief_results(response, question, style, limits)
    else:
        _print_results(replace(response, symbols=None), question, style, None)
    return is_long


def _is_long(response: SearchResponse) -> bool:
    """Return whether a response has more lines than a brief answer shows."""
    spans = [span for result in response.results for span in result_spans(result)]
    return sum(span.snippet.count("\n") + 2 for span in spans) > 2 * sum(_BRIEF_LINES)


def _print_brief_results(
    response: SearchResponse, question: str, style: Style, limits: Sequence[int]
) -> None:
    """Print at most `limits` lines of the first results, and one line of each other result."""
    words = _words_to_highlight(question)
    for number, result in enumerate(response.results):
        if number and number <= len(limits):
            write_line("")
        lines = limits[number] if number < len(limits) else 1
        _print_result(result, words, style, lines)
    if response.memories:
        write_line("")
        _print_memories(response.memories, style)


def _locate(span: Span) -> str:
    return f"{span.start_line}-{span.end_line} {printable(span.scope)}".rstrip()


def _print_results(
    response: SearchResponse, question: str, style: Style, limit: int | None
) -> None:
    words = _words_to_highlight(question)
    if response.interpretation is not None:
        write_line(style.paint(f"interpreted as: {_describe(response.interpretation)}", _DIM))
    symbols = response.symbols
    if symbols is not None and symbols.aspect != "definitions":
        print_symbols(symbols, has_results=True, max_uses=limit)
        return
    for number, result in enumerate(response.results):
        if number:
            write_line("")
        _print_result(result, words, style)
    if symbols is not None:
        write_line("")
        print_symbols(symbols, has_results=True)
    if response.memories:
        if response.results:
            write_line("")
        _print_memories(response.memories, style)


def print_markdown(response: SearchResponse, *, is_brief: bool = True) -> None:
    """Print results as Markdown to standard output, and messages to standard error.

    Messages that the index lacks files come first. If the response is not confident, the other
    messages also come first, or are part of the Markdown.
    """
    response = _print_index_messages(response)
    has_notes = starts_with_notes(response, is_brief=is_brief)
    messages = replace(response, suggestions=()) if has_notes else response
    if has_notes_first(response):
        _print_messages(messages)
    if response.results or response.memories:
        text = response_as_markdown(response, is_brief=is_brief)
        write_line("\n".join(printable(line) for line in text.rstrip("\n").split("\n")))
    if not has_notes_first(response):
        _print_messages(messages)


def _print_index_messages(response: SearchResponse) -> SearchResponse:
    """Print that the index lacks files, if it does; return the response without these reasons."""
    _print_degradations([name for name in response.degraded if name in INDEX_DEGRADATIONS])
    others = tuple(name for name in response.degraded if name not in INDEX_DEGRADATIONS)
    return replace(response, degraded=others)


def _print_degradations(names: Sequence[str]) -> None:
    for name in names:
        meaning = _DEGRADATIONS.get(name.partition(" ")[0])
        warn(f"degraded: {name}" + (f" ({meaning})" if meaning else ""))


def _print_messages(response: SearchResponse) -> None:
    # The first suggestion then says how many commits were searched, which explains the rest.
    is_partial = PARTIAL_HISTORY in response.degraded and bool(response.suggestions)
    if is_partial:
        warn_all(response.suggestions)
    explained = (PARTIAL_HISTORY,) if is_partial else ()
    _print_degradations([name for name in response.degraded if name not in explained])
    if not response.results and not response.memories:
        warn("no results")
    if not is_partial:
        warn_all(response.suggestions)


def _words_to_highlight(question: str) -> set[str]:
    return {
        part
        for word in WORD.findall(_FILTER.sub(" ", question))
        for part in split_identifier(word)
        if part not in STOP_WORDS
    }


def _describe(interpretation: QueryInterpretation) -> str:
    """Describe in one line how a question was interpreted."""
    parts = [interpretation.intent]
    parts += [f'must contain "{phrase}"' for phrase in interpretation.phrases]
    if interpretation.regex is not None:
        parts.append(f"must match /{interpretation.regex}/")
    parts += [f'without "{word}"' for word in interpretation.excluded]
    parts += [f"{_negation(path)}path: {path.lstrip('-')}" for path in interpretation.paths]
    parts += [f"{_negation(name)}language: {name.lstrip('-')}" for name in interpretation.languages]
    parts += [f"in: {','.join(interpretation.kinds)}"] if interpretation.kinds else []
    parts += [f"author: {author}" for author in interpretation.authors]
    for name in ("since", "until", "at"):
        value = getattr(interpretation, name)
        parts += [f"{name}: {value}"] if value else []
    parts += [f'"{meant}" for "{typed}"' for typed, meant in interpretation.corrected.items()]
    if interpretation.translated:
        parts.append(f"in English: {' '.join(interpretation.translated)}")
    if interpretation.related:
        parts.append(f"related words: {' '.join(interpretation.related[:_MAX_RELATED_NAMED])}")
    if interpretation.symbol:
        parts.append(f"answered from the symbols: {interpretation.symbol}")
    if interpretation.expansion:
        parts.append(f"expanded with: {interpretation.expansion}")
    return printable("; ".join(parts))


def _negation(value: str) -> str:
    return "not " if value.startswith("-") else ""


def _print_result(
    result: SearchResult, words: set[str], style: Style, brief_lines: int | None = None
) -> None:
    """Print a result; with `brief_lines`, only its best span, with at most that many lines."""
    best, *others = _spans_of(result)
    _print_heading(result, best, style, is_first=True)
    for mark in marks_of(result):  # empty for text of the project
        write_line(style.paint(f"  {printable(mark)}", _YELLOW))
    _print_lines(best, words, style, brief_lines or _MAX_TERMINAL_LINES)
    if (
        result.commit is not None
        and brief_lines != 1
        and (names := describe_renames(result.commit))
    ):
        write_line(style.paint(f"  {names}", _DIM))
    if brief_lines is None:
        for span in others:
            _print_heading(result, span, style, is_first=False)
            _print_lines(span, words, style)
    elif others and brief_lines > 1:
        write_line(style.paint(fit_line(f"  also {', '.join(map(_locate, others))}"), _DIM))
    if result.mentions:
        places = ", ".join(f"{name} {place}" for name, place in result.mentions.items())
        line = f"  defined in: {printable(places)}"
        write_line(style.paint(fit_line(line) if style.is_terminal else line, _DIM))
    if result.duplicates:
        write_line(style.paint(f"  {_describe_duplicates(result.duplicates)}", _DIM))
    if result.explanation:
        features = sorted(result.explanation.items(), key=lambda item: -item[1])
        write_line("  score from " + ", ".join(f"{name} {value:.3f}" for name, value in features))


def _spans_of(result: SearchResult) -> Sequence[Span]:
    """Return the passages of the context of a result, or its spans if it has no context."""
    if result.context is not None:
        return passages_of(result)
    return result_spans(result)


def _print_heading(result: SearchResult, span: Span, style: Style, *, is_first: bool) -> None:
    location = cite(result.file_path, [span])
    heading = style.paint(location, _CYAN)
    if is_first:
        heading += f"  {result.score:.2f}"
        if result.context is not None and result.context.changed:
            heading += "  (changed since it was indexed)"
    if is_first and result.commit is not None:
        heading += f"  {style.paint(describe_commit_briefly(result.commit), _YELLOW)}"
    elif span.scope:
        scope = printable(span.scope)
        if style.is_terminal:  # the location is never cut
            length = len(location) + (6 if is_first else 0) + 2
            scope = fit_line(f"{'':{length}}{scope}")[length:]
        heading += f"  {style.paint(scope, _YELLOW)}" if scope else ""
    write_line(heading)


def _print_lines(
    span: Span, words: set[str], style: Style, limit: int = _MAX_TERMINAL_LINES
) -> None:
    """Print the lines of a span; on a terminal, only the `limit` most relevant ones."""
    lines = span.snippet.split("\n")
    width = len(str(span.end_line))
    indexes = _most_relevant(lines, words, limit) if style.is_terminal else range(len(lines))
    previous = -1
    for index in indexes:
        if index != previous + 1 and limit > 1:
            write_line(style.paint(f"{'·' * width:>{width + 2}}", _DIM))
        number = style.paint(f"{span.start_line + index:>{width + 2}}", _DIM)
        line = printable(lines[index].rstrip())
        if limit < _MAX_TERMINAL_LINES:
            line = fit_line(f"{'':{width + 4}}{line}")[width + 4 :]
        write_line(f"{number}  {_highlight(line, words, style)}")
        previous = index


def _most_relevant(lines: list[str], words: set[str], limit: int) -> list[int]:
    """Return the indexes of the first line and of the lines with the most matches, in order.

    If `limit` is 1, return only the line with the most matches.
    """
    if len(lines) <= limit:
        return list(range(len(lines)))
    counts = [len(_matches(line, words)) for line in lines]
    if limit == 1:
        return [counts.index(max(counts))]
    others = sorted(range(1, len(lines)), key=lambda index: (-counts[index], index))
    return [0, *sorted(others[: limit - 1])]


def _highlight(line: str, words: set[str], style: Style) -> str:
    if not style.has_color:
        return line
    parts, end = [], 0
    for start, stop in _matches(line, words):
        parts += [line[end:start], style.paint(line[start:stop], _RED)]
        end = stop
    return "".join([*parts, line[end:]])


def _matches(line: str, words: set[str]) -> list[tuple[int, int]]:
    """Return the start and end of each word of a line that matches a word of the question."""
    return [
        match.span()
        for match in WORD.finditer(line)
        if any(_is_match(part, words) for part in split_identifier(match.group()))
    ]


def _is_match(part: str, words: set[str]) -> bool:
    return part in words or any(
        word_similarity(part, word) >= _MIN_WORD_SIMILARITY for word in words
    )


def _describe_duplicates(paths: Sequence[str]) -> str:
    """Return text such as `3 duplicates: a.py, b.py, …`."""
    named = ", ".join(printable(path) for path in paths[:_MAX_DUPLICATES_NAMED])
    more = ", …" if len(paths) > _MAX_DUPLICATES_NAMED else ""
    return f"{len(paths)} {'duplicate' if len(paths) == 1 else 'duplicates'}: {named}{more}"


def _print_memories(memories: Sequence[Memory], style: Style) -> None:
    write_line(style.paint("from memory", _CYAN))
    for memory in memories:
        write_line(f"  {printable(memory_as_text(memory))}")
