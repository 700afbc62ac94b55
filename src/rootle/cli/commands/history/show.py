"""`rootle show`: print a commit, or lines of a file."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import NO_RESULTS, SUCCESS, CommandParser, add_common_options, add_root

_EXAMPLES: Final = """\
rootle show 583c31472577
rootle show 583c31472577#src/evict.c
rootle show v2.1
rootle show src/retry.py:40-60
rootle show src/retry.py#backoff
rootle show --links src/retry.py#backoff"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Print a commit with its patch, or lines of a file. Secrets are masked. Files that\n"
        "are excluded from the index are not shown.",
        _EXAMPLES,
    )
    parser.add_argument(
        "place",
        help="what to print: a commit (HASH or TAG), its changes to one file (HASH#PATH), a file "
        "(PATH), lines (PATH:LINE or PATH:START-END), or a definition or section (PATH#NAME)",
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="list links instead of the lines: for code, related documents, tests, uses and recent "
        "commits; for a section of a document, the definitions that it mentions",
    )
    add_root(parser, "folder that contains the file or commit")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from, place_in_root
    from rootle.cli.terminal import print_json, warn, write_lines

    if args.links:
        return _show_links(args)
    with open_app_from(args) as app:
        passage = app.read(place_in_root(args.place, app.root))
    if args.json:
        print_json(passage)
        return SUCCESS
    write_lines(passage.lines)
    if passage.note:
        warn(passage.note)
    return SUCCESS


def _show_links(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from, place_in_root
    from rootle.cli.terminal import print_json, warn, write_lines
    from rootle.serialization.links import link_lines

    with open_app_from(args) as app:
        links = app.links(place_in_root(args.place, app.root))
    if args.json:
        print_json(links)
        return SUCCESS
    lines = list(link_lines(links))
    write_lines(lines)
    for note in links.notes:
        warn(note)
    return SUCCESS if lines else NO_RESULTS
