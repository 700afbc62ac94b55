"""Compute the answer of a command for a folder, and print it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rootle.app import App
from rootle.cli.context import open_app_from, open_for_question, refresh_index
from rootle.cli.options import NO_RESULTS, SUCCESS
from rootle.cli.terminal import print_json, warn_all, write_lines


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
    # Whether the lines are only references, such as paths and commits. On a terminal, they are then
    # always cut to its width; other lines only if the answer is shortened.
    has_references: bool = False
    # Shorter versions of the parts, longest first. On a terminal, the first one that fits on one
    # screen is printed. Each version comes with the note that says how to see everything.
    shorter: Iterable[tuple[str, Iterable[Iterable[str]]]] = ()


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
        _print_text(output)
    return NO_RESULTS if output.is_empty else SUCCESS


def _print_text(output: AnswerOutput) -> None:
    last = output.if_empty if output.is_empty else output.summary
    ends = [last] if last else []
    lines: Iterable[str] = _join(output.parts)
    if (output.shorter or output.has_references) and sys.stdout.isatty():
        how, lines = _fit_on_screen(output, [*output.notes, *ends])
        ends += [how] if how else []
    if output.has_notes_first:
        warn_all(output.notes)
    write_lines(lines)
    if not output.has_notes_first:
        warn_all(output.notes)
    warn_all(ends)


def _join(parts: Iterable[Iterable[str]]) -> Iterator[str]:
    for at, lines in enumerate(parts):
        if at:
            yield ""
        yield from lines


def _fit_on_screen(output: AnswerOutput, messages: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return a message that says how to see everything, and the lines for one screen.

    The message is "" if the lines are the whole answer. The lines of a shortened answer, and
    references, are cut to the width of the terminal, but not within a path at their beginning.
    """
    from rootle.cli.results.screen import fit_screen, screen_rows
    from rootle.cli.terminal import fit_reference, printable

    def versions() -> Iterator[tuple[str, Sequence[str]]]:
        whole = [printable(line) for line in _join(output.parts)]
        yield "", [fit_reference(line) for line in whole] if output.has_references else whole
        for how, parts in output.shorter:
            yield how, [fit_reference(printable(line)) for line in _join(parts)]

    return fit_screen(versions(), screen_rows(messages))
