"""Checksums of database rows. SQLite detects damage to its structure, but not to stored values.

Generated columns compute the checksums when rows are written, so no statement can omit them.
"""

from __future__ import annotations

import marshal
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

FUNCTION_NAME: Final = "row_checksum"
# The version of the format of `marshal`. Version 2 always encodes numbers, strings and bytes in the
# same way. `marshal` is ten times as fast as `repr`.
_FORMAT: Final = 2


class DamagedRowError(Exception):
    """Raised if a stored row differs from what was written, or is missing."""


def add_checksum_function(connection: sqlite3.Connection) -> None:
    """Define the SQL function that the generated columns use."""
    connection.create_function(FUNCTION_NAME, -1, row_checksum, deterministic=True)


def row_checksum(*values: float | str | bytes | None) -> int:
    """Return the CRC-32 of the values of a row."""
    return zlib.crc32(marshal.dumps(values, _FORMAT))


def verify_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:  # Any: SQL values
    """Yield rows. Raise DamagedRowError if the last column is not the checksum of the others."""
    encode, checksum = marshal.dumps, zlib.crc32
    for row in rows:
        if checksum(encode(row[:-1], _FORMAT)) != row[-1]:
            raise DamagedRowError("a stored row differs from what was written")
        yield row
