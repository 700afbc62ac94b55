"""Text from a process that reads untrusted files."""

from __future__ import annotations


def plain_text(text: object) -> str:
    """Return a text that can be stored, with line feeds as its only line ends.

    Raise TypeError if the value is not a text.
    """
    if not isinstance(text, str):
        raise TypeError("not a text")
    clean = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return clean.encode("utf-8", "replace").decode()
