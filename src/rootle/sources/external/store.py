"""The list of added sources, and the text of their documents, in one SQLite file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

from rootle.errors import IndexStorageError
from rootle.sources.external.records import ExternalDocument
from rootle.sources.masked_sections import mask_sections
from rootle.storage.permissions import PRIVATE_FILE, create_database_file, make_private_dir
from rootle.storage.transaction import write_transaction
from rootle.text.secret_masking import mask_secrets
from rootle.types import EXTERNAL_URI, DocumentSection

FILE_NAME: Final = "documents.db"
_TIMEOUT_S: Final = 30.0
_SCHEMES: Final = ("http://", "https://")
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS sources (
    name TEXT PRIMARY KEY, address TEXT, kind TEXT, options TEXT, weight REAL, added_s REAL,
    read_s REAL, note TEXT);
CREATE TABLE IF NOT EXISTS documents (
    uri TEXT PRIMARY KEY, source TEXT, text TEXT, title TEXT, language TEXT, address TEXT,
    date_s REAL, factor REAL, sections TEXT, digest BLOB, changed_ns INTEGER, masked INTEGER);
CREATE INDEX IF NOT EXISTS by_source ON documents (source);
CREATE TABLE IF NOT EXISTS state (version INTEGER);
"""


# Excludes documents without a source, which may remain if a process was killed while it read a new
# source.
_LISTED: Final = "source IN (SELECT name FROM sources)"


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """An added source."""

    name: str
    address: str  # a URL, or an absolute path
    kind: str
    options: Mapping[str, int]  # limits of a web source: depth, max_pages
    weight: float
    added_s: float
    read_s: float  # Unix time when the documents were last read; 0 if never
    note: str  # why the source was not read completely; "" if it was

    @property
    def is_site(self) -> bool:
        """Return whether the source is a website, whose documents have known addresses."""
        return self.address.startswith(_SCHEMES)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document."""

    uri: str
    source: str
    text: str
    title: str
    language: str
    address: str
    date_s: float | None
    factor: float
    sections: tuple[DocumentSection, ...]
    digest: bytes
    masked: int


class ExternalStore:
    """The added sources of one project. Each call uses a connection of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME

    def exists(self) -> bool:
        """Return whether there are tables. A process that was killed can leave an empty file."""
        try:
            return self.path.stat().st_size > 0
        except OSError:
            return False

    def sources(self) -> list[SourceRecord]:
        """Return the sources, ordered by name."""
        if not self.exists():
            return []
        with self._open() as database:
            rows = database.execute(
                "SELECT name, address, kind, options, weight, added_s, read_s, note "
                "FROM sources ORDER BY name"
            ).fetchall()
            return [_read_record(row) for row in rows]

    def save_source(self, record: SourceRecord) -> None:
        """Add or replace a source, without changing its documents."""
        with self._write() as database:
            database.execute(
                "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(record.name, record.address, record.kind, json.dumps(dict(record.options))),
                    *(record.weight, record.added_s, record.read_s, record.note),
                ),
            )

    def remove_source(self, name: str) -> None:
        """Remove a source with its documents."""
        with self._write() as database:
            database.execute("DELETE FROM sources WHERE name = ?", (name,))
            database.execute("DELETE FROM documents WHERE source = ?", (name,))

    def replace_documents(
        self,
        name: str,
        documents: Iterator[ExternalDocument],
        exceptions: tuple[str, ...],
        *,
        keeps_missing: Callable[[], bool],
    ) -> int:
        """Store the documents of a source with secrets masked; return the number of documents.

        Documents that the source no longer contains are removed, unless `keeps_missing` returns
        True after all documents have been read. Unchanged documents keep their time of change, so
        that they are not indexed again. Each block of documents is read before its transaction
        starts, so that other processes can write meanwhile.
        """
        seen: set[str] = set()
        block: list[tuple[Any, ...]] = []
        for document in documents:
            row = _make_row(name, document, exceptions)
            if row[0] in seen:
                continue
            seen.add(str(row[0]))
            block.append(row)
            if len(block) >= 200:
                self._save(block)
                block = []
        self._save(block)
        if not keeps_missing():
            self._delete_others(name, seen)
        return len(seen)

    def measure(self) -> dict[str, tuple[int, int]]:
        """Return the number of documents of each source, and the number of their characters."""
        if not self.exists():
            return {}
        with self._open() as database:
            rows = database.execute(
                "SELECT source, COUNT(*), SUM(LENGTH(text)) FROM documents GROUP BY source"
            )
            return {str(name): (int(count), int(size)) for name, count, size in rows}

    def list_documents(self) -> list[tuple[str, int, int]]:
        """Return the URI, the number of characters and the time of change of each document."""
        if not self.exists():
            return []
        with self._open() as database:
            return database.execute(
                f"SELECT uri, LENGTH(text), changed_ns FROM documents WHERE {_LISTED} ORDER BY uri"
            ).fetchall()

    def token(self) -> str:
        """Return a string that changes whenever the documents change."""
        if not self.exists():
            return "0"
        with self._open() as database:
            return str(
                database.execute("SELECT COALESCE(MAX(version), 0) FROM state").fetchone()[0]
            )

    def read(self, uri: str) -> StoredDocument | None:
        """Return a document; None if it is not stored or its source is not listed."""
        if not self.exists():
            return None
        with self._open() as database:
            row = database.execute(
                "SELECT uri, source, text, title, language, address, date_s, factor, sections, "
                f"digest, masked FROM documents WHERE uri = ? AND {_LISTED}",
                (uri,),
            ).fetchone()
            return None if row is None else _read_document(row)

    def facts(self, uris: Sequence[str]) -> dict[str, tuple[str, str, float]]:
        """Return the source, the address and the factor of each of these documents, by URI."""
        if not (uris and self.exists()):
            return {}
        marks = ", ".join("?" * len(uris))
        with self._open() as database:
            rows = database.execute(
                f"SELECT uri, source, address, factor FROM documents WHERE uri IN ({marks})",
                list(uris),
            ).fetchall()
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def find_uri(self, address: str) -> str | None:
        """Return the URI of the document that was downloaded from an address."""
        if not self.exists():
            return None
        with self._open() as database:
            rows = database.execute(
                "SELECT uri, source FROM documents WHERE address = ? ORDER BY uri", (address,)
            ).fetchall()
        sites = {record.name for record in self.sources() if record.is_site} if rows else ()
        return next((str(uri) for uri, source in rows if source in sites), None)

    def delete(self) -> bool:
        """Delete the file; return False if there was none."""
        existed = self.path.is_file()
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        return existed

    def _save(self, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        with self._write() as database:
            database.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (uri) DO UPDATE SET text = excluded.text, title = excluded.title, "
                "language = excluded.language, address = excluded.address, "
                "date_s = excluded.date_s, factor = excluded.factor, "
                "sections = excluded.sections, digest = excluded.digest, "
                "changed_ns = excluded.changed_ns, masked = excluded.masked "
                "WHERE documents.digest <> excluded.digest",
                rows,
            )

    def _delete_others(self, name: str, seen: set[str]) -> None:
        with self._write() as database:
            found = database.execute("SELECT uri FROM documents WHERE source = ?", (name,))
            gone = [(uri,) for (uri,) in found if uri not in seen]
            database.executemany("DELETE FROM documents WHERE uri = ?", gone)

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        if not self.folder.is_dir():
            make_private_dir(self.folder)
        create_database_file(self.path, PRIVATE_FILE)
        with self._open() as database:
            if not database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                # Create all tables in one step, so that a killed process leaves all of them or
                # none.
                database.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            with write_transaction(database):
                yield database
                # The version is at least the current time, so that a store that was deleted and
                # created again gets a new token.
                database.execute(
                    "INSERT INTO state SELECT MAX(COALESCE(MAX(version), 0) + 1, ?) FROM state",
                    (time.time_ns(),),
                )
                database.execute(
                    "DELETE FROM state WHERE version < (SELECT MAX(version) FROM state)"
                )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(
                sqlite3.connect(self.path, timeout=_TIMEOUT_S, isolation_level=None)
            ) as database:
                yield database
        except sqlite3.Error as error:
            if "disk is full" in str(error):
                raise IndexStorageError(
                    f"the disk of the added sources at {self.path} is full; free up space or use "
                    "--index-dir"
                ) from error
            raise IndexStorageError(
                f"the added sources at {self.path} cannot be used: {error}; "
                "`rootle clear --sources` deletes them"
            ) from error


