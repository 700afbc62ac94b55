"""Describe documents that require an optional library or another program."""

from __future__ import annotations


def describe_unread(count: int) -> str:
    """Return how many PDF files were not read, and the command that installs the reader."""
    files = "1 PDF file" if count == 1 else f"{count:,} PDF files"
    return f"{files} not read: pip install 'rootle[documents]'"


def describe_unread_images(count: int) -> str:
    """Return how many images were not read, and the program that reads them."""
    images = "1 image" if count == 1 else f"{count:,} images"
    return f"{images} not read: install tesseract-ocr"
