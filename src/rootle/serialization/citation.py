"""Citations of the spans of a result: "path:3-20" for lines, "path#slide-2" for a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.serialization.path_text import escape_path, replace_unprintable, short_date, short_uri
from rootle.types import ChangedFile, CommitFacts, SearchResult, Span

_MAX_RENAMES: Final = 3


def cite(path: str, spans: Sequence[Span]) -> str:
    """Return a citation of the given spans of a document, with each section only once.

    `App.read` accepts the citation of a single span, even if the path contains unusual characters.
    """
    places = dict.fromkeys(format_place(span) for span in spans)
    sign = "#" if spans and spans[0].place is not None else ":"
    return f"{escape_path(short_uri(path))}{sign}{', '.join(places)}"


def format_place(span: Span) -> str:
    """Return the label of a span's section without control characters, or its lines."""
    # The label comes from the document: a symbol, a sheet, or a file in a commit.
    if span.place is not None:
        return escape_path(span.place)
    return f"{span.start_line}-{span.end_line}"


def describe_commit_briefly(commit: CommitFacts) -> str:
    """Return the date, the name of the author and the subject of a commit, on one line."""
    author = commit.author.partition(" <")[0]
    return replace_unprintable(f"{short_date(commit.date)} {author}: {commit.subject}")


def describe_path(file: ChangedFile) -> str:
    """Return the path of a file in a commit, after "old path → " if the commit renamed it."""
    return f"{file.renamed_from} → {file.path}" if file.renamed_from else file.path


def describe_renames(commit: CommitFacts) -> str:
    """Return a line with the old and the new paths of the files that a commit renamed, or ""."""
    renamed = [describe_path(file) for file in commit.files if file.renamed_from]
    left = len(renamed) - _MAX_RENAMES
    more = f" and {left} more" if left > 0 else ""
    shown = replace_unprintable(", ".join(renamed[:_MAX_RENAMES]))
    return f"renamed: {shown}{more}" if renamed else ""


def result_spans(result: SearchResult) -> tuple[Span, ...]:
    """Return all spans of a result, best first."""
    first = Span(
        result.start_line, result.end_line, result.snippet, result.scope, place=result.place
    )
    return (first, *result.more_spans)
