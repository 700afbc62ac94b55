"""Describe commits that git lists for a definition, a file or a tag, but that are not indexed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rootle.history.commit_search import CommitMetadata
from rootle.history.names.name_history import count_commits
from rootle.history.names.name_questions import NameHistoryQuestion
from rootle.serialization.path_text import replace_unprintable, short_date, short_hash
from rootle.serialization.timestamps import format_commit_time

MAX_HEADERS: Final = 3_000  # commits whose metadata are read; git receives their hashes
_MAX_SHOWN: Final = 3


def describe_header(header: CommitMetadata) -> str:
    """Return the hash, the date, the author and the subject of a commit in one line."""
    day = short_date(format_commit_time(header.seconds))
    author, subject = header.author.partition(" <")[0], header.message.partition("\n")[0]
    return replace_unprintable(f"{short_hash(header.sha)} {day} {author}: {subject}")


def describe_unindexed(
    question: NameHistoryQuestion, hashes: Sequence[str], headers: Mapping[str, CommitMetadata]
) -> tuple[str, ...]:
    """Return notes about the commits that changed a place if none of them is indexed.

    `hashes` are those of the commits, newest first, and `headers` the metadata that are known.
    """
    ordered = hashes[::-1] if question.oldest_first else hashes
    order = "oldest" if question.oldest_first else "newest"
    known = [headers[sha] for sha in ordered if sha in headers][:_MAX_SHOWN]
    note = (
        f"git lists {count_commits(len(hashes))} with changes in {question.name}, and none of them "
        "is indexed"
    )
    if not known:
        return (note,)
    return (f"{note}; the {order} first:", *map(describe_header, known))
