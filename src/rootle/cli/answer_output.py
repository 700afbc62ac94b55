"""Compute the answer of a command for a folder, and print it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rootle.app import App
from rootle.cli.context import open_app_from, open_for_question, refresh_index
from rootle.cli.options import NO_RESULTS, SUCCESS
from rootle.cli.terminal import print_json, warn, warn_all, write_line, write_lines


@dataclass(frozen=True, slots=True)
class AnswerOutput:
    """The output of a command."""

    record: object  # the answer that --json prints
    parts: Iterable[Iterable[str]]  # the lines of each part; blank lines separate the parts
    notes: Sequence[str]  # printed to standard error; also in the record
    is_empty: bool
    if_empty: str = ""  # a further note if the answer is empty
    has_notes_first: bool = False  # the notes are printed before the parts, not after them
    summary: str = ""  # a further note if the answer is not empty


def answer_with_index(
    args: argparse.Namespace, ask: Callable[[App, argparse.Namespace], AnswerOutput]
) -> int:
    """Update the index, print the answer and return the exit code."""
    with open_for_question(args) as app:
        refresh_index(app)
        output = ask(app, args)
    return _print(args, output)


def answer_without_index(
    args: argparse.Namespace, ask: Callable[[App, argparse.Namespace], AnswerOutput]
) -> int:
    """Print the answer and return the exit code, without updating the index first."""
    with open_app_from(args) as app:
        output = ask(app, args)
    return _print(args, output)


def _print(args: argparse.Namespace, output: AnswerOutput) -> int:
    if args.json:
        print_json(output.record)
    else:
        if output.has_notes_first:
            warn_all(output.notes)
        for at, lines in enumerate(output.parts):
            if at:
                write_line("")
            write_lines(lines)
        if not output.has_notes_first:
            warn_all(output.notes)
        if last := output.if_empty if output.is_empty else output.summary:
            warn(last)
    return NO_RESULTS if output.is_empty else SUCCESS
