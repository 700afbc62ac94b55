"""`rootle show`: print a commit, or lines of a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_common_options, add_root, add_yes

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.cli.answer_output import AnswerOutput

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
        help="what to print: a commit (HASH, TAG, BRANCH or HEAD~3), its changes to one "
        "file (HASH#PATH), a file (PATH), lines (PATH:START-END), the definition or section "
        "around a line (PATH:LINE), or a definition or section (PATH#NAME)",
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="list related items instead of printing the lines: for code, related documents, "
        "tests, uses and recent commits; for a section of a document, the definitions that "
        "it mentions",
    )
    add_root(parser, "folder of the project; for a commit, any folder in its repository")
    add_yes(parser, condition="with --links")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import answer_with_index, answer_without_index

    if args.links:
        return answer_with_index(args, _ask_links)
    return answer_without_index(args, _read)


def _read(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.cli.context import place_in_root
    from rootle.serialization.outside_text import marks_of_passage

    passage = app.read(place_in_root(args.place, app.root))
    notes = [passage.note] if passage.note else []
    parts = filter(None, [marks_of_passage(passage), passage.lines])
    return AnswerOutput(passage, parts, notes, is_empty=False)


def _ask_links(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.cli.context import place_in_root
    from rootle.serialization.links import link_lines

    links = app.links(place_in_root(args.place, app.root))
    lines = list(link_lines(links))
    return AnswerOutput(
        links,
        [lines],
        links.notes,
        not lines,
        f"nothing is linked to {links.place}",
        has_references=True,
    )
