"""The output of `rootle symbol`, and of questions about a name."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rootle.cli.terminal import warn, write_lines
from rootle.serialization.symbols import (
    definition_lines,
    describe_definitions,
    describe_rest,
    describe_uses,
    use_lines,
)
from rootle.types import SymbolAnswer

_MAX_DEFINITIONS: Final = 20  # the maximum number of definitions in the output of `rootle search`


def print_symbols(
    answer: SymbolAnswer, *, has_results: bool = False, max_uses: int | None = None
) -> None:
    """Print definitions and uses to standard output, and messages to standard error.

    Set `has_results` for the output of `rootle search`. There, `--cursor` continues the results and
    not the uses, so the message about more uses names the `rootle symbol` command.
    """
    has_more = answer.next_cursor is not None or len(answer.uses) > len(answer.uses[:max_uses])
    answer = replace(answer, uses=answer.uses[:max_uses])
    write_lines([f"{describe_definitions(answer)}; {describe_uses(answer)}"])
    shown = answer.definitions[:_MAX_DEFINITIONS] if has_results else answer.definitions
    write_lines(definition_lines(shown))
    if has_results and not (answer.has_all_definitions and len(shown) == len(answer.definitions)):
        warn(f"more definitions: `rootle symbol {answer.name}`")
    write_lines(use_lines(answer.uses))
    if has_more:
        how = f"--cursor {answer.next_cursor} shows them"
        if has_results:
            how = f"`rootle symbol --{answer.aspect} {answer.name}` lists all"
        warn(f"{describe_rest(answer)}; {how}")
    if answer.similar:
        warn(f"similar names that are defined here: {', '.join(answer.similar)}")
