"""Chunks, their vectors and the texts of files, in the database."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from rootle.index.local.damaged_rows import DamagedRowError, verify_rows
from rootle.index.reader import ChunkRow
from rootle.types import DocumentSection

# Level 1 compresses code to about a third at 80 MB/s; level 6 saves another tenth at a quarter of
# that speed.
_ZIP_LEVEL: Final = 1
# The size of a part. Texts are compressed in parts, so that reading a few lines of a large file
# decompresses only one part.
PART_CHARS: Final = 2_048
# Every path in the folder "src" begins with "src/". In sort order, "src" followed by this character
# comes after all of them.
_AFTER_SLASH: Final = chr(ord("/") + 1)
# The id of a part in the table `texts` is the file id, shifted left by this number of bits, plus
# the number of the part in the file. This allows 2 billion characters per file.
_PART_BITS: Final = 20
_PART_MASK: Final = (1 << _PART_BITS) - 1
# The minimum number of retired vectors to keep. It is large enough to switch to another branch and
# back without embedding chunks again.
_RETIRED_FLOOR: Final = 20_000


class NewChunk(Protocol):
    """A chunk to store."""

    @property
    def start_line(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def symbols(self) -> tuple[str, ...]: ...
    @property
    def scope(self) -> str: ...
    @property
    def key(self) -> int:
        """Hash of the embedded text."""

    @property
    def vector(self) -> bytes:
        """One int8 per dimension; empty while the embedding is pending."""


_COLUMNS: Final = "id, file_id, seq, start_line, end_line, start, end, scope, symbols, checksum"
_SECTION_COLUMNS: Final = "file_id, start_line, end_line, label, title, date_s, checksum"
_VECTOR_COLUMNS: Final = "id, file_id, key, vector, vector_checksum"


class DocStore:
    """The tables `chunks`, `texts`, `sections` and `retired`. The caller opens the transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def replace(
        self,
        file_id: int,
        compressed_text: Sequence[bytes],
        chunks: Sequence[NewChunk],
        generation: int,
        *,
        is_new: bool = False,
    ) -> range:
        """Replace the chunks and text of a file, and return the ids of the new chunks in order."""
        if not is_new:
            self.remove(file_id, generation)
        first_part = file_id << _PART_BITS
        self._connection.executemany(
            "INSERT INTO texts VALUES (?, ?)", enumerate(compressed_text, start=first_part)
        )
        first = self._next_id()
        self._connection.executemany(
            "INSERT INTO chunks VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                (
                    first + seq,
                    file_id,
                    seq,
                    chunk.start_line,
                    chunk.end_line,
                    chunk.start,
                    chunk.end,
                    _encode("\n".join(chunk.symbols)),
                    _encode(chunk.scope),
                    chunk.key,
                    chunk.vector,
                )
                for seq, chunk in enumerate(chunks)
            ),
        )
        return range(first, first + len(chunks))

    def _next_id(self) -> int:
        # Ids are never reused, so that a reader of an older generation recognizes deleted chunks.
        row = self._connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
        ).fetchone()
        return 1 if row is None else int(row[0]) + 1

    def remove(self, file_id: int, generation: int) -> None:
        """Delete the chunks, text and sections of a file.

        The vectors of the chunks are kept in the table `retired` for reuse.
        """
        self._connection.execute(
            "INSERT OR REPLACE INTO retired SELECT key, vector, ? FROM chunks "
            "WHERE file_id = ? AND vector != x''",
            (generation, file_id),
        )
        self._connection.execute("DELETE FROM chunks WHERE file_id = ?", (file_id,))
        self._connection.execute("DELETE FROM pending WHERE file_id = ?", (file_id,))
        self._connection.execute("DELETE FROM texts WHERE id BETWEEN ? AND ?", _part_ids(file_id))
        self._connection.execute("DELETE FROM sections WHERE file_id = ?", (file_id,))

    def set_sections(
        self, file_id: int, sections: Iterable[DocumentSection], date_s: int | None
    ) -> None:
        """Store the sections of a document that has none yet, with its date as a Unix time."""
        self._connection.executemany(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?)",
            (
                (file_id, s.start_line, s.end_line, _encode(s.label), _encode(s.title), date_s or 0)
                for s in sections
            ),
        )

    def read_sections(self, file_id: int) -> list[DocumentSection]:
        """Return the sections of a document in order."""
        rows = self._connection.execute(
            f"SELECT {_SECTION_COLUMNS} FROM sections WHERE file_id = ? ORDER BY start_line",
            (file_id,),
        )
        return [section for _, section in _read_sections(rows)]

    def sections_with(self, label: str, limit: int) -> list[tuple[int, DocumentSection]]:
        """Return at most `limit` sections with this label, each with the id of its document.

        Sections of the documents with the newest dates come first.
        """
        rows = self._connection.execute(
            f"SELECT {_SECTION_COLUMNS} FROM sections WHERE label = ? "
            "ORDER BY date_s DESC, file_id LIMIT ?",
            (_encode(label), limit),
        )
        return list(_read_sections(rows))

    def sections_titled(self, prefix: str) -> list[tuple[int, DocumentSection]]:
        """Return all sections whose titles begin with a prefix, with the ids of their documents."""
        rows = self._connection.execute(
            f"SELECT {_SECTION_COLUMNS} FROM sections WHERE substr(title, 1, ?) = ?",
            (len(_encode(prefix)), _encode(prefix)),
        )
        return list(_read_sections(rows))

    def documents_below(self, folder: str) -> set[int]:
        """Return the documents with a section whose label begins with `folder` (ending in "/")."""
        rows = self._connection.execute(
            f"SELECT {_SECTION_COLUMNS} FROM sections WHERE label >= ? AND label < ?",
            (_encode(folder), _encode(f"{folder[:-1]}{_AFTER_SLASH}")),
        )
        return {row[0] for row in verify_rows(rows)}

    def section_labels(self) -> dict[int, list[str]]:
        """Map each document to the labels of its sections."""
        rows = self._connection.execute(f"SELECT {_SECTION_COLUMNS} FROM sections")
        labels: dict[int, list[str]] = {}
        for file_id, section in _read_sections(rows):
            labels.setdefault(file_id, []).append(section.label)
        return labels

    def prune_retired(self) -> None:
        """Keep only the newest retired vectors: as many as there are chunks, at least 20,000."""
        keep = max(_RETIRED_FLOOR, self.count())
        self._connection.execute(
            "DELETE FROM retired WHERE key IN (SELECT key FROM retired "
            "ORDER BY generation DESC, key LIMIT -1 OFFSET ?)",
            (keep,),
        )

    def known_vectors(self, file_id: int, keys: Iterable[int]) -> dict[int, bytes]:
        """Return known vectors by key: the vectors of the file's chunks, and retired vectors."""
        rows = self._connection.execute(
            f"SELECT {_VECTOR_COLUMNS} FROM chunks WHERE file_id = ? AND vector != x''", (file_id,)
        )
        known: dict[int, bytes] = {key: vector for _, _, key, vector, _ in verify_rows(rows)}
        for key in keys:
            if key not in known:
                retired = self._connection.execute(
                    "SELECT key, vector, checksum FROM retired WHERE key = ?", (key,)
                )
                known.update((key, vector) for _, vector, _ in verify_rows(retired))
        return known

    def has_any(self) -> bool:
        """Return whether there is any chunk or retired vector."""
        for table in ("chunks", "retired"):
            if self._connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                return True
        return False

    def count(self) -> int:
        """Return the number of chunks."""
        return int(self._connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def count_and_newest(self, *, with_vector: bool) -> tuple[int, int]:
        """Return the number of chunks, and the largest chunk id, which is 0 if there are no chunks.

        With `with_vector`, only chunks that have a non-zero vector are considered.
        """
        only = "WHERE vector != x'' AND vector != zeroblob(length(vector))" if with_vector else ""
        row = self._connection.execute(
            f"SELECT count(*), coalesce(max(id), 0) FROM chunks {only}"
        ).fetchone()
        return int(row[0]), int(row[1])

    def chunks(self, ids: Iterable[int]) -> dict[int, ChunkRow]:
        """Return chunks by id, without unknown ids."""
        wanted = [int(chunk_id) for chunk_id in ids]
        found: dict[int, ChunkRow] = {}
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            marks = ",".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM chunks WHERE id IN ({marks})", some
            )
            found.update((row[0], row) for row in _chunk_rows(rows))
        return found

    def all_chunks(self) -> dict[int, ChunkRow]:
        """Return all chunks by id."""
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM chunks")
        return {row[0]: row for row in _chunk_rows(rows)}

    def list_chunks(self, file_id: int) -> list[ChunkRow]:
        """Return the chunks of a file in order."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM chunks WHERE file_id = ? ORDER BY seq", (file_id,)
        )
        return _chunk_rows(rows)

    def list_symbols(self, chunk_ids: Sequence[int]) -> list[str]:
        """Return the names that chunks define, as written, in the order of the chunks."""
        names: list[str] = []
        for chunk_id in chunk_ids:
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM chunks WHERE id = ?", (int(chunk_id),)
            )
            for row in verify_rows(rows):
                names += _decode(row[8]).split("\n") if row[8] else []
        return names

    def read_vectors(self, file_ids: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """Yield (chunk id, file id, vector) of files; a pending vector is empty."""
        for file_id in file_ids:
            rows = self._connection.execute(
                f"SELECT {_VECTOR_COLUMNS} FROM chunks WHERE file_id = ? ORDER BY seq", (file_id,)
            )
            for chunk_id, owner, _, vector, _ in verify_rows(rows):
                yield chunk_id, owner, vector

    def set_vectors(self, vectors: Mapping[int, bytes]) -> None:
        """Store the vectors of pending chunks."""
        self._connection.executemany(
            "UPDATE chunks SET vector = ? WHERE id = ?",
            ((vector, chunk_id) for chunk_id, vector in vectors.items()),
        )

    def text(self, file_id: int) -> str:
        """Return the indexed text of a file."""
        rows = self._connection.execute(
            "SELECT id, body, checksum FROM texts WHERE id BETWEEN ? AND ? ORDER BY id",
            _part_ids(file_id),
        )
        return "".join(_decompress(body) for _, body, _ in verify_rows(rows))

    def text_parts(self, parts: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Return parts of texts by (file id, part number).

        Part n contains the characters from n * PART_CHARS to (n + 1) * PART_CHARS, exclusive. A
        missing part is "".
        """
        found = dict.fromkeys(parts, "")
        for start in range(0, len(parts), 500):
            ids = [(file_id << _PART_BITS) + part for file_id, part in parts[start : start + 500]]
            marks = ",".join("?" * len(ids))
            rows = self._connection.execute(
                f"SELECT id, body, checksum FROM texts WHERE id IN ({marks})", ids
            )
            for number, body, _ in verify_rows(rows):
                found[number >> _PART_BITS, number & _PART_MASK] = _decompress(body)
        return found


