"""The manifest: the indexed files with their states, and the generation of the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from rootle.index.local.damaged_rows import DamagedRowError, verify_rows
from rootle.index.reader import TEXTLESS, FileState
from rootle.types import FILES

_FIRST_GENERATION: Final = 0  # the generation of an empty index

_COLUMNS: Final = (
    "id, path, size, mtime_ns, seen_ns, digest, skip, language, encoding, chars, "
    "skipped_chars, committed_s, is_dirty, generation, author, source, kind, title, ctime_ns, "
    "masked"
)
_FIELDS: Final = _COLUMNS.split(", ")[2:]  # all columns except the id and the path

# Names of values about the initial indexing run: the expected number of bytes, and the generation
# after which the run has only added files. The second value is empty if the run has also done
# something else.
BYTES_EXPECTED: Final = "bytes_expected"
ONLY_ADDED_SINCE: Final = "only_added_since"
# Not empty if content was written but its commit dates were not updated, for example after a crash.
DATES_DUE: Final = "dates_due"


class Manifest:
    """The tables `meta`, `files` and `removed`. The caller opens the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def value(self, name: str) -> str | None:
        """Return a value of the table `meta`; None if it is not set."""
        rows = self._connection.execute(
            "SELECT name, value, checksum FROM meta WHERE name = ?", (name,)
        )
        return next((str(value) for _, value, _ in verify_rows(rows)), None)

    def set_value(self, name: str, value: str) -> None:
        """Set a value of the table `meta`."""
        self._connection.execute(
            "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value)
        )

    def generation(self) -> int:
        """Return the current generation."""
        return int(self.value("generation") or _FIRST_GENERATION)

    def increment_generation(self, *, words_changed: bool = True) -> int:
        """Increment the generation and return it."""
        generation = self.generation() + 1
        self.set_value("generation", str(generation))
        if words_changed:
            self.set_value("words_generation", str(generation))
        return generation

    def raise_generation(self, generation: int) -> None:
        """Start the generations of this database after those of an earlier database.

        Derived indexes and replicas of earlier generations are then not used. The records of
        removed files are deleted.
        """
        for name in ("generation", "floor", "removals_known_since"):
            self.set_value(name, str(generation))
        self._connection.execute("DELETE FROM removed")

    def words_generation(self) -> int:
        """Return the last generation that changed words, not only vectors."""
        return int(self.value("words_generation") or self.generation())

    def files(self) -> list[FileState]:
        """Return all files, skipped ones included."""
        return self._select("", ())

    def file_at(self, path: str) -> FileState | None:
        """Return the indexed document with this path or URI, None if there is none."""
        found = self._select("WHERE path = ? AND skip IS NULL", (os.fsencode(path),))
        return found[0] if found else None

    def unindexed_files(self) -> list[FileState]:
        """Return the files whose text is not indexed, or is indexed only up to a limit."""
        found = self._select("WHERE skip IS NOT NULL OR skipped_chars > 0", ())
        return [state for state in found if state.skip not in TEXTLESS]

    def paths_with_encoding(self, encoding: str) -> list[tuple[int, str]]:
        """Return the ids and the paths of the files that were read with an encoding."""
        rows = self._connection.execute(
            "SELECT id, path FROM files WHERE encoding = ? AND skip IS NULL", (encoding,)
        )
        return [(row[0], os.fsdecode(row[1])) for row in rows]

    def authors(self) -> list[tuple[int, str]]:
        """Return the ids and the authors of the indexed documents that have an author."""
        return self._connection.execute(
            "SELECT id, author FROM files WHERE author != '' AND skip IS NULL"
        ).fetchall()

    def paths(self) -> list[str]:
        """Return the paths of the files of the folder, skipped ones included."""
        rows = self._connection.execute("SELECT path FROM files WHERE source = ?", (FILES,))
        return [os.fsdecode(row[0]) for row in rows]

    def documents_by_source(self) -> dict[str, int]:
        """Map the name of each source to the number of its indexed documents."""
        rows = self._connection.execute(
            "SELECT source, count(*) FROM files WHERE skip IS NULL GROUP BY source"
        )
        return dict(rows.fetchall())

    def file_ids_by_path(self) -> list[int]:
        """Return the ids of all files in the order of their paths."""
        # The first statement reads only the database index on paths. If this index is damaged, the
        # sets of ids differ.
        found = self._ids("SELECT id FROM files ORDER BY path, source")
        if sorted(found) != self._ids("SELECT id FROM files NOT INDEXED ORDER BY id"):
            raise DamagedRowError("a file is missing")
        return found

    def _ids(self, statement: str) -> list[int]:
        return [row[0] for row in self._connection.execute(statement)]

    def count(self) -> int:
        """Return the number of files, skipped ones included."""
        return int(self._connection.execute("SELECT count(*) FROM files").fetchone()[0])

    def bytes_read(self, generation: int | None = None) -> int:
        """Return the total size in bytes of the files that were read up to a generation.

        By default, this is the current generation.
        """
        row = self._connection.execute(
            "SELECT coalesce(sum(size), 0) FROM files WHERE digest IS NOT NULL AND generation <= ?",
            (self.generation() if generation is None else generation,),
        ).fetchone()
        return int(row[0])

    def files_by_id(self, ids: Iterable[int]) -> dict[int, FileState]:
        """Return files by id, without unknown ids."""
        found: dict[int, FileState] = {}
        wanted = [int(file_id) for file_id in ids]
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            marks = ",".join("?" * len(some))
            found.update((f.id, f) for f in self._select(f"WHERE id IN ({marks})", some))
        return found

    def find_by_digests(self, digests: Iterable[bytes]) -> list[FileState]:
        """Return the indexed files whose content has one of the digests."""
        wanted = list(digests)
        marks = ",".join("?" * len(wanted))
        return self._select(f"WHERE digest IN ({marks}) AND skip IS NULL", wanted)

    def files_at(self, paths: Iterable[str]) -> list[FileState]:
        """Return the states of the paths that are known."""
        found: list[FileState] = []
        wanted = [os.fsencode(path) for path in paths]
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            found += self._select(f"WHERE path IN ({','.join('?' * len(some))})", some)
        return found

    def files_with_endings(self, endings: Iterable[str]) -> list[FileState]:
        """Return the files with one of these name endings, ignoring case, skipped ones included."""
        patterns = [f"%{ending}" for ending in endings]
        test = " OR ".join("CAST(path AS TEXT) LIKE ?" for _ in patterns)
        return self._select(f"WHERE {test}", patterns)

    def skip_counts(self) -> dict[str | None, int]:
        """Return the number of files by skip reason, None for indexed files."""
        rows = self._connection.execute("SELECT skip, count(*) FROM files GROUP BY skip")
        return dict(rows.fetchall())

    def list_changes_since(self, generation: int) -> tuple[list[FileState], list[int]]:
        """Return the files that changed after a generation, and the ids of removed files."""
        changed = self._select("WHERE generation > ?", (generation,))
        removed = self._connection.execute(
            "SELECT file_id FROM removed WHERE generation > ?", (generation,)
        )
        return changed, [row[0] for row in removed]

    def _select(self, where: str, values: Sequence[object]) -> list[FileState]:
        rows = self._connection.execute(f"SELECT {_COLUMNS}, checksum FROM files {where}", values)
        return [FileState(row[0], os.fsdecode(row[1]), *row[2:-1]) for row in verify_rows(rows)]

    def put(self, state: FileState) -> int:
        """Store the state of a file and return its id. The id 0 inserts a new file."""
        values = (
            os.fsencode(state.path),
            *(getattr(state, name) for name in _FIELDS),
        )
        marks = ",".join("?" * (len(values) + 1))
        cursor = self._connection.execute(
            f"INSERT OR REPLACE INTO files ({_COLUMNS}) VALUES ({marks})",
            (state.id or None, *values),
        )
        return int(cursor.lastrowid or 0)

    def touch(self, file_id: int, *, size: int, mtime_ns: int, ctime_ns: int, seen_ns: int) -> None:
        """Update the size and times of a file with unchanged content."""
        self._connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, seen_ns = ? WHERE id = ?",
            (size, mtime_ns, ctime_ns, seen_ns, file_id),
        )

    def mark_changed(self, file_ids: Iterable[int], generation: int) -> None:
        """Mark files as changed, so that the derived indexes process them again after a crash."""
        self._connection.executemany(
            "UPDATE files SET generation = ? WHERE id = ?",
            ((generation, file_id) for file_id in file_ids),
        )

    def set_history(self, rows: Iterable[tuple[int | None, str, bool, int]]) -> None:
        """Set commit dates and authors, given as (commit date, author, is dirty, file id)."""
        self._connection.executemany(
            "UPDATE files SET committed_s = ?, author = ?, is_dirty = ? WHERE id = ?", rows
        )

    def remove(self, file_id: int, generation: int) -> None:
        """Delete a file and record its removal."""
        self._connection.execute("DELETE FROM files WHERE id = ?", (file_id,))
        self._connection.execute(
            "INSERT OR REPLACE INTO removed VALUES (?, ?)", (file_id, generation)
        )

    def prune_removals(self, generation: int) -> None:
        """Delete the records of removals up to a generation that every index has processed."""
        newest = self._connection.execute(
            "SELECT max(generation) FROM removed WHERE generation <= ?", (generation,)
        ).fetchone()[0]
        if newest is not None:
            self._connection.execute("DELETE FROM removed WHERE generation <= ?", (generation,))
            self.set_value("removals_known_since", str(newest))
