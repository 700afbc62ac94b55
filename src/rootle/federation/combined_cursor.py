"""Cursors of pages with commits and files."""

from __future__ import annotations

import base64
import json
from typing import Final

from rootle.errors import StaleCursorError

_CURSOR_PREFIX: Final = "h."
_MAX_OFFSET_DIGITS: Final = 9


def read_offset(cursor: str | None) -> int:
    """Return the number of commits on earlier pages; 0 if the cursor is empty.

    Raise StaleCursorError if the cursor contains another value.
    """
    text, _, _ = split_cursor(cursor)
    if text and not (text.isdecimal() and len(text) <= _MAX_OFFSET_DIGITS):
        raise StaleCursorError("cursor invalidated: it belongs to another question; start again")
    return int(text) if text else 0


def split_cursor(cursor: str | None) -> tuple[str | None, str | None, bool]:
    """Return the cursors of the commits and of the files.

    A cursor is "" for the first page, and None after the last page. Also return whether the
    expansion of the question failed.
    """
    if not cursor:
        return "", "", False
    if not cursor.startswith(_CURSOR_PREFIX):
        return None, cursor, False
    try:
        data = base64.urlsafe_b64decode(cursor.removeprefix(_CURSOR_PREFIX).encode("ascii"))
        history, files, *plain = json.loads(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise StaleCursorError(
            "cursor invalidated: it cannot be read; start again without a cursor"
        ) from error
    return _as_cursor(history), _as_cursor(files), bool(plain)


def _as_cursor(value: object) -> str | None:
    return None if value is None else str(value)


def join_cursors(history: str | None, files: str | None, is_plain: bool = False) -> str | None:
    """Return one cursor for the next commits and files; None marks the end of either."""
    if history is None and files is None:
        return None
    if history is None and files and not is_plain:
        return files
    data = json.dumps([history, files, *([1] if is_plain else [])]).encode("ascii")
    return _CURSOR_PREFIX + base64.urlsafe_b64encode(data).decode("ascii")