def _chunk_rows(rows: Iterable[tuple[Any, ...]]) -> list[ChunkRow]:  # Any: SQL values
    make = ChunkRow._make  # twice as fast as `ChunkRow(...)`
    return [make((*row[:7], _decode(row[7]) if row[7] else "")) for row in verify_rows(rows)]


def _read_sections(
    rows: Iterable[tuple[Any, ...]],  # Any: SQL values
) -> Iterator[tuple[int, DocumentSection]]:
    for file_id, start, end, label, title, _, _ in verify_rows(rows):
        yield file_id, DocumentSection(_decode(label), start, end, _decode(title))


def compress_text(text: str) -> list[bytes]:
    """Return the compressed parts of a text."""
    starts = range(0, len(text), PART_CHARS)
    return [zlib.compress(_encode(text[at : at + PART_CHARS]), _ZIP_LEVEL) for at in starts]


def _part_ids(file_id: int) -> tuple[int, int]:
    """Return the first and the last possible id of the parts of a file."""
    return file_id << _PART_BITS, ((file_id + 1) << _PART_BITS) - 1


def _decompress(compressed: bytes) -> str:
    try:
        return _decode(zlib.decompress(compressed))
    except zlib.error as error:
        raise DamagedRowError(f"a stored text cannot be read: {error}") from error


def _encode(text: str) -> bytes:
    # UTF-16 files may contain unpaired surrogates, which must be preserved.
    return text.encode("utf-8", "surrogatepass")


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DamagedRowError(f"a stored text cannot be read: {error}") from error
