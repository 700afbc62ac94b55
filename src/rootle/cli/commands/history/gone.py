"""`rootle gone`: find code that no longer exists."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import (
    CommandParser,
    add_common_options,
    add_limit,
    add_root,
    add_yes,
)

_EXAMPLES: Final = """\
rootle gone "retry on 404"
rootle gone retry_404
rootle gone '"status == 404"' --limit 1 --json"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find code that no longer exists, and the commits that removed it. Describe the code, "
        "give the name of a function or class, or quote text. Code that was moved or renamed is "
        "not shown. "
        "The file index and the commit index are created or updated first.",
        _EXAMPLES,
    )
    parser.add_argument("words", nargs="+", metavar="WORDS", help="words, a name or quoted text")
    add_limit(parser, "removals", "5")
    add_root(parser, "folder in a git repository")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import print_answer
    from rootle.cli.context import open_for_question, refresh_index
    from rootle.serialization.history import removal_lines

    with open_for_question(args) as app:
        refresh_index(app)
        answer = app.gone(" ".join(args.words), args.limit)
    return print_answer(
        args,
        answer,
        map(removal_lines, answer.removals),
        answer.suggestions,
        is_empty=not answer.removals,
        if_empty="no removed code matches",
    )
