"""`rootle gone`: find code that no longer exists."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_common_options, add_limit, add_root, add_yes

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.cli.answer_output import AnswerOutput
    from rootle.types import RemovalAnswer

_EXAMPLES: Final = """\
rootle gone "retry on 404"
rootle gone retry_404
rootle gone '"status == 404"' --limit 1 --json"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find code that no longer exists, and the commits that removed it. WORDS can be a "
        "description of the code, the name of a function or class, or, in double quotes, exact "
        "text from the code. Code that was moved or renamed is not shown. The file index and the "
        "commit index are created or updated first. If there are many commits, the first run may "
        "index only the newest ones. In that case, a message says so, and the next run indexes "
        "more.",
        _EXAMPLES,
    )
    parser.add_argument(
        "words", nargs="+", metavar="WORDS", help='a description, a name or "exact text"'
    )
    add_limit(parser, "removals", "5")
    add_root(parser, "folder in a git repository")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import answer_with_index

    return answer_with_index(args, _ask)


def _ask(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.serialization.history import describe_no_removal, removal_lines

    answer = app.gone(" ".join(args.words), args.limit)
    parts = [list(removal_lines(removal)) for removal in answer.removals]
    is_empty = not answer.removals
    is_partial = bool(answer.degraded)
    return AnswerOutput(
        *(answer, parts, answer.suggestions, is_empty, describe_no_removal(answer), is_partial),
        shorter=list(_shorter(answer)) if args.limit is None else (),
    )


def _shorter(answer: RemovalAnswer) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield versions of the answer with fewer and fewer lines of code."""
    from rootle.serialization.history import SHORTER_LINES, removal_lines

    how = f"shortened; -n {len(answer.removals)} shows everything"
    for count in SHORTER_LINES:
        yield how, [list(removal_lines(removal, count)) for removal in answer.removals]
