"""Find the author of most of the commits that changed a place."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rootle.history.commit_search import CommitSearch
from rootle.history.names.name_history import NameChanges, count_commits
from rootle.history.names.unindexed_commits import MAX_HEADERS

_MAX_AUTHORS: Final = 4


def select_main_author(found: NameChanges, name: str, commits: CommitSearch) -> NameChanges:
    """Return the commits of the main author, with a note that counts the commits of each author.

    The authors of commits that are not indexed are read from git. If this fails, these commits are
    not counted.
    """
    headers = commits.updates.read_headers(found.unindexed[:MAX_HEADERS])
    own = [change.state.author.partition(" <")[0] for change in found.commits]
    authors = [*own, *(one.author.partition(" <")[0] for one in headers.values())]
    if not authors:
        return found
    counts = Counter(authors).most_common()
    main = counts[0][0]
    shown = ", ".join(f"{author} {count:,}" for author, count in counts[:_MAX_AUTHORS])
    more = len(counts) - _MAX_AUTHORS
    count = count_commits(len(authors))
    whose = "author of the only commit" if len(authors) == 1 else f"authors of the {count}"
    note = (
        f"{whose} with changes in {name}: {shown}"
        f"{f', and {more} others' if more > 0 else ''}; counted by commits"
    )
    listed = [one for one, author in zip(found.commits, own, strict=True) if author == main]
    if listed:
        note += f". Those of {main} are listed, newest first"
    return NameChanges(listed, (note, *found.notes[1:]), found.unindexed)
