"""`rootle symbol`: list the definitions or uses of a name."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from rootle.cli.options import (
    NO_RESULTS,
    SUCCESS,
    CommandParser,
    add_common_options,
    add_limit,
    add_revision,
    add_root,
    add_yes,
)

_EXAMPLES: Final = """\
rootle symbol retry_backoff
rootle symbol --uses RetryPolicy.should_retry
rootle symbol --tests retry_backoff
rootle symbol --at v2.1 retry_backoff
rootle symbol deps:httpx.Client
rootle symbol --uses --limit 100 --json retry_backoff"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Show where a name is defined. The options --uses, --assignments, --reads, --tests and "
        "--implementations list lines in addition to the definitions. Uses are listed in this "
        "order: code, tests, comments and documents. The index is created or updated first.",
        _EXAMPLES,
    )
    parser.add_argument(
        "name",
        help="name of a symbol, such as retry_backoff or RetryPolicy.should_retry; deps:NAME "
        "looks the name up in the installed packages that the project depends on",
    )
    aspects = parser.add_mutually_exclusive_group()
    for aspect, text in (
        ("uses", "list the lines that use the name"),
        ("assignments", "list the lines that set the variable, field or setting with this name"),
        ("reads", "list the lines that use the name without setting it"),
        ("tests", "list the lines in tests that use the name"),
        (
            "implementations",
            "list the classes that implement or extend the class or interface with this name",
        ),
    ):
        aspects.add_argument(
            f"--{aspect}", dest="aspect", action="store_const", const=aspect, help=text
        )
    add_limit(parser, "lines to list", "30")
    parser.add_argument(
        "--cursor",
        metavar="CURSOR",
        help="show the next page; CURSOR is `nextCursor` from the JSON output of the previous page",
    )
    add_revision(parser)
    add_root(parser, "folder to search")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_for_question, refresh_index
    from rootle.types import PACKAGE_URI

    with open_for_question(args) as app:
        is_package = args.name.strip().startswith(PACKAGE_URI)
        if not is_package:
            refresh_index(app, args.at)
        answer = app.symbols(
            args.name,
            args.aspect or "definitions",
            limit=args.limit,
            cursor=args.cursor,
            at=args.at,
        )
        is_elsewhere = not (answer.definitions or is_package) and app.has_indexed_packages
    if args.json:
        from rootle.cli.terminal import print_json

        print_json(answer)
    else:
        from rootle.cli.symbol_output import print_symbols
        from rootle.cli.terminal import warn

        is_brief = sys.stdout.isatty() and args.limit is None and args.cursor is None
        print_symbols(answer, is_brief=is_brief)
        if is_elsewhere:
            warn(f"`rootle symbol {PACKAGE_URI}{answer.name}` looks in the installed packages")
    return SUCCESS if answer.definitions or answer.uses else NO_RESULTS
