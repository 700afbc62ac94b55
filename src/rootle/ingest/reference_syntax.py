"""Parse references to lines or names in a document, in the forms that models and editors write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.serialization.path_text import unescape_path

_COLUMN: Final = r"(?:[Cc]\d{1,9}|:\d{1,9})?"
# path:15, path:15:3, path:15-20, path:L15-L20, path#L15-L20, path#L15C3-L20C5
_LINES: Final = re.compile(
    rf"(?P<path>.+?)(?::[Ll]?|#[Ll])(?P<first>\d{{1,9}}){_COLUMN}"
    rf"(?:[-\u2013][Ll]?(?P<last>\d{{1,9}}){_COLUMN})?",
    re.DOTALL,
)
# path:15 and path:15-20, without a column: a file name may itself end with a colon and a number.
_LAST_LINES: Final = re.compile(
    r"(?P<path>.+):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL
)
_MAX_SIGNS: Final = 10
# Quotation marks, brackets and punctuation around a reference in a sentence.
_OPENING: Final = "`'\"<([{\u201c\u2018"
_CLOSING: Final = "`'\">)]}\u201d\u2019.,;:!?"


@dataclass(frozen=True, slots=True)
class Reference:
    """A path or a hash, with a range of lines, a name, or neither."""

    path: str
    first_line: int | None = None
    last_line: int | None = None
    name: str = ""


def parse_reference(text: str) -> Iterator[Reference]:
    """Yield the possible meanings of a reference, the most likely first, without duplicates.

    A file name may contain ":", "#", backslashes, and quotation marks at its ends.
    """
    seen: set[Reference] = set()
    stripped = text.strip()
    for spelling in dict.fromkeys((stripped, _strip_punctuation(stripped))):
        for reference in _split(spelling):
            for path in _spellings(reference.path):
                found = Reference(path, reference.first_line, reference.last_line, reference.name)
                if found not in seen:
                    seen.add(found)
                    yield found


def is_file_name(text: str) -> bool:
    """Return whether a string can be the path of a file."""
    try:
        return "\0" not in text and os.fsdecode(os.fsencode(text)) == text
    except UnicodeEncodeError:
        return False


def _strip_punctuation(text: str) -> str:
    return text.lstrip(_OPENING).rstrip(_CLOSING).strip()


def _split(text: str) -> Iterator[Reference]:
    matches = [pattern.fullmatch(text) for pattern in (_LINES, _LAST_LINES)]
    for match in matches:
        if match is not None:
            last = int(match["last"]) if match["last"] else None
            yield Reference(match["path"], int(match["first"]), last)
    # A path can contain "#", as in "C# guide.md#install", and so can a name.
    signs = [at for at, char in enumerate(text) if char == "#"][:_MAX_SIGNS]
    for at in reversed(signs):
        if 0 < at < len(text) - 1:
            yield Reference(text[:at], name=text[at + 1 :])
    if text:
        yield Reference(text)


def _spellings(path: str) -> Iterator[str]:
    """Yield the spellings of a path: unescaped, unchanged, and with "/" instead of backslashes."""
    if "\\" in path:
        plain = unescape_path(path)
        if is_file_name(plain):
            yield plain
    yield path
    if "\\" in path:
        yield path.replace("\\", "/")
