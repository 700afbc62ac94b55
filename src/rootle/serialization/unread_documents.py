"""Describe documents that only an optional library can read."""

from __future__ import annotations


def describe_unread(count: int) -> str:
    """Return how many PDF files were not read, and the command that changes this."""
    files = "1 PDF file" if count == 1 else f"{count:,} PDF files"
    return f"{files} not read: pip install 'rootle[documents]'"
