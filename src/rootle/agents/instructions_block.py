"""The block of instructions in `AGENTS.md` and similar files: when to use rootle."""

from __future__ import annotations

import re
from textwrap import fill
from typing import Final

from rootle.agents.config_text import (
    ConfigTextError,
    detect_newline,
    normalize_newlines,
    replace_newlines,
)

BEGIN: Final = "<!-- rootle:begin -->"
END: Final = "<!-- rootle:end -->"
_BLOCK: Final = re.compile(
    rf"^{re.escape(BEGIN)}[ \t]*\r?\n.*?^{re.escape(END)}[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MARKER: Final = re.compile(rf"^(?:{re.escape(BEGIN)}|{re.escape(END)})", re.MULTILINE)


def add_block(text: str) -> str:
    """Return the text with the current block, which replaces an existing block or is appended.

    Raise ConfigTextError if the text has an incomplete or repeated pair of markers.
    """
    plain = _check_markers(text)
    if found := _BLOCK.search(plain):
        whole = plain[: found.start()] + _block_text() + plain[found.end() :]
    else:
        # Exactly one newline is added before the block, so that `remove_block` can restore the
        # text. It makes a blank line if the text ends with a newline.
        whole = plain + ("\n" if plain else "") + _block_text()
    return replace_newlines(whole, detect_newline(text))


def _block_text() -> str:
    # Imported here because `remove_block` does not need it, and the import takes longer than
    # removing the block.
    from rootle.tools.query_wording import QUERY_ADVICE

    search = fill(
        "- To find where or how something is done: `vectordb_search`, before you open files. "
        f"Its query: {QUERY_ADVICE}",
        width=100,
        subsequent_indent="  ",
    )
    return f"""\
{BEGIN}
## Searching this code

{search}
- To read more around a result: `vectordb_read`.
- To find a known string, and while answers are partial: `grep`.
{END}
"""


def remove_block(text: str) -> str:
    """Return the text without the block and without the newline that was added before it."""
    plain = _check_markers(text)
    found = _BLOCK.search(plain)
    if found is None:
        return text
    before, after = plain[: found.start()], plain[found.end() :]
    if before == "\n" or before.endswith("\n\n") or not after:
        before = before.removesuffix("\n")
    return replace_newlines(before + after, detect_newline(text))


def has_block(text: str) -> bool:
    return BEGIN in text


def _check_markers(text: str) -> str:
    """Return the text with Unix newlines.

    The text must have no markers, or one BEGIN followed by one END. Otherwise, raise
    ConfigTextError.
    """
    plain = normalize_newlines(text)
    markers = list(_MARKER.finditer(plain))
    if [found.group() for found in markers] not in ([], [BEGIN, END]):
        line = plain.count("\n", 0, markers[0].start()) + 1
        raise ConfigTextError(f"expected {BEGIN} and {END} once each, in this order", line)
    return plain
