"""`rootle clear`: delete the index and the search log."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import NO_RESULTS, SUCCESS, CommandParser, add_common_options, add_path

_EXAMPLES: Final = """\
rootle clear
rootle clear ~/projects/shop
rootle clear --index-dir .rootle"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Delete the index of a folder and its cached result pages. This also deletes the\n"
        "indexes of the repository's commits and earlier versions, which all of its work trees\n"
        "share, the sources that were added with `rootle add`, and the search log, which all\n"
        "folders share. The files in the folder are not changed.",
        _EXAMPLES,
    )
    add_path(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.terminal import print_json

    with open_app_from(args) as app:
        was_deleted = app.clear()
    if args.json:
        print_json({"cleared": was_deleted, "indexDir": str(app.index_dir)})
    else:
        print(f"{'deleted' if was_deleted else 'no index to delete at'} {app.index_dir}")
    return SUCCESS if was_deleted else NO_RESULTS
