"""The output of `rootle symbol`, and of questions about a name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rootle.cli.results.screen import count_message_rows, count_rows, screen_rows
from rootle.cli.terminal import count_text, fit_line, printable, warn_all, wrap_text, write_line
from rootle.serialization.path_text import escape_path
from rootle.serialization.symbols import (
    definition_lines,
    describe_definitions,
    describe_rest,
    describe_uses,
    use_lines,
)
from rootle.types import SymbolAnswer

_MAX_DEFINITIONS: Final = 20  # the maximum number of definitions in the output of `rootle search`
# A brief list contains at most one definition per this number of screen rows: 7 on a terminal with
# 40 rows. The uses or the results take the other rows.
_ROWS_PER_DEFINITION: Final = 5
_MAX_LIMIT: Final = 10_000  # the maximum of the option -n of `rootle symbol`


def print_symbols(
    answer: SymbolAnswer,
    *,
    has_results: bool = False,
    max_uses: int | None = None,
    is_brief: bool = False,
) -> int:
    """Print definitions and uses to standard output, and messages to standard error.

    Set `has_results` for the output of `rootle search`. There, `--cursor` continues the results and
    not the uses, so the message about more uses names the `rootle symbol` command. With `is_brief`,
    print about one screen, with lines that are cut to the width of the terminal. Return how many
    rows of the terminal the lines and the messages take.
    """
    shown = answer.definitions[:_MAX_DEFINITIONS] if has_results else answer.definitions
    if is_brief and (has_results or answer.aspect != "definitions"):
        shown = shown[: screen_rows() // _ROWS_PER_DEFINITION]
    definitions = _fit(definition_lines(shown), is_brief=is_brief)
    if is_brief:
        definitions = definitions[: _count_lines_that_fit(answer, definitions)]
        max_uses = _count_uses_that_fit(answer, count_rows(definitions))
    has_more = answer.next_cursor is not None or len(answer.uses) > len(answer.uses[:max_uses])
    answer = replace(answer, uses=answer.uses[:max_uses])
    lines = [*_list_head(answer, is_brief=is_brief), *definitions]
    messages = []
    is_cut = len(definitions) < len(answer.definitions)
    if has_results and (is_cut or not answer.has_all_definitions):
        messages.append(f"more definitions: `rootle symbol {answer.name}`")
    elif is_cut:
        left = len(answer.definitions) - len(definitions)
        messages.append(f"{count_text(left, 'more definition')}; {_show_more(answer)}")
    columns = shutil.get_terminal_size().columns if is_brief else None
    lines += _fit(use_lines(answer.uses, columns), is_brief=is_brief)
    if has_more:
        how = _how_to_see_more(answer, has_results=has_results, is_brief=is_brief)
        messages.append(f"{describe_rest(answer)}; {how}")
    if answer.similar:
        messages.append(f"similar names that are defined here: {', '.join(answer.similar)}")
    for line in lines:
        write_line(line)
    warn_all(messages)
    return count_rows(lines) + count_message_rows(messages)


def _describe(answer: SymbolAnswer) -> str:
    return f"{describe_definitions(answer)}; {describe_uses(answer)}"


def _list_head(answer: SymbolAnswer, *, is_brief: bool) -> list[str]:
    """Return the lines that describe the answer: one, or if `is_brief`, as many as it takes."""
    text = printable(_describe(answer))
    return wrap_text(text) if is_brief else [text]


def _show_more(answer: SymbolAnswer) -> str:
    """Return the option that lists all definitions and uses, without a limit for the screen."""
    return f"-n {min(max(answer.total_uses, 1), _MAX_LIMIT)} shows everything"


def _how_to_see_more(answer: SymbolAnswer, *, has_results: bool, is_brief: bool) -> str:
    if is_brief and not has_results:
        return _show_more(answer)
    if not has_results:
        return f"--cursor {answer.next_cursor} shows them"
    limit = min(answer.total_uses, _MAX_LIMIT)
    return f"`rootle symbol --{answer.aspect} -n {limit} {answer.name}` lists them"


def _count_lines_that_fit(answer: SymbolAnswer, lines: Sequence[str]) -> int:
    """Return how many of the lines fit on the screen below the first line; at least 1."""
    left = screen_rows() - count_rows(_list_head(answer, is_brief=True))
    for count, line in enumerate(lines):
        left -= count_rows([line])
        if left < 0:
            return max(count, 1)
    return len(lines)


def _count_uses_that_fit(answer: SymbolAnswer, used_rows: int) -> int:
    """Return how many of the uses fit on the screen with the paths of their files; at least 1.

    `used_rows` is the number of rows that the definitions take. The description of the answer and a
    message also take rows.
    """
    left = screen_rows() - used_rows - count_rows(_list_head(answer, is_brief=True)) - 1
    path = ""
    for count, use in enumerate(answer.uses):
        left -= 1 + (count_rows([escape_path(use.path)]) if use.path != path else 0)
        if left < 0:
            return max(count, 1)
        path = use.path
    return len(answer.uses)


def _fit(lines: Iterable[str], *, is_brief: bool) -> list[str]:
    """Return printable lines; if `is_brief`, cut to the terminal width, but not within a path."""
    return [_fit_one(printable(line)) if is_brief else printable(line) for line in lines]


def _fit_one(line: str) -> str:
    is_use = line.startswith("  ")
    return fit_line(line, 0 if is_use else len(line.partition("  ")[0]))
