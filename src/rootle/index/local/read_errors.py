"""Errors of the disk, as opposed to missing or damaged files of an index.

A missing or damaged part of an index is written again. A part that cannot be read now may be
undamaged and current, so it must not be replaced.
"""

from __future__ import annotations

from pathlib import Path

from rootle.errors import UnreadableIndexError


def unreadable(path: Path, error: OSError | str) -> UnreadableIndexError:
    """Return the error for a file that cannot be read now."""
    detail = error if isinstance(error, str) else error.strerror or error
    return UnreadableIndexError(
        f"cannot read the index file {path}: {detail}; check the disk and try again, or replace "
        "the index with `rootle index --rebuild`"
    )
