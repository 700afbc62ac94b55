"""`rootle show`: print a commit, or lines of a file."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import SUCCESS, CommandParser, add_common_options, add_root

_EXAMPLES: Final = """\
rootle show 583c31472577
rootle show 583c31472577#src/evict.c
rootle show v2.1
rootle show src/retry.py:40-60
rootle show src/retry.py#backoff"""


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
    add_root(parser, "folder that contains the file or commit")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from, place_in_root
    from rootle.cli.terminal import print_json, warn, write_lines

    with open_app_from(args) as app:
        passage = app.read(place_in_root(args.place, app.root))
    if args.json:
        print_json(passage)
        return SUCCESS
    write_lines(passage.lines)
    if passage.note:
        warn(passage.note)
    return SUCCESS
