"""`rootle gone`: find code that no longer exists."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import (
    NO_RESULTS,
    SUCCESS,
    CommandParser,
    add_common_options,
    add_root,
    add_yes,
)

_EXAMPLES: Final = """\
rootle gone "retry on 404"
rootle gone retry_404
rootle gone '"status == 404"' --limit 1 --json"""
# A single question is answered within this time after its refresh.
_ONE_QUESTION_S: Final = 60.0


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find code that no longer exists, and the commits that removed it. Describe the code,\n"
        "name a definition, or quote text. Code that was moved or renamed is not shown.\n"
        "The index and the index of the commits are created or updated first.",
        _EXAMPLES,
    )
    parser.add_argument("words", nargs="+", metavar="WORDS", help="words, a name or quoted text")
    parser.add_argument(
        "-n", "--limit", type=int, metavar="N", help="maximum number of removals (default: 5)"
    )
    add_root(parser, "folder of a repository")
    add_yes(parser, "indexing your home folder or a folder above it")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import check_root, open_app_from
    from rootle.cli.terminal import printable, progress_bar, warn, write_line

    check_root(args)
    with open_app_from(args, min_check_interval_s=_ONE_QUESTION_S) as app:
        with progress_bar() as progress:
            app.refresh(progress)
        answer = app.gone(" ".join(args.words), args.limit)
    if args.json:
        from rootle.cli.terminal import print_json

        print_json(answer)
    else:
        from rootle.serialization.history import removal_lines

        for at, removal in enumerate(answer.removals):
            if at:
                write_line("")
            for line in removal_lines(removal):
                write_line(printable(line))
        for note in answer.suggestions:
            warn(note)
        if not answer.removals:
            warn("no removed code matches")
    return SUCCESS if answer.removals else NO_RESULTS
