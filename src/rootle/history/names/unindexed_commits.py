"""Describe commits that git lists for a definition, a file or a tag, but that are not indexed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.history.commit_search import CommitMetadata
from rootle.history.names.name_history import count_commits
from rootle.history.names.name_questions import NameHistoryQuestion
from rootle.history.names.place_changes import ChangedPlace
from rootle.serialization.path_text import replace_unprintable, short_date, short_hash
from rootle.serialization.timestamps import format_commit_time
from rootle.types import COMMIT_MESSAGE, COMMIT_URI, CommitFacts, FileMetadata, SearchResult

MAX_HEADERS: Final = 3_000  # commits whose metadata are read; git receives their hashes
# Why commits are not searched. Commits of other branches may be indexed for another work tree.
NOT_SEARCHED: Final = "not in the history of HEAD, or not indexed"
_MAX_SHOWN: Final = 3


def describe_header(header: CommitMetadata) -> str:
    """Return the hash, the date, the author and the subject of a commit in one line."""
    day = short_date(format_commit_time(header.seconds))
    author, subject = header.author.partition(" <")[0], header.message.partition("\n")[0]
    return replace_unprintable(f"{short_hash(header.sha)} {day} {author}: {subject}")


def result_of_header(header: CommitMetadata) -> SearchResult:
    """Return the result for a commit that is not indexed: its message, without changed files."""
    date, lines = format_commit_time(header.seconds), header.message.split("\n")
    return SearchResult(
        file_path=f"{COMMIT_URI}{header.sha}",
        start_line=1,
        end_line=len(lines),
        snippet=header.message,
        score=1.0,
        source="sparse",
        metadata=FileMetadata(date or None, "text", len(lines)),
        place=COMMIT_MESSAGE,
        commit=CommitFacts(header.sha, date, header.author, lines[0], may_lack_files=True),
        kind="history",
    )


def describe_unlisted(
    question: NameHistoryQuestion, place: ChangedPlace | None, hashes: Sequence[str]
) -> tuple[str, ...]:
    """Return a note about commits of a period that the index lacks.

    `hashes` are the commits that changed the files of the place, or all commits of the period if
    `place` is None.
    """
    if not hashes:
        return ()
    count, verb = count_commits(len(hashes)), "is" if len(hashes) == 1 else "are"
    where = f"{verb} {NOT_SEARCHED}"
    if place is None:
        return (f"not searched: {count} of this period {where}",)
    if place.is_file:
        return (f"{count} of this period with changes in {place.describe(question.name)} {where}",)
    shown = ", ".join(map(short_hash, hashes[:_MAX_SHOWN]))
    more = f" and {len(hashes) - _MAX_SHOWN} more" if len(hashes) > _MAX_SHOWN else ""
    return (
        f"{count} of this period with changes in {', '.join(place.paths)} {where}, and may have "
        f"changed {question.name}: {shown}{more}",
    )


def describe_unindexed(question: NameHistoryQuestion, count: int) -> str:
    """Return a note about the commits that changed a place if none of them is indexed."""
    order = "oldest" if question.oldest_first else "newest"
    return (
        f"git lists {count_commits(count)} with changes in {question.name}, {order} first, and "
        "none of them is indexed"
    )
