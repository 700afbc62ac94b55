"""Convert paths and lines with unprintable bytes to printable text, and paths back; list ranges."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

_ESCAPE: Final = re.compile(r"\\(?:\\|[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_NAMED: Final = {"\\\\": "\\", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_MAX_CODE: Final = 0x10FFFF
_MAX_SUGGESTED: Final = 5  # the number of paths that a message suggests
_HASH_CHARS: Final = 12  # the number of shown digits of the hash of a commit
# In a quoted path, git writes some characters as C escapes, and other bytes as octal numbers.
_GIT_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_GIT_CONTROLS: Final = {
    letter: control.encode()
    for letter, control in zip(
        (b"a", b"b", b"f", b"n", b"r", b"t", b"v"), "\a\b\f\n\r\t\v", strict=True
    )
}
_COMMIT: Final = re.compile(r"git:([0-9a-f]{40,})")
_MAX_PATH_CHARS: Final = 1_000
_SPACE: Final = re.compile(r"\s")
_EXTENSION: Final = re.compile(r"\w{1,5}")


def short_uri(uri: str) -> str:
    """Return the first twelve digits of the hash in the URI of a commit; other URIs unchanged."""
    return _COMMIT.sub(lambda found: short_hash(found[1]), uri)


def short_hash(sha: str) -> str:
    """Return the first digits of the hash of a commit."""
    return sha[:_HASH_CHARS]


def short_date(timestamp: str) -> str:
    """Return the day of the timestamp of a commit, or "date unknown" if the timestamp is ""."""
    return timestamp[:10] or "date unknown"


def is_long(text: str) -> bool:
    """Return whether a text is too long to be the path of a file, with or without a line number."""
    return len(text) > _MAX_PATH_CHARS


def looks_like_path(text: str) -> bool:
    """Return whether a text is one word with a slash or an extension."""
    if _SPACE.search(text) is not None:
        return False
    _, dot, extension = text.rpartition(".")
    return "/" in text or (bool(dot) and _EXTENSION.fullmatch(extension) is not None)


def escape_path(path: str) -> str:
    """Return a path in which unprintable characters are escaped as in Python: `\\n`, `\\udce9`.

    Python represents a byte that is not valid UTF-8 as a surrogate: the byte E9 becomes `\\udce9`.
    Most paths are returned unchanged, even if they contain a backslash.
    """
    if path.isprintable() and unescape_path(path) == path:
        return path
    return "".join(map(_escape, path))


def unescape_path(text: str) -> str:
    """Return the path that `escape_path` has converted into this text."""
    return _ESCAPE.sub(_unescape, text)


def replace_unprintable(text: str) -> str:
    """Replace unprintable characters, including line breaks, with U+FFFD.

    A file name that contains a line break must not look like another result.
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def clean_line(line: str) -> str:
    """Replace unprintable characters of a line of code, except tabs, with U+FFFD.

    Tabs indent code, and a reader may copy the line or search for it.
    """
    return "\t".join(map(replace_unprintable, line.split("\t")))


def cut_line(line: str, max_chars: int, start: int = 0) -> str:
    """Return `max_chars` characters of a line from the index `start`, with markers for the rest.

    A marker gives the number of omitted characters. If they do not take more space than their
    marker, they are returned instead.
    """
    end = start + max_chars
    before, after = f"({start} characters) …", f"… ({len(line) - end} more characters)"
    if start <= len(before):
        start, before = 0, ""
    if len(line) - end <= len(after):
        end, after = len(line), ""
    return f"{before}{line[start:end]}{after}"


def cut_lines(lines: Sequence[str], max_lines: int) -> Sequence[str]:
    """Return at most `max_lines` lines, or one more if it is the last: a marker takes a line."""
    return lines if len(lines) <= max_lines + 1 else lines[:max_lines]


def did_you_mean(paths: Sequence[str]) -> str:
    """Return a question that suggests the first few paths; "" if there are no paths."""
    if not paths:
        return ""
    more = ", …" if len(paths) > _MAX_SUGGESTED else ""
    return f"did you mean {', '.join(map(escape_path, paths[:_MAX_SUGGESTED]))}{more}?"


def _escape(char: str) -> str:
    if char == "\\" or not char.isprintable():
        return char.encode("unicode_escape").decode("ascii")
    return char


def _unescape(found: re.Match[str]) -> str:
    text = found.group()
    if text in _NAMED:
        return _NAMED[text]
    code = int(text[2:], 16)
    return chr(code) if code <= _MAX_CODE else text


def short_path(folder: Path) -> str:
    """Return the absolute path of a folder, with `~` for the home folder."""
    path, home = os.path.abspath(folder), os.path.expanduser("~")
    if os.path.isabs(home) and path.startswith(home.rstrip(os.sep) + os.sep):
        path = "~" + path[len(home.rstrip(os.sep)) :]
    return escape_path(path)


def unquote_git_path(path: str) -> str:
    """Return a path without the quotes and escapes of git."""
    path = path.rstrip()
    if len(path) < 2 or not (path[0] == path[-1] == '"'):
        return path

    def decode(match: re.Match[bytes]) -> bytes:
        char = match[1]
        return bytes([int(char, 8) & 0xFF]) if len(char) > 1 else _GIT_CONTROLS.get(char, char)

    data = path[1:-1].encode("utf-8", "surrogateescape")
    return _GIT_ESCAPE.sub(decode, data).decode("utf-8", "surrogateescape")


def group_lines(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return the runs of consecutive lines: the first and the last line of each, in order."""
    runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    return [(run[0][1], run[-1][1]) for run in (list(members) for _, members in runs)]


def join_ranges(lines: Sequence[int]) -> str:
    """Return numbers in ascending order as "3, 5-7"."""
    runs = group_lines(lines)
    return ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in runs)
