"""`rootle sources`: list, refresh and remove added sources."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import (
    FAILURE,
    NO_RESULTS,
    SUCCESS,
    CommandParser,
    add_common_options,
    add_root,
)

_EXAMPLES: Final = """\
rootle sources
rootle sources refresh python
rootle sources remove python"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "List the sources that were added with `rootle add`, read them again, or remove one. "
        "Sources are not refreshed automatically; run `rootle sources refresh` to read them again.",
        _EXAMPLES,
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "refresh", "remove"),
        default="list",
        help="what to do (default: list)",
    )
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="name of a source; `refresh` without a name refreshes all sources",
    )
    add_root(parser, "project folder for which the sources were added")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.external_output import source_line
    from rootle.cli.terminal import document_counter, print_json, warn, warn_all, write_line
    from rootle.errors import QueryError
    from rootle.serialization.outside_text import describe_failed_read

    with open_app_from(args) as app:
        if args.action == "remove":
            if not args.name:
                raise QueryError("name the source to remove: rootle sources remove NAME")
            app.sources.remove(args.name)
            sources = app.sources.list()
        elif args.action == "refresh":
            with document_counter() as progress:
                sources = app.sources.refresh(args.name, on_progress=progress)
        else:
            sources = app.sources.list()
    if args.json:
        print_json({"sources": sources})
    elif args.action == "remove":
        write_line(f"removed {args.name}")
    else:
        for source in sources:
            write_line(source_line(source))
        if not sources:
            warn("no source was added; `rootle add URL` or `rootle add PATH` adds one")
    failed = [source for source in sources if source.failure]
    warn_all(map(describe_failed_read, failed))
    if failed:
        return FAILURE
    return SUCCESS if sources or args.action == "remove" else NO_RESULTS
