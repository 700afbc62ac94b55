"""The list of images and their vectors, in a separate SQLite database in the index directory.

The vectors are identified by the content of the image and the model, so they survive a rebuild of
the index, and a moved image is not embedded again.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from rootle.errors import IndexStorageError
from rootle.index.images import IMAGES_DIR
from rootle.index.images.image_vectors import ImageVectors
from rootle.protocols import Vector
from rootle.storage.permissions import create_database_file, file_mode, make_private_dir
from rootle.storage.transaction import write_transaction
from rootle.storage.user_version import read_user_version, write_user_version

_NAME: Final = "images-1.db"  # a new format gets a new name
_BUSY_TIMEOUT_S: Final = 5.0
# A row of `vectors` without a vector means that the model cannot read the image.
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS images (
    path BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    digest BLOB, is_suitable INTEGER NOT NULL, attempts INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    digest BLOB NOT NULL, model TEXT NOT NULL, vector BLOB, PRIMARY KEY (digest, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
    model TEXT PRIMARY KEY, reason TEXT NOT NULL, retry_at_s REAL NOT NULL
) WITHOUT ROWID;
"""
_COLUMNS: Final = "path, size, mtime_ns, ctime_ns, width, height, digest, is_suitable, attempts"
_EMBEDDED: Final = (
    "images JOIN vectors ON images.digest = vectors.digest AND model = ? AND vector IS NOT NULL"
)
_UNUSED: Final = "model != ? OR digest NOT IN (SELECT digest FROM images WHERE digest IS NOT NULL)"


