"""`rootle clear`: delete the index and the search log."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rootle.cli.options import NO_RESULTS, SUCCESS, CommandParser, add_common_options, add_path

if TYPE_CHECKING:
    from rootle import App
    from rootle.types import AddedSource

_EXAMPLES: Final = """\
rootle clear
rootle clear ~/projects/shop
rootle clear --index-dir .rootle"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Delete the index of a folder, the cached search results, and the sources that were added "
        "with `rootle add`. Also delete shared data: the commit index and the indexes of "
        "earlier revisions (shared by all work trees of the repository), and the search log "
        "(shared by all folders). The files in the folder are not changed.",
        _EXAMPLES,
    )
    add_path(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.terminal import print_json, write_lines

    with open_app_from(args) as app:
        sources = _list_sources(app)
        was_deleted = app.clear()
    if args.json:
        addresses = {source.name: source.address for source in sources}
        directory = str(app.index_dir)
        print_json({"cleared": was_deleted, "indexDir": directory, "sources": addresses})
    else:
        print(f"{'deleted' if was_deleted else 'no index to delete at'} {app.index_dir}")
        write_lines(
            f"deleted the source {source.name}; to read it again: "
            f"rootle add {shlex.quote(source.address)} --name {source.name}"
            for source in sources
        )
    return SUCCESS if was_deleted else NO_RESULTS


def _list_sources(app: App) -> Sequence[AddedSource]:
    """Return the sources that will be deleted; none if their list is damaged."""
    from rootle.errors import IndexStorageError

    try:
        return app.sources.list()
    except IndexStorageError:
        return ()
