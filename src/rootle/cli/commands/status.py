"""`rootle status`: show the state of the index."""

from __future__ import annotations

import argparse
from dataclasses import replace
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
        "Show the state of the index of a folder. Nothing is changed.",
        _EXAMPLES,
    )
    add_path(parser)
    parser.add_argument(
        "--skipped",
        action="store_true",
        help="list every file that is skipped or only partly indexed, with the reason, and the "
        "entries of the folder that ignore rules exclude",
    )
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from, root_folder
    from rootle.config.precedence import read_settings
    from rootle.config.unused import unused_settings

    with open_app_from(args) as app:
        status = app.status()
        progress = app.index_progress()
    settings = read_settings(root_folder(args), args.config, args.set or ())
    # The configuration of the app does not record whether a key was set.
    unused = unused_settings(settings.config, settings.origins)
    status = replace(status, unused_settings=unused)
    _print(status, progress, args)
    return SUCCESS if status.exists else NO_RESULTS


def _print(status: IndexStatus, progress: tuple[int, int] | None, args: argparse.Namespace) -> None:
    if args.json:
        from rootle.cli.terminal import print_json

        print_json(status)
    else:
        from rootle.cli.status_output import print_status
        from rootle.telemetry.exporter import missing_extra

        print_status(
            status,
            with_skipped_files=args.skipped,
            telemetry_problem=missing_extra(),
            progress=progress,
        )
