"""Print the answers of the commands in this folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from rootle.cli.options import NO_RESULTS, SUCCESS
from rootle.cli.terminal import print_json, warn, write_line, write_lines


def print_answer(
    args: argparse.Namespace,
    answer: object,
    parts: Iterable[Iterable[str]],
    notes: Sequence[str],
    *,
    is_empty: bool,
    if_empty: str = "",
) -> int:
    """Print a record as JSON, or its parts with blank lines between them; return the exit code.

    The notes, and `if_empty` for an empty answer, are printed to standard error unless the output
    is JSON, which contains the notes.
    """
    if args.json:
        print_json(answer)
    else:
        for at, lines in enumerate(parts):
            if at:
                write_line("")
            write_lines(lines)
        for note in notes:
            warn(note)
        if is_empty and if_empty:
            warn(if_empty)
    return NO_RESULTS if is_empty else SUCCESS