def _read_record(row: tuple[Any, ...]) -> SourceRecord:
    """Return a row as a record. Raise sqlite3.Error if it is damaged."""
    name, address, kind, options, *numbers, note = row
    try:
        limits = {str(key): int(value) for key, value in json.loads(options).items()}
        weight, added_s, read_s = map(float, numbers)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise sqlite3.DatabaseError(f"the list of sources is damaged: {error}") from error
    return SourceRecord(
        str(name), str(address), str(kind), limits, weight, added_s, read_s, str(note)
    )


def _read_document(row: tuple[Any, ...]) -> StoredDocument:
    """Return a row as a document. Raise sqlite3.Error if it is damaged."""
    found, source, text, title, language, address, date_s, factor, labels, digest, masked = row
    try:
        sections = tuple(DocumentSection(*item) for item in json.loads(labels))
    except (ValueError, TypeError, RecursionError) as error:
        raise sqlite3.DatabaseError(f"the sections of {found} are damaged: {error}") from error
    return StoredDocument(
        *(found, source, text, title, language, address, date_s, factor, sections),
        *(digest, masked),
    )


def make_uri(source: str, path: str) -> str:
    """Return the URI of a document."""
    return f"{EXTERNAL_URI}{source}/{path.lstrip('/')}"


def _make_row(
    name: str, document: ExternalDocument, exceptions: tuple[str, ...]
) -> tuple[Any, ...]:
    text = mask_secrets(document.text, exceptions)
    title = mask_secrets(document.title, exceptions)
    masked = mask_sections(document.sections, document.text, text.text, exceptions)
    sections = json.dumps([astuple(one) for one in masked])
    values = (
        text.text,
        title.text,
        document.language,
        document.address,
        document.date_s,
        document.factor,
        sections,
    )
    digest = hashlib.blake2b(repr(values).encode("utf-8", "replace"), digest_size=16).digest()
    uri = make_uri(name, document.path)
    return uri, name, *values, digest, time.time_ns(), text.count + title.count
