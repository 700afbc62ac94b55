"""What is asked of the text of a file, whatever its format."""

from __future__ import annotations


class TextError(ValueError):
    """A text that cannot be read or changed, and the line where that shows, if it is one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def newline_of(text: str) -> str:
    """How the lines of a text end, where all of them end alike."""
    return "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"


def with_plain_ends(text: str) -> str:
    """The text with `\\n` alone, where all of its lines end alike."""
    return text.replace("\r\n", "\n") if newline_of(text) == "\r\n" else text


def with_ends(text: str, newline: str) -> str:
    """The opposite of `with_plain_ends`."""
    return text.replace("\n", newline) if newline != "\n" else text
