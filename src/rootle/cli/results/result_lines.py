"""Write the results of a search as lines for people."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.cli.results.fitted_scope import cut_end, fit_scope, innermost, shows_name
from rootle.cli.results.style import (
    CYAN,
    DIM,
    YELLOW,
    Style,
    cut_around_match,
    highlight,
    most_relevant,
    words_to_highlight,
)
from rootle.cli.terminal import fit_line, printable
from rootle.serialization.citation import (
    cite,
    describe_commit_briefly,
    describe_renames,
    result_spans,
)
from rootle.serialization.markdown import select_passages
from rootle.serialization.memories import memory_as_text
from rootle.serialization.outside_text import describe_outside
from rootle.serialization.path_text import replace_unprintable, short_date
from rootle.text.languages import file_language
from rootle.text.markdown.table_rows import compact_row, is_row
from rootle.text.terms import WORD
from rootle.types import CommitFacts, Memory, SearchResponse, SearchResult, Span

# Maximum lines of a span on a terminal: the first one, and those with the most matching words.
_MAX_TERMINAL_LINES: Final = 10
_MAX_OMITTED_NAMED: Final = 3  # duplicates, or translations
_TAB_CHARS: Final = 4
_TITLE: Final = re.compile(r"#{1,6}\s+(\S.*)")
_KIND: Final = re.compile(r"^[a-z]+ (?=\S+$)")  # such as "func " before a name
_SCORE_CHARS: Final = 6  # the length of a score with the spaces before it


@dataclass(frozen=True, slots=True)
class Detail:
    """The number of lines that a brief answer shows of each result."""

    first: tuple[int, ...]  # the maximum number of lines of each of the first results
    others: int  # the number of lines of each other result, below its heading: 1 or 0
    has_long_lines: bool = False  # whether the lines of the first result are not cut

    def max_lines(self, number: int) -> int:
        """Return the maximum number of lines of the result at index `number`."""
        return self.first[number] if number < len(self.first) else self.others


# The levels of detail, from most to least. An answer uses the first one that fits on the screen.
DETAILS: Final = (
    Detail((10, 5, 5), 1, has_long_lines=True),
    Detail((8, 4, 4), 1, has_long_lines=True),
    Detail((6, 3, 3), 1, has_long_lines=True),
    Detail((10, 5, 5), 1),
    Detail((8, 4, 4), 1),
    Detail((6, 3, 3), 1),
    Detail((6, 3, 3), 0),
    Detail((4, 2, 2), 0),
    Detail((4,), 0),
    Detail((2,), 0),
    Detail((), 0),
)


def result_lines(
    response: SearchResponse, question: str, style: Style, *, is_brief: bool = False
) -> Iterator[str]:
    """Yield all results with all their spans, and then the memories.

    With `is_brief`, descriptions of commits are cut to the width of the terminal, and so are the
    lines of an answer that is not confident.
    """
    words = words_to_highlight(question)
    for number, result in enumerate(response.results):
        if number:
            yield ""
        is_cut = is_brief and response.confident is False
        yield from _format_result(result, words, style, is_brief=is_brief, is_cut=is_cut)
    if response.results and response.memories:
        yield ""
    yield from memory_lines(response.memories, style)


def brief_lines(
    response: SearchResponse, question: str, style: Style, detail: Detail
) -> Iterator[str]:
    """Yield the results with as much of their best spans as `detail` allows, then the memories.

    All lines except paths and memories are cut to the width of the terminal.
    """
    words = words_to_highlight(question)
    for number, result in enumerate(response.results):
        if number and number <= len(detail.first):
            yield ""
        is_cut = number > 0 or not detail.has_long_lines
        yield from _format_brief_result(
            result, words, style, detail.max_lines(number), is_cut=is_cut
        )
    if response.memories:
        yield ""
    yield from memory_lines(response.memories, style)


def memory_lines(memories: Sequence[Memory], style: Style) -> Iterator[str]:
    """Yield memories under a heading; nothing if there are none."""
    if memories:
        yield style.paint("from memory", CYAN)
    for memory in memories:
        yield f"  {printable(memory_as_text(memory))}"


def _format_result(
    result: SearchResult, words: set[str], style: Style, *, is_brief: bool, is_cut: bool
) -> Iterator[str]:
    best, *others = _select_spans(result)
    yield from _heading(result, best, style, is_first=True, is_brief=is_brief)
    yield from _mark_lines(result, style)
    yield from _span_lines(_compact_rows(result, best, style), words, style, is_cut=is_cut)
    yield from _rename_lines(result, style)
    for span in others:
        yield from _heading(result, span, style, is_first=False)
        yield from _span_lines(_compact_rows(result, span, style), words, style, is_cut=is_cut)
    yield from _lines_about(result, style)


def _format_brief_result(
    result: SearchResult, words: set[str], style: Style, limit: int, *, is_cut: bool
) -> Iterator[str]:
    best, *others = _select_spans(result)
    is_one_line = limit <= 1
    yield from _heading(result, best, style, is_first=True, is_brief=True, is_one_line=is_one_line)
    yield from _mark_lines(result, style)
    if limit:
        shown = _compact_rows(result, best, style)
        yield from _best_lines(shown, words, style, limit, is_cut=is_cut)
    if limit > 1:
        yield from _rename_lines(result, style)
        if others:
            yield style.paint(fit_line(_list_places(others)), DIM)
    if limit:
        yield from _lines_about(result, style)


def _mark_lines(result: SearchResult, style: Style) -> Iterator[str]:
    for mark in describe_outside(result):  # empty for text of the project
        yield style.paint(f"  {printable(mark)}", YELLOW)


def _rename_lines(result: SearchResult, style: Style) -> Iterator[str]:
    if result.commit is not None and (names := describe_renames(result.commit)):
        yield style.paint(f"  {names}", DIM)


def _lines_about(result: SearchResult, style: Style) -> Iterator[str]:
    """Yield definitions of names in a diagram, omitted files, and the parts of the score."""
    if result.mentions:
        places = ", ".join(f"{name} {place}" for name, place in result.mentions.items())
        line = f"  defined in: {printable(places)}"
        yield style.paint(fit_line(line) if style.is_terminal else line, DIM)
    for paths, noun in ((result.duplicates, "duplicate"), (result.translations, "translation")):
        if paths:
            yield style.paint(f"  {_describe_omitted(paths, noun)}", DIM)
    if result.explanation:
        features = sorted(result.explanation.items(), key=lambda item: -item[1])
        yield "  score from " + ", ".join(f"{name} {value:.3f}" for name, value in features)


def _list_places(spans: Sequence[Span]) -> str:
    """List the line numbers of spans, with as much of their scopes as fits on a terminal line.

    The scopes become shorter for all spans, so that no span is missing.
    """
    scopes = [printable(span.scope) for span in spans]
    titles = [innermost(scope) for scope in scopes]
    names = [title.partition("(")[0].rstrip() or title for title in titles]
    width = shutil.get_terminal_size().columns
    left = width - len(_join_places(spans, ["" for _ in spans]))
    bare = [_KIND.sub("", name) for name in names]
    cut = [cut_end(name, left // max(1, sum(map(bool, bare))) - 1) for name in bare]
    lines = [_join_places(spans, one) for one in (scopes, titles, names, bare, cut)]
    return next((line for line in lines if len(line) <= width), lines[-1])


def _join_places(spans: Sequence[Span], scopes: Iterable[str]) -> str:
    places = (
        f"{span.start_line}-{span.end_line} {scope}".rstrip()
        for span, scope in zip(spans, scopes, strict=True)
    )
    return f"  also {', '.join(places)}"


def _select_spans(result: SearchResult) -> Sequence[Span]:
    """Return the passages of the context of a result, or its spans if it has no context."""
    if result.context is not None:
        return select_passages(result)
    return result_spans(result)


def _heading(
    result: SearchResult,
    span: Span,
    style: Style,
    *,
    is_first: bool,
    is_brief: bool = False,
    is_one_line: bool = False,
) -> Iterator[str]:
    """Yield the place of a span with its scope or commit.

    On a terminal, the outer titles of the scope are left out if there is not enough room. If there
    is no room for the last title, the scope is on a second line, unless `is_one_line`. The
    description of a commit is cut only if `is_brief`.
    """
    location = cite(result.file_path, [span])
    heading = style.paint(location, CYAN)
    if is_first:
        heading += f"  {result.score:.2f}"
        if result.context is not None and result.context.changed:
            heading += "  (changed since it was indexed)"
    # The location is never cut.
    columns = shutil.get_terminal_size().columns
    left = columns - len(location) - (_SCORE_CHARS if is_first else 0) - 2
    scope = printable(_find_scope(result, span))
    about, below = scope, ""
    if is_first and result.commit is not None:
        about = describe_commit_briefly(result.commit)
        if is_brief and not is_one_line and len(about) > left:
            about, below = "", cut_end(about, columns - 2)
        about = _fit_commit(result.commit, left) if is_brief and about else about
    elif style.is_terminal and (is_one_line or shows_name(scope, left)):
        about = fit_scope(scope, left)
    elif style.is_terminal:
        about, below = "", fit_scope(scope, columns - 2)
    yield heading + (f"  {style.paint(about, YELLOW)}" if about else "")
    if below:
        yield f"  {style.paint(below, YELLOW)}"


def _fit_commit(commit: CommitFacts, width: int) -> str:
    """Return the date, the author and the subject of a commit in at most `width` characters.

    If there is not enough room, the author and then the date are left out, and only then is the
    subject cut.
    """
    subject = replace_unprintable(commit.subject)
    texts = (describe_commit_briefly(commit), f"{short_date(commit.date)} {subject}", subject)
    return next((text for text in texts if len(text) <= width), cut_end(subject, width))


def _find_scope(result: SearchResult, span: Span) -> str:
    """Return the scope of a span, or the heading above the pasted text of the question.

    Pasted text can be in a later section than the start of the span: a span of a document can
    contain several short sections.
    """
    found = [line for line in result.matching_lines or () if span.start_line < line]
    if file_language(result.file_path) != "markdown" or not found or found[0] > span.end_line:
        return span.scope
    above = span.snippet.split("\n")[: found[0] - span.start_line]
    titles = [match[1] for line in above if (match := _TITLE.fullmatch(line))]
    return titles[-1].rstrip("# ") if titles else span.scope


def _compact_rows(result: SearchResult, span: Span, style: Style) -> Span:
    """Return a span; on a terminal, remove padding and anchors from its Markdown tables."""
    if not style.is_terminal or file_language(result.file_path) != "markdown":
        return span
    lines = map(compact_row, span.snippet.split("\n"))
    return replace(span, snippet="\n".join(lines))


def _span_lines(span: Span, words: set[str], style: Style, *, is_cut: bool) -> Iterator[str]:
    """Yield the lines of a span; on a terminal, only the most relevant ones and marks for gaps."""
    lines = span.snippet.split("\n")
    width = len(str(span.end_line))
    limit = _MAX_TERMINAL_LINES if style.is_terminal else len(lines)
    shown = most_relevant(lines, words, limit)
    codes = [lines[index].rstrip() for index in shown]
    codes = _remove_indentation(codes) if style.is_terminal else codes
    previous = -1
    for index, code in zip(shown, codes, strict=True):
        if index != previous + 1:
            yield style.paint(f"{'·' * width:>{width + 2}}", DIM)
        number = style.paint(f"{span.start_line + index:>{width + 2}}", DIM)
        line = printable(code)
        line = _cut_line(line, words, width + 4) if is_cut else line
        yield f"{number}  {highlight(line, words, style)}"
        previous = index


def _best_lines(
    span: Span, words: set[str], style: Style, limit: int, *, is_cut: bool
) -> Iterator[str]:
    """Yield at most `limit` lines of a span, the most relevant ones; empty lines are left out.

    If there are more lines than that, those without words are left out, too. The numbers of the
    lines show the gaps between them.
    """
    lines = span.snippet.split("\n")
    width = len(str(span.end_line))
    texts = [at for at, line in enumerate(lines) if line.strip()]
    if len(texts) > limit:
        texts = [at for at in texts if WORD.search(lines[at])] or texts
    chosen = most_relevant([lines[at] for at in texts], words, limit)
    shown = [texts[at] for at in chosen]
    codes = _remove_indentation([lines[index].rstrip() for index in shown])
    for index, code in zip(shown, codes, strict=True):
        number = style.paint(f"{span.start_line + index:>{width + 2}}", DIM)
        line = printable(code)
        if is_cut:
            line = _cut_line(line, words, width + 4)
        yield f"{number}  {highlight(line, words, style)}"


def _cut_line(line: str, words: set[str], indentation: int) -> str:
    """Return a line that fits on the terminal after an indentation.

    A row of a table is cut so that a match stays visible. Any other line is cut at its end.
    """
    if is_row(line):
        return cut_around_match(line, words, shutil.get_terminal_size().columns - indentation)
    return fit_line(f"{'':{indentation}}{line}")[indentation:]


def _remove_indentation(lines: Sequence[str]) -> list[str]:
    """Return lines without their common indentation, with spaces instead of tabs."""
    return textwrap.dedent("\n".join(line.expandtabs(_TAB_CHARS) for line in lines)).split("\n")


def _describe_omitted(paths: Sequence[str], noun: str) -> str:
    """Return text such as `4 duplicates: a.py, b.py, c.py, …`."""
    named = ", ".join(printable(path) for path in paths[:_MAX_OMITTED_NAMED])
    more = ", …" if len(paths) > _MAX_OMITTED_NAMED else ""
    return f"{len(paths)} {noun if len(paths) == 1 else f'{noun}s'}: {named}{more}"
