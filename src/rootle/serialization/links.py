"""Format the answers of `App.links` and `App.drift` as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rootle.serialization.citation import describe_commit_briefly
from rootle.serialization.path_text import cut_line, escape_path, short_hash
from rootle.serialization.symbols import definition_lines, describe_kind
from rootle.types import DriftAnswer, DriftReport, PlaceLinks, SymbolUse

_MAX_TEXT_CHARS: Final = 120


def link_lines(links: PlaceLinks) -> Iterator[str]:
    """Yield the links of a place, grouped by kind; kinds without links are left out."""
    if links.definitions:
        yield "Defines what this section names:"
        yield from (f"  {line}" for line in definition_lines(links.definitions))
    if links.documents:
        yield "Documents:"
    for mention in links.documents:
        yield f"  {escape_path(mention.path)}:{mention.line} ({mention.name})  {mention.text}"
    at_least = "" if links.is_complete else "at least "
    for title, uses, total in (
        ("Tests", links.tests, links.total_tests),
        ("Uses", links.uses, links.total_uses),
    ):
        if uses:
            yield f"{title} ({len(uses)} of {at_least}{total}):"
            yield from map(_use_line, uses)
    if links.commits:
        yield "Last commits of the file:" if links.commits_are_of_file else "Last commits:"
    for commit in links.commits:
        yield f"  {short_hash(commit.hash)} {describe_commit_briefly(commit)}"


def _use_line(use: SymbolUse) -> str:
    kind = describe_kind(use)
    return f"  {escape_path(use.path)}:{use.line} ({kind})  {cut_line(use.text, _MAX_TEXT_CHARS)}"


def describe_no_drift(answer: DriftAnswer) -> str:
    """Return the text for an answer without reports."""
    if not answer.names:
        return f"nothing was checked: no name of code was found {_describe_checked(answer)}"
    if not answer.is_complete:
        return (
            f"no outdated name was found, but the check is incomplete {_describe_checked(answer)}"
        )
    return f"no name is gone {_describe_checked(answer)}"


def describe_drift(answer: DriftAnswer) -> str:
    """Return the last line of an answer with reports: their number, and what was checked."""
    count = len(answer.reports)
    noun = "name is" if count == 1 else "names are"
    least = "" if answer.is_complete else "at least "
    return f"{least}{count} {noun} gone or changed {_describe_checked(answer)}"


def _describe_checked(answer: DriftAnswer) -> str:
    return f"(names checked: {answer.names}, texts read: {answer.texts})"


def drift_lines(report: DriftReport) -> Iterator[str]:
    """Yield the lines of a report.

    They are its place and name, its evidence, the new name if it is known, the commit and the text.
    """
    place = (
        f"{escape_path(report.path)}:{report.line}" if report.path else f"memory {report.memory}"
    )
    state = "changed" if report.is_changed else "gone"
    yield f"{place}  {report.name} is {state} ({report.kind} in a {report.origin})"
    yield f"  {report.evidence}"
    if report.replacement:  # on a line of its own, because a terminal cuts long lines
        yield f"  now {cut_line(report.replacement, _MAX_TEXT_CHARS)}"
    if report.commit is not None:
        commit = report.commit
        yield f"  {state} by {short_hash(commit.hash)} {describe_commit_briefly(commit)}"
    yield f"  | {cut_line(report.text, _MAX_TEXT_CHARS)}"
