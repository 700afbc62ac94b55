"""`rootle why`: show the commits that explain lines of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_common_options, add_limit, add_root

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.cli.answer_output import AnswerOutput
    from rootle.types import WhyAnswer

_EXAMPLES: Final = """\
rootle why src/net/retry.py:42
rootle why src/net/retry.py:40-60
rootle why src/net/retry.py#RetryPolicy.should_retry
rootle why -n 10 --json src/net/retry.py:42"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Explain why lines of a file exist: show the commits that added or changed these lines, "
        "with their messages, and the documents and memories that mention this code. Commits that "
        "only reformatted or moved the lines, and those listed in .git-blame-ignore-revs, are "
        "ignored. Finding the commits and memories needs no index; documents are shown only if "
        "the folder is already indexed.",
        _EXAMPLES,
    )
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="lines, as PATH:START-END or PATH#NAME; PATH:LINE means the definition or section "
        "around the line",
    )
    add_limit(parser, "commits", "5")
    add_root(parser, "folder of the project")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import answer_without_index

    return answer_without_index(args, _ask)


def _ask(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.cli.context import place_in_root
    from rootle.serialization.why import reason_lines

    answer = app.why(place_in_root(args.place, app.root), limit=args.limit)
    is_empty = not (answer.commits or answer.uncommitted)
    if args.limit is None and sys.stdout.isatty():
        lines, notes = _fit_on_screen(answer)
    else:
        lines, notes = list(reason_lines(answer)), answer.notes
    return AnswerOutput(answer, [lines], notes, is_empty)


def _fit_on_screen(answer: WhyAnswer) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines of an answer for one screen of the terminal, and the notes after them."""
    from rootle.cli.results.screen import fit_screen, screen_rows

    is_complete, lines = fit_screen(_list_versions(answer), screen_rows(answer.notes))
    if is_complete:
        return lines, answer.notes
    more = f"shortened; -n {len(answer.commits) or 1} shows everything"
    return lines, [*answer.notes, more]


def _list_versions(answer: WhyAnswer) -> Iterator[tuple[bool, Sequence[str]]]:
    """Yield the lines of an answer: first all of them, then fewer and fewer, cut to the width."""
    import shutil

    from rootle.cli.terminal import fit_line, printable
    from rootle.serialization.why import WHY_DETAILS, brief_reason_lines, reason_lines

    yield True, list(reason_lines(answer))
    columns = shutil.get_terminal_size().columns
    for detail in WHY_DETAILS:
        lines = brief_reason_lines(answer, detail, columns)
        yield False, [fit_line(printable(line)) for line in lines]
