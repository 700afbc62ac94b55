"""Citations of the spans of a result: "path:3-20" for lines, "path#slide-2" for a section."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.serialization.path_text import escape_path, replace_unprintable, short_uri
from rootle.types import CommitFacts, SearchResult, Span


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
    return replace_unprintable(f"{commit.date[:10]} {author}: {commit.subject}")


def result_spans(result: SearchResult) -> tuple[Span, ...]:
    """Return all spans of a result, best first."""
    first = Span(
        result.start_line, result.end_line, result.snippet, result.scope, place=result.place
    )
    return (first, *result.more_spans)
