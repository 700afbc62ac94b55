"""`rootle status`: show the state of the index."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rootle.cli.options import NO_RESULTS, SUCCESS, CommandParser, add_common_options, add_path

if TYPE_CHECKING:
    from rootle.types import IndexStatus

_EXAMPLES: Final = """\
rootle status
rootle status --skipped ~/projects/shop
rootle status --json | jq .pending"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Show the state of the index of a folder, without changing it.",
        _EXAMPLES,
    )
    add_path(parser)
    parser.add_argument(
        "--skipped",
        action="store_true",
        help="list every file that is skipped or only partly indexed, with the reason",
    )
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from

    with open_app_from(args) as app:
        status = app.status()
    _print(status, args)
    return SUCCESS if status.exists else NO_RESULTS


def _print(status: IndexStatus, args: argparse.Namespace) -> None:
    if args.json:
        from rootle.cli.terminal import print_json

        print_json(status)
    else:
        from rootle.cli.status_output import print_status

        print_status(status, with_skipped_files=args.skipped)
