"""The dates of the last commits of files, and records of how far git history was read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

from rootle.index.local.damaged_rows import verify_rows
from rootle.index.local.manifest import Manifest

# Names of values in the table `meta`.
_RECORDS: Final = "histories"
VERSION: Final = "history_version"  # changes whenever dates change between two updates


class CommitDate(NamedTuple):
    """The date and author of the last commit that changed a file."""

    is_read: bool  # whether the history has been read far enough for this file
    seconds: int | None  # Unix time of its last commit; None if not read, or not in the history
    author: str


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """The part of the history of a repository that has been read.

    The stored dates are those at the commit `head`. History is read backwards from the commit
    `walk_head`, and `walk_position` commits have been read so far. A file that has no date yet was
    last changed before these commits.
    """

    head: str  # "" if git cannot be used
    facts: str  # as returned by `digest_history_facts`
    walk_head: str = ""  # "" if the history is read as far as possible
    walk_position: int = 0
    is_cut_short: bool = False  # the clone lacks a part of the history

    @property
    def is_walking(self) -> bool:
        """Whether a part of the history remains to be read."""
        return bool(self.walk_head)


class CommitDates:
    """The dates of the committed files of several repositories.

    A repository is identified by its folder relative to the root: "" for the root itself, else a
    path that ends in "/". Paths of files are relative to their repository. The caller opens the
    transactions.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._manifest = Manifest(connection)

    def records(self) -> dict[str, HistoryRecord]:
        """Return the record of each repository."""
        return parse_records(self._manifest.value)

    def set_records(self, records: Mapping[str, HistoryRecord]) -> None:
        """Replace all records, and delete the dates of repositories without one."""
        for repository in self.records().keys() - records.keys():
            self.replace(repository, ())
        facts = {repository: asdict(record) for repository, record in records.items()}
        self._manifest.set_value(_RECORDS, json.dumps(facts, sort_keys=True))

    def increment_version(self) -> None:
        """Record that dates have changed although the index was not updated."""
        self._manifest.set_value(VERSION, str(int(self._manifest.value(VERSION) or 0) + 1))

    def replace(self, repository: str, paths: Iterable[str]) -> None:
        """Replace the committed files of a repository, and mark all their dates as unread."""
        place = os.fsencode(repository)
        self._connection.execute("DELETE FROM commit_dates WHERE repository = ?", (place,))
        self._connection.executemany(
            "INSERT INTO commit_dates VALUES (?, ?, 0, NULL, '')",
            ((place, os.fsencode(path)) for path in paths),
        )

    def retain(self, repository: str, paths: Collection[str]) -> None:
        """Delete the rows of files that are no longer committed, and add rows for new files."""
        place, known = os.fsencode(repository), self.find(repository).keys()
        self._connection.executemany(
            "DELETE FROM commit_dates WHERE repository = ? AND path = ?",
            ((place, os.fsencode(path)) for path in known - set(paths)),
        )
        self._connection.executemany(
            "INSERT INTO commit_dates VALUES (?, ?, 0, NULL, '')",
            ((place, os.fsencode(path)) for path in set(paths) - known),
        )

    def put(self, repository: str, dates: Mapping[str, CommitDate], *, overwrite: bool) -> None:
        """Set dates of committed files. Without `overwrite`, set only missing dates."""
        self._connection.executemany(
            "UPDATE commit_dates SET is_read = ?, seconds = ?, author = ? "
            f"WHERE repository = ? AND path = ? {'' if overwrite else 'AND NOT is_read'}",
            ((*date, os.fsencode(repository), os.fsencode(path)) for path, date in dates.items()),
        )

    def end(self, repository: str) -> None:
        """Mark the dates of all files as read, because the whole history was read."""
        self._connection.execute(
            "UPDATE commit_dates SET is_read = 1 WHERE repository = ?", (os.fsencode(repository),)
        )

    def unread(self, repository: str) -> set[str]:
        """Return the files whose last commit is still to be read."""
        rows = self._connection.execute(
            "SELECT path FROM commit_dates WHERE repository = ? AND NOT is_read",
            (os.fsencode(repository),),
        )
        return {os.fsdecode(row[0]) for row in rows}

    def find(self, repository: str, only: Collection[str] = ()) -> dict[str, CommitDate]:
        """Return dates by path: of the files in `only`, or of all files if it is empty."""
        place = os.fsencode(repository)
        query = (
            "SELECT path, is_read, seconds, author, checksum FROM commit_dates WHERE repository = ?"
        )
        if not only:
            rows = list(self._connection.execute(query, (place,)))
        else:
            query += " AND path = ?"
            found = (self._connection.execute(query, (place, os.fsencode(path))) for path in only)
            rows = [row for cursor in found for row in cursor]
        return {
            os.fsdecode(path): CommitDate(bool(is_read), seconds, author)
            for path, is_read, seconds, author, _ in verify_rows(rows)
        }


def parse_records(value: Callable[[str], str | None]) -> dict[str, HistoryRecord]:
    """Return the stored records. `value` returns a value of the table `meta` by name."""
    facts = json.loads(value(_RECORDS) or "{}")
    return {repository: HistoryRecord(**fields) for repository, fields in facts.items()}


def is_reading_history(value: Callable[[str], str | None]) -> bool:
    """Return whether a part of a git history remains to be read."""
    return any(record.is_walking for record in parse_records(value).values())
