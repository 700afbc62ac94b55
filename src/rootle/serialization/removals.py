"""Format removed code as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rootle.serialization.path_text import escape_path
from rootle.types import Removal

MAX_LINES: Final = 12  # of the removed code that are shown
_HASH_CHARS: Final = 12
_MAX_LINE_CHARS: Final = 160


def removal_lines(removal: Removal, max_lines: int = MAX_LINES) -> Iterator[str]:
    """Yield the place of removed code, the commit that removed it, and the first lines."""
    commit = removal.commit
    yield f"{escape_path(removal.path)}:{removal.start_line}  {_describe(removal)}".rstrip()
    author = commit.author.partition(" <")[0]
    when = commit.date.partition("T")[0]
    yield f"  removed by {commit.hash[:_HASH_CHARS]} {when} {author}: {commit.subject}"
    for line in removal.lines[:max_lines]:
        yield f"  -{line[:_MAX_LINE_CHARS]}"
    left = len(removal.lines) - max_lines
    if left > 0:
        yield f"  … {left} more removed {'line' if left == 1 else 'lines'}"


def _describe(removal: Removal) -> str:
    if not removal.name:
        return f"in {removal.scope}" if removal.scope else ""
    return f"{removal.scope} > {removal.name}" if removal.scope else removal.name
