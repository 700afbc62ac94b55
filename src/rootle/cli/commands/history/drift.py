"""`rootle drift`: find texts that name what no longer exists."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rootle.cli.options import (
    CommandParser,
    add_common_options,
    add_root,
    add_yes,
)

_EXAMPLES: Final = """\
rootle drift
rootle drift README.md docs
rootle drift --json"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find documents, comments and memories that refer to functions, options, files or "
        "parameters that no longer exist. Each reference is listed with the commit that removed "
        "or renamed its target. Changelogs and decision records are left out. The file index and "
        "the commit index are created or updated first. In a folder without commits, only "
        "qualified names such as RetryPolicy.delay are checked.",
        _EXAMPLES,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders to check (default: all)"
    )
    add_root(parser, "folder of a project")
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.answer_output import print_answer
    from rootle.cli.context import open_for_question, refresh_index, root_folder
    from rootle.serialization.links import drift_lines

    with open_for_question(args) as app:
        paths = _relative(args.paths, root_folder(args))
        refresh_index(app)
        answer = app.drift(paths)
    return print_answer(
        args,
        answer,
        map(drift_lines, answer.reports),
        answer.suggestions,
        is_empty=not answer.reports,
        if_empty=f"no name is gone (names checked: {answer.names}, texts read: {answer.texts})",
    )


def _relative(paths: Sequence[str], root: Path) -> list[str]:
    """Return the paths relative to the folder; others are left as they are."""
    top = os.path.realpath(root)
    found = (os.path.relpath(os.path.realpath(path), top) for path in paths)
    pairs = zip(paths, found, strict=True)
    return [path if inner.startswith("..") else inner.replace(os.sep, "/") for path, inner in pairs]
