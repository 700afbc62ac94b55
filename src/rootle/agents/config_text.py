"""Newlines in configuration files, and the error for files that cannot be edited."""

from __future__ import annotations


class ConfigTextError(ValueError):
    """Raised when configuration text cannot be parsed or edited. `line` is None if unknown."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def detect_newline(text: str) -> str:
    """Return "\\r\\n" if every line of the text ends with it, else "\\n"."""
    return "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"


def normalize_newlines(text: str) -> str:
    """Return the text with "\\n" instead of "\\r\\n" if every line ends with "\\r\\n"."""
    return text.replace("\r\n", "\n") if detect_newline(text) == "\r\n" else text


def replace_newlines(text: str, newline: str) -> str:
    """Return the text with its Unix newlines replaced by `newline`."""
    return text.replace("\n", newline) if newline != "\n" else text