class ImageRow(NamedTuple):
    """An image file; `digest` is None until it has been read."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    width: int = 0
    height: int = 0
    digest: bytes | None = None
    is_suitable: bool = True  # whether it is an image of a suitable size
    attempts: int = 0  # number of failed attempts to embed it

    def has_state_of(self, other: ImageRow) -> bool:
        """Return whether both rows describe the same state of a file."""
        return self[:4] == other[:4]


class ImageCounts(NamedTuple):
    """The number of embedded images, and of all images that the model can read."""

    embedded: int
    total: int


class EmbeddingFailure(NamedTuple):
    """A failed attempt: its reason, and the time of the next attempt."""

    reason: str
    retry_at_s: float


class ImageStore:
    """The images of one index. Each method opens the database; safe to use from several threads.

    Reading a missing database is like reading an empty one. Every method raises IndexStorageError
    if the database is damaged or cannot be used.
    """

    def __init__(self, index_dir: Path) -> None:
        self.folder = index_dir / IMAGES_DIR
        self._lock = threading.Lock()
        self._loaded: tuple[tuple[object, ...], ImageVectors] | None = None

    def rows(self) -> dict[str, ImageRow]:
        """Return all known images by path."""
        with self._reading() as connection:
            found = _select(connection, f"SELECT {_COLUMNS} FROM images", ())
        return {row.path: row for row in map(_to_row, found)}

    def update(self, changed: Iterable[ImageRow], removed: Collection[str] = ()) -> None:
        """Add or replace the `changed` images, and delete those with the `removed` paths."""
        values = [(os.fsencode(row.path), *row[1:]) for row in changed]
        with self._writing() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO images ({_COLUMNS}) VALUES (?{', ?' * 8})",
                values,
            )
            connection.executemany(
                "DELETE FROM images WHERE path = ?", [(os.fsencode(path),) for path in removed]
            )

    def missing(self, model: str) -> list[ImageRow]:
        """Return the images that have not been embedded with a model yet.

        Images that have failed more often come later, so that they do not block other images.
        """
        with self._reading() as connection:
            found = _select(
                connection,
                f"SELECT {_COLUMNS} FROM images WHERE is_suitable AND NOT EXISTS ("
                "SELECT 1 FROM vectors WHERE vectors.digest = images.digest AND model = ?"
                ") ORDER BY attempts, path",
                (model,),
            )
        return list(map(_to_row, found))

    def has_content(self, digest: bytes, model: str) -> bool:
        """Return whether images with this digest were embedded with a model, or refused by it."""
        with self._reading() as connection:
            sql = "SELECT 1 FROM vectors WHERE digest = ? AND model = ?"
            return bool(_select(connection, sql, (digest, model)))

    def put_vector(self, digest: bytes, model: str, vector: Vector | None) -> None:
        """Store the vector of images with this digest; None if the model cannot read them."""
        blob = None if vector is None else vector.astype("<f4").tobytes()
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (digest, model, blob)
            )

    def exists(self) -> bool:
        """Return whether images have been listed."""
        return os.path.exists(self.folder / _NAME)

    def is_prunable(self, model: str) -> bool:
        """Return whether `prune` would delete a vector."""
        with self._reading() as connection:
            return bool(
                _select(connection, f"SELECT 1 FROM vectors WHERE {_UNUSED} LIMIT 1", (model,))
            )

    def prune(self, model: str) -> None:
        """Delete the vectors and failures of other models, and the vectors that no image needs."""
        with self._writing() as connection:
            connection.execute("DELETE FROM failures WHERE model != ?", (model,))
            connection.execute(f"DELETE FROM vectors WHERE {_UNUSED}", (model,))

    def counts(self, model: str) -> ImageCounts:
        """Return how many images have a vector of a model, and how many could have one."""
        with self._reading() as connection:
            embedded = _select(connection, f"SELECT count(*) FROM {_EMBEDDED}", (model,))
            refused = _select(
                connection,
                "SELECT count(*) FROM images JOIN vectors ON images.digest = vectors.digest "
                "AND model = ? AND vector IS NULL",
                (model,),
            )
            total = _select(connection, "SELECT count(*) FROM images WHERE is_suitable", ())
        done = embedded[0][0] if embedded else 0
        return ImageCounts(done, total[0][0] - refused[0][0] if total and refused else 0)

    def dimensions(self, model: str) -> int:
        """Return the length of the stored vectors of a model; 0 if there are none."""
        with self._reading() as connection:
            sql = "SELECT max(length(vector)) FROM vectors WHERE model = ?"
            found = _select(connection, sql, (model,))
        return (found[0][0] or 0) // 4 if found else 0

    def failure(self, model: str) -> EmbeddingFailure | None:
        """Return the last failure, unless a later attempt succeeded."""
        with self._reading() as connection:
            sql = "SELECT reason, retry_at_s FROM failures WHERE model = ?"
            found = _select(connection, sql, (model,))
        return EmbeddingFailure(*found[0]) if found else None

    def set_failure(self, model: str, failure: EmbeddingFailure | None) -> None:
        """Store a failure, or delete it."""
        if failure is None and self.failure(model) is None:
            return
        with self._writing() as connection:
            connection.execute("DELETE FROM failures WHERE model = ?", (model,))
            if failure is not None:
                connection.execute("INSERT INTO failures VALUES (?, ?, ?)", (model, *failure))

    def vectors(self, model: str) -> ImageVectors:
        """Return the vectors of all embedded images. They are cached until the database changes."""
        with self._reading() as connection:
            version = self._version(connection)
            with self._lock:
                if self._loaded is not None and self._loaded[0] == (*version, model):
                    return self._loaded[1]
            found = _select(
                connection,
                f"SELECT path, size, mtime_ns, width, height, vector FROM {_EMBEDDED} "
                "ORDER BY path",
                (model,),
            )
        vectors = ImageVectors.from_rows(found)
        with self._lock:
            self._loaded = ((*version, model), vectors)
        return vectors

    def _version(self, connection: sqlite3.Connection | None) -> tuple[object, ...]:
        """Return a value that changes with every write, and when the file is replaced."""
        if connection is None:
            return (0,)
        info = os.stat(self.folder / _NAME)
        return (info.st_ino, read_user_version(connection))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        path = self.folder / _NAME
        if not os.path.exists(path):
            yield None
            return
        # Open the file for writing if possible: if a process was killed, SQLite must roll back its
        # transaction before it can read.
        mode = "rw" if os.access(path, os.W_OK) and os.access(self.folder, os.W_OK) else "ro"
        with self._errors(), closing(_connect(path, mode)) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        path = self.folder / _NAME
        with self._errors():
            if not self.folder.is_dir():
                os.stat(self.folder.parent)  # raises if the index was deleted
                make_private_dir(self.folder)
            create_database_file(path, file_mode(self.folder))
            with closing(_connect(path, "rw")) as connection, write_transaction(connection):
                version = read_user_version(connection)
                if not version:
                    for statement in filter(str.strip, _TABLES.split(";")):
                        connection.execute(statement)
                write_user_version(connection, version % 2**31 + 1)
                yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise IndexStorageError(
                f"the vectors of images at {self.folder} cannot be used: {error}; delete this "
                "folder, and the images are embedded again"
            ) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None
    )


def _select(
    connection: sqlite3.Connection | None, sql: str, values: tuple[object, ...]
) -> list[tuple[Any, ...]]:  # Any: values of several types
    # A process that is killed between creating the file and its tables leaves an empty database.
    if connection is None or not read_user_version(connection):
        return []
    return connection.execute(sql, values).fetchall()


def _to_row(values: Sequence[Any]) -> ImageRow:
    row = ImageRow(*values)
    return row._replace(path=os.fsdecode(row.path), is_suitable=bool(row.is_suitable))
