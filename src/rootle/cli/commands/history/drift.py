"""`rootle drift`: find texts that mention code that no longer exists."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_common_options, add_root, add_yes

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.cli.answer_output import AnswerOutput

_EXAMPLES: Final = """\
rootle drift
rootle drift README.md docs
rootle drift --json"""
# The maximum numbers of whole reports and of single lines in a shortened answer. Few terminals
# have room for more.
_MAX_WHOLE: Final = 20
_MAX_PLACES: Final = 100


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find documents, comments and memories that refer to functions, options, files or "
        "parameters that no longer exist. If a document or comment refers to something that was "
        "removed or renamed, the commit that removed or renamed it is also shown (this requires "
        "a git repository with commits). Without commits, fewer kinds of references are checked. "
        "Changelogs and decision records are left out. The file index and the commit index are "
        "created or updated first. If there are many commits, the first run may index only the "
        "newest ones. In that case, a message says so, and the next run indexes more.",
        _EXAMPLES,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders to check (default: all)"
    )
    add_root(parser, "folder of a project")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import answer_with_index

    return answer_with_index(args, _ask)


def _ask(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.cli.context import path_in_root
    from rootle.cli.terminal import progress_bar
    from rootle.serialization.links import describe_drift, describe_no_drift, drift_lines

    paths = [path_in_root(path, app.root) for path in args.paths]
    with progress_bar("checking", unit=" files") as progress:
        answer = app.drift(paths, progress)
    parts = [list(drift_lines(report)) for report in answer.reports]
    how = "shortened; `rootle drift | less` or --json shows everything"
    return AnswerOutput(
        answer,
        parts,
        answer.suggestions,
        is_empty=not answer.reports,
        if_empty=describe_no_drift(answer),
        summary=describe_drift(answer),
        has_references=True,
        has_notes_first=bool(answer.degraded),
        shorter=[(how, one) for one in _shorten(parts)],
    )


def _shorten(reports: Sequence[Sequence[str]]) -> Iterator[Sequence[Sequence[str]]]:
    """Yield versions with fewer and fewer whole reports. Each other report takes one line.

    The shortest versions list only the first reports.
    """
    places = [report[0] for report in reports]
    for whole in range(min(len(reports), _MAX_WHOLE), -1, -1):
        yield [*reports[:whole], places[whole:]]
    for count in range(min(len(reports), _MAX_PLACES), 0, -1):
        yield [[*places[:count], f"… {len(reports) - count:,} more"]]
