"""`rootle impact`: show what else must change."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_common_options, add_limit, add_root, add_yes

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.cli.answer_output import AnswerOutput

_EXAMPLES: Final = """\
rootle impact
rootle impact src/net/retry.py
rootle impact change.diff
rootle impact main...topic
rootle impact "limit the number of redirects" --json"""
_DIFF_SUFFIXES: Final = (".diff", ".patch")


def register(parser: CommandParser) -> None:
    parser.describe(
        "Given a change, show the other files, tests and documents that probably need to change "
        "too. Each file is listed with a probability and the evidence: past commits that changed "
        "both this file and one of your changed files, and identifiers that occur in both. If you "
        "describe the change in words, the three files that best match the description are "
        "treated as the changed files. Without an argument, the files with "
        "uncommitted changes are used. The file index and the commit index are created or updated "
        "first. If there are many commits, the first run may index only the newest ones. In that "
        "case, a message says so, and the next run indexes more.",
        _EXAMPLES,
    )
    parser.add_argument(
        "change",
        nargs="*",
        metavar="CHANGE",
        help="paths of files that you changed or plan to change, a diff file, `-` for a diff on "
        "standard input, a commit or a range of commits, or a description of a planned change",
    )
    add_limit(parser, "files", "10")
    add_root(parser, "folder in a git repository")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import answer_with_index

    return answer_with_index(args, _ask)


def _ask(app: App, args: argparse.Namespace) -> AnswerOutput:
    from rootle.cli.answer_output import AnswerOutput
    from rootle.serialization.history import impact_lines

    answer = app.impact(_read_change(args.change, app.root), args.limit)
    parts = [list(impact_lines(answer))]
    is_partial = bool(answer.degraded)
    return AnswerOutput(
        answer,
        parts,
        answer.suggestions,
        is_empty=not answer.files,
        has_references=True,
        has_notes_first=is_partial,
        shorter=[
            (
                f"shortened; -n {len(answer.files)} shows everything",
                [list(impact_lines(answer, reasons))],
            )
            for reasons in (1, 0)
            if args.limit is None
        ],
    )


def _read_change(words: Sequence[str], root: Path) -> str | list[str] | None:
    """Return the argument of `App.impact`: relative paths, a diff, or a task in words."""
    from rootle.cli.context import path_in_root
    from rootle.serialization.path_text import looks_like_path

    if not words:
        return None
    if list(words) == ["-"]:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if len(words) == 1 and words[0].endswith(_DIFF_SUFFIXES) and os.path.isfile(words[0]):
        return Path(words[0]).read_text(encoding="utf-8", errors="replace")
    paths = [path_in_root(word, root) for word in words]
    exists = [os.path.lexists(root / path) for path in paths]
    # If one of several paths is misspelled, the arguments are still paths, not a description.
    if all(exists) or (any(exists) and all(map(looks_like_path, words))):
        return paths
    return " ".join(words)
