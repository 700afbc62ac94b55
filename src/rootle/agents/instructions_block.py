"""The section of `AGENTS.md` and its likes that tells a model when to ask rootle."""

from __future__ import annotations

import re
from typing import Final

from rootle.agents.line_endings import TextError, newline_of, with_ends, with_plain_ends

BEGIN: Final = "<!-- rootle:begin -->"
END: Final = "<!-- rootle:end -->"
_LINES: Final = f"""\
{BEGIN}
## Searching this code

The MCP server `rootle` finds code and documents by meaning and by words.

- Where something is done, how it works, or what you cannot name exactly: ask `vectordb_search` one
  plain sentence before you open files.
- More around a hit: `vectordb_read` with the source that the hit names.
- A name, text or pattern that you know, or every place where it stands: `grep` is better.
- An answer that says it is partial: the index is still being made; `grep` until it is done.
{END}
"""
_SECTION: Final = re.compile(
    rf"^{re.escape(BEGIN)}[ \t]*\r?\n.*?^{re.escape(END)}[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MARKER: Final = re.compile(rf"^(?:{re.escape(BEGIN)}|{re.escape(END)})", re.MULTILINE)


def with_section(text: str) -> str:
    """The text with the section in it, in the place where it stood or at the end."""
    plain = _checked(text)
    if found := _SECTION.search(plain):
        whole = plain[: found.start()] + _LINES + plain[found.end() :]
    else:
        # A blank line before it, but after a last line without an end: that is put back as it was.
        whole = plain + ("\n" if plain else "") + _LINES
    return with_ends(whole, newline_of(text))


def without_section(text: str) -> str:
    """The text without the section and the line end that was put before it."""
    plain = _checked(text)
    found = _SECTION.search(plain)
    if found is None:
        return text
    before, after = plain[: found.start()], plain[found.end() :]
    if before == "\n" or before.endswith("\n\n") or not after:
        before = before.removesuffix("\n")
    return with_ends(before + after, newline_of(text))


def has_section(text: str) -> bool:
    return BEGIN in text


def _checked(text: str) -> str:
    """The text with plain line ends; raises TextError where the markers are no pair."""
    plain = with_plain_ends(text)
    markers = list(_MARKER.finditer(plain))
    if [found.group() for found in markers] not in ([], [BEGIN, END]):
        line = plain.count("\n", 0, markers[0].start()) + 1
        raise TextError(f"expected {BEGIN} and {END} once each, in this order", line)
    return plain
