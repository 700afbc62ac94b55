"""`rootle clear`: delete the indexes of a folder, and the search log of all folders."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rootle.cli.options import NO_RESULTS, SUCCESS, CommandParser, add_common_options, add_path

if TYPE_CHECKING:
    from rootle import App
    from rootle.types import AddedSource

_EXAMPLES: Final = """\
rootle clear
rootle clear ~/projects/shop
rootle clear --sources
rootle clear --index-dir .rootle"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Delete the indexes of a folder (of its files, of the installed packages that the "
        "project uses, and of the sources added with `rootle add`) and its cached search "
        "results. The files themselves, the installed packages, and the list and stored text of "
        "the added sources are kept, so that the next search can index them again. Also delete "
        "data that is shared by all work trees of the repository (the indexes of its commits and "
        "of earlier revisions) and data that is shared by all folders (the search log and the "
        "pages that the web search tools cached).",
        _EXAMPLES,
    )
    parser.add_argument(
        "--sources",
        action="store_true",
        help="also delete the list and the stored text of the sources added with `rootle add`; "
        "your own folders and archives are not changed",
    )
    add_path(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.terminal import print_json, write_line, write_lines

    with open_app_from(args) as app:
        sources = _list_sources(app)
        was_deleted = app.clear(sources=args.sources)
        kept_bytes = app.sources.measure()
    if args.json:
        addresses = {source.name: source.address for source in sources}
        data = {"cleared": was_deleted, "indexDir": str(app.index_dir), "keptBytes": kept_bytes}
        data["deletedSources" if args.sources else "keptSources"] = addresses
        print_json(data)
    else:
        write_line(f"{'deleted' if was_deleted else 'no index to delete at'} {app.index_dir}")
        write_lines(
            _describe_deleted(sources) if args.sources else _describe_kept(sources, kept_bytes)
        )
    return SUCCESS if was_deleted else NO_RESULTS


def _describe_deleted(sources: Sequence[AddedSource]) -> Iterator[str]:
    for source in sources:
        command = f"rootle add {shlex.quote(source.address)} --name {source.name}"
        yield f"deleted the source {source.name}; to read it again: {command}"


def _describe_kept(sources: Sequence[AddedSource], size: int) -> Iterator[str]:
    if size:
        names = f": {', '.join(source.name for source in sources)}" if sources else ""
        yield (
            f"kept the added sources ({size / 1e6:.1f} MB){names}; "
            "to delete them too: rootle clear --sources"
        )


def _list_sources(app: App) -> Sequence[AddedSource]:
    """Return the added sources; an empty list if the list of sources is damaged."""
    from rootle.errors import IndexStorageError

    try:
        return app.sources.list()
    except IndexStorageError:
        return ()
