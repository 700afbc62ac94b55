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
        "Delete the index of a folder, the cached search results, and the sources that were added\n"
        "with `rootle add`. Also delete shared data: the index of the commits and those of\n"
        "earlier revisions (shared by all work trees of the repository), and the search log\n"
        "(shared by all folders). The files in the folder are not changed.",
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
