"""The output of `rootle search`: text for people, or Markdown for a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rootle.cli.results.result_lines import (
    DETAILS,
    Detail,
    brief_lines,
    memory_lines,
    result_lines,
)
from rootle.cli.results.screen import fit_screen, screen_rows
from rootle.cli.results.style import DIM, Style
from rootle.cli.symbol_output import print_symbols
from rootle.cli.terminal import (
    printable,
    warn,
    warn_all,
    write_line,
    write_lines,
    write_styled_line,
)
from rootle.serialization.brief import (
    INDEX_DEGRADATIONS,
    describe_coverage,
    describe_cut,
    has_notes_first,
    shorten_weak,
)
from rootle.serialization.markdown import response_as_markdown, starts_with_notes
from rootle.types import PARTIAL_HISTORY, QueryInterpretation, SearchResponse

_MAX_RELATED_NAMED: Final = 10
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


def print_response(
    response: SearchResponse,
    question: str,
    style: Style,
    *,
    is_brief: bool = True,
    limit: int | None = None,
) -> None:
    """Print results to standard output, and messages to standard error.

    Messages about the state of the index come first. If the results would be misleading without the
    other messages (see `has_notes_first`), these come before the results too. With `is_brief`, a
    response that is not confident contains only a few lines of each of the best results, and on a
    terminal, every response is shortened to one screen. `limit` is the maximum number of uses of a
    name.
    """
    response = _print_index_messages(response)
    messages = _list_messages(response)
    is_first = has_notes_first(response)
    if is_brief and (cut := describe_cut(response)):
        messages.append(f"{cut}; -n {len(response.results)} shows all")
    if is_first:
        warn_all(messages)
    how = ""
    if is_brief and style.is_terminal and _can_shorten(response):
        how = _print_screen(response, question, style, messages)
    else:
        shown = shorten_weak(response, question) if is_brief else response
        _print_results(shown, question, style, limit)
    if not is_first:
        warn_all(messages)
    if how:
        warn(how)


def _can_shorten(response: SearchResponse) -> bool:
    """Return whether neither an explanation nor the whole context of the results is requested."""
    return response.interpretation is None and all(
        result.context is None for result in response.results
    )


def _print_screen(
    response: SearchResponse, question: str, style: Style, messages: Sequence[str]
) -> str:
    """Print one screen of a response; if the question is about a name, its definitions come first.

    If the question asks for uses, a list of them replaces the results. `messages` take rows of the
    screen too. Return a message that says how to see more, or "" if nothing was left out.
    """
    rows, symbols = screen_rows(messages), response.symbols
    if symbols is not None:
        rows -= print_symbols(symbols, has_results=True, is_brief=True) + 1
        if symbols.aspect != "definitions":
            return ""
        if response.results:
            write_line("")
    detail, lines = fit_screen(_list_versions(response, question, style), rows)
    for line in lines:
        write_styled_line(line)
    # The message about a response with low confidence already says how to see more.
    if detail is None or describe_cut(response):
        return ""
    return f"shortened; -n {len(response.results)} shows more lines"


def _list_versions(
    response: SearchResponse, question: str, style: Style
) -> Iterator[tuple[Detail | None, Sequence[str]]]:
    """Yield the lines of the results in full, and then with less and less detail."""
    shown = shorten_weak(response, question)
    yield None, list(result_lines(shown, question, style, is_brief=True))
    for detail in DETAILS:
        yield detail, list(brief_lines(shown, question, style, detail))


def _print_results(
    response: SearchResponse, question: str, style: Style, limit: int | None
) -> None:
    if response.interpretation is not None:
        write_styled_line(style.paint(f"interpreted as: {_describe(response.interpretation)}", DIM))
    symbols = response.symbols
    if symbols is not None and symbols.aspect != "definitions":
        print_symbols(symbols, has_results=True, max_uses=limit)
        return
    without_memories = replace(response, memories=())
    for line in result_lines(without_memories, question, style):
        write_styled_line(line)
    if symbols is not None:
        write_line("")
        print_symbols(symbols, has_results=True)
    if response.memories and response.results:
        write_line("")
    for line in memory_lines(response.memories, style):
        write_styled_line(line)


def print_markdown(response: SearchResponse, question: str = "", *, is_brief: bool = True) -> None:
    """Print results as Markdown to standard output, and messages to standard error.

    Messages about the state of the index come first. If the results would be misleading without the
    other messages (see `has_notes_first`), these come before the results too, or are part of the
    Markdown.
    """
    response = _print_index_messages(response)
    has_notes = starts_with_notes(response, is_brief=is_brief)
    messages = replace(response, suggestions=()) if has_notes else response
    if has_notes_first(response):
        warn_all(_list_messages(messages))
    if response.results or response.memories:
        text = response_as_markdown(response, question, is_brief=is_brief)
        write_lines(text.rstrip("\n").split("\n"))
    if not has_notes_first(response):
        warn_all(_list_messages(messages))


def _print_index_messages(response: SearchResponse) -> SearchResponse:
    """Print the degradations of the index, and return the response without them."""
    names = [name for name in response.degraded if name in INDEX_DEGRADATIONS]
    warn_all(_describe_degradations(names))
    if response.coverage is not None:
        warn_all([describe_coverage(response.coverage)])
    others = tuple(name for name in response.degraded if name not in INDEX_DEGRADATIONS)
    return replace(response, degraded=others)


def _describe_degradations(names: Iterable[str]) -> list[str]:
    meanings = [(name, _DEGRADATIONS.get(name.partition(" ")[0])) for name in names]
    return [f"degraded: {name}" + (f" ({mean})" if mean else "") for name, mean in meanings]


def _list_messages(response: SearchResponse) -> list[str]:
    # If not all commits were searched, the first suggestion says how many were. The message about
    # this degradation is then not needed.
    is_partial = PARTIAL_HISTORY in response.degraded and bool(response.suggestions)
    explained = (PARTIAL_HISTORY,) if is_partial else ()
    messages = _describe_degradations(name for name in response.degraded if name not in explained)
    if not response.results and not response.memories:
        messages.append("no results")
    if is_partial:
        return [*response.suggestions, *messages]
    return [*messages, *response.suggestions]


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
