"""The output of `rootle symbol`, and of questions about a name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from rootle.cli.terminal import fit_line, printable, warn, write_line
from rootle.serialization.symbols import (
    definition_lines,
    describe_definitions,
    describe_rest,
    describe_uses,
    use_lines,
)
from rootle.types import SymbolAnswer

_MAX_DEFINITIONS: Final = 20  # the maximum number of definitions in the output of `rootle search`
# A brief list has at most this many definitions, and this many lines of uses and their paths. With
# the message about the rest, it fits on a terminal with 40 rows.
_BRIEF_DEFINITIONS: Final = 8
_BRIEF_LINES: Final = 27
_MAX_LIMIT: Final = 10_000  # the maximum of the option -n of `rootle symbol`


def print_symbols(
    answer: SymbolAnswer,
    *,
    has_results: bool = False,
    max_uses: int | None = None,
    is_brief: bool = False,
) -> None:
    """Print definitions and uses to standard output, and messages to standard error.

    Set `has_results` for the output of `rootle search`. There, `--cursor` continues the results and
    not the uses, so the message about more uses names the `rootle symbol` command. With `is_brief`,
    print about one screen, with lines that are cut to the width of the terminal.
    """
    count = _count_lines(answer) if is_brief else max_uses
    has_more = answer.next_cursor is not None or len(answer.uses) > len(answer.uses[:count])
    answer = replace(answer, uses=answer.uses[:count])
    maximum = _BRIEF_DEFINITIONS if is_brief else _MAX_DEFINITIONS
    shown = answer.definitions[:maximum] if has_results else answer.definitions
    columns = shutil.get_terminal_size().columns if is_brief else None
    _write([f"{describe_definitions(answer)}; {describe_uses(answer)}"], is_brief=False)
    _write(definition_lines(shown), is_brief=is_brief)
    if has_results and not (answer.has_all_definitions and len(shown) == len(answer.definitions)):
        warn(f"more definitions: `rootle symbol {answer.name}`")
    _write(use_lines(answer.uses, columns), is_brief=is_brief)
    if has_more:
        how = f"--cursor {answer.next_cursor} shows them"
        if has_results:
            limit = min(answer.total_uses, _MAX_LIMIT)
            how = f"`rootle symbol --{answer.aspect} -n {limit} {answer.name}` lists them"
        warn(f"{describe_rest(answer)}; {how}")
    if answer.similar:
        warn(f"similar names that are defined here: {', '.join(answer.similar)}")


def _count_lines(answer: SymbolAnswer) -> int:
    """Return how many of the uses fit into a brief list, together with the paths of their files."""
    left, path = _BRIEF_LINES, ""
    for count, use in enumerate(answer.uses):
        left -= 1 if use.path == path else 2
        if left < 0:
            return max(count, 1)
        path = use.path
    return len(answer.uses)


def _write(lines: Iterable[str], *, is_brief: bool) -> None:
    """Print lines; if brief, cut them to the width of the terminal, but not within a path."""
    for line in lines:
        text = printable(line)
        is_indented = text.startswith("  ")  # a use
        kept = 0 if is_indented else len(text.partition("  ")[0])
        write_line(fit_line(text, kept) if is_brief else text)
