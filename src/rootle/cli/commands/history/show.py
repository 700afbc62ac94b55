"""`rootle show`: print a commit, or lines of a file."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import CommandParser, add_common_options, add_root

_EXAMPLES: Final = """\
rootle show 583c31472577
rootle show 583c31472577#src/evict.c
rootle show v2.1
rootle show src/retry.py:40-60
rootle show src/retry.py#backoff
rootle show --links src/retry.py#backoff"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Print a commit with its patch, or lines of a file. Secrets are masked. Files that "
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
        help="list related items instead of the lines: for code, documents, tests, uses and recent "
        "commits; for a section of a document, the definitions that it mentions",
    )
    add_root(parser, "folder that contains the file, or a folder in the repository of the commit")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import print_answer
    from rootle.cli.context import open_app_from, place_in_root
    from rootle.serialization.links import link_lines

    with open_app_from(args) as app:
        place = place_in_root(args.place, app.root)
        if not args.links:
            passage = app.read(place)
            notes = [passage.note] if passage.note else []
            return print_answer(args, passage, [passage.lines], notes, is_empty=False)
        links = app.links(place)
    lines = list(link_lines(links))
    missing = f"nothing is linked to {links.place}"
    return print_answer(args, links, [lines], links.notes, is_empty=not lines, if_empty=missing)
