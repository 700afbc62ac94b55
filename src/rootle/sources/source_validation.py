"""Check the results of a source that the calling program provides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from rootle.sources.source import Document, DocumentEntry, Scan, SkippedDocument
from rootle.types import DocumentSection

_MAX_SHOWN_CHARS: Final = 60


def check_scan(scan: object) -> tuple[Scan, str]:
    """Return a scan without repeated URIs, and the first repeated URI or "".

    Raise TypeError if the scan is invalid.
    """
    if not isinstance(scan, Scan):
        raise TypeError(f"scan returned {show_value(scan)}, expected a Scan")
    if not isinstance(scan.token, str):
        raise TypeError(f"the token of a scan is {show_value(scan.token)}, expected a string")
    seen: set[str] = set()
    repeated = ""
    documents, skips = [], []
    for one in (*scan.documents, *scan.skips):
        if not isinstance(one, DocumentEntry | SkippedDocument) or not _has_valid_fields(one):
            raise TypeError(f"scan listed {show_value(one)}, expected a URI, a size and times")
        if one.uri in seen:
            repeated = repeated or one.uri
        elif isinstance(one, DocumentEntry):
            documents.append(one)
        else:
            skips.append(one)
        seen.add(one.uri)
    return replace(scan, documents=tuple(documents), skips=tuple(skips)), repeated


def _has_valid_fields(entry: DocumentEntry | SkippedDocument) -> bool:
    if isinstance(entry, SkippedDocument):
        return _are_valid((entry.uri, entry.reason), (entry.size,))
    return _are_valid((entry.uri,), (entry.size, entry.mtime_ns, entry.ctime_ns))


def _are_valid(texts: Iterable[object], numbers: Iterable[object]) -> bool:
    are_texts = all(isinstance(text, str) and text for text in texts)
    return are_texts and all(type(number) is int for number in numbers)


def find_fault(found: object) -> str:
    """Return what is wrong with the result of a reader; "" if it is valid."""
    if isinstance(found, str):
        return ""
    if not isinstance(found, Document):
        return f"it is {show_value(found)}, expected a Document or a reason to skip it"
    texts = (found.text, found.language, found.encoding, found.kind, found.title, found.author)
    if not all(isinstance(text, str) for text in texts):
        return "text, language, encoding, kind, title and author must be strings"
    if not (isinstance(found.digest, bytes) and found.digest):
        return f"digest is {show_value(found.digest)}, expected a hash as bytes"
    if found.date_s is not None and type(found.date_s) not in (int, float):
        return f"date_s is {show_value(found.date_s)}, expected a number or None"
    return _find_section_fault(found.sections, found.text.count("\n") + 1)


def _find_section_fault(sections: object, lines: int) -> str:
    if not isinstance(sections, tuple | list):
        return f"sections is {show_value(sections)}, expected a tuple"
    end = 0
    for section in sections:
        if not isinstance(section, DocumentSection) or not isinstance(section.label, str):
            return f"sections contains {show_value(section)}, expected a DocumentSection"
        if not end < section.start_line <= section.end_line <= lines:
            return (
                f'the section "{section.label}" has the lines {section.start_line} to '
                f"{section.end_line}; sections must be in order, must not overlap and must end in "
                f"the text, which has {lines} lines"
            )
        end = section.end_line
    return ""


def show_value(value: object) -> str:
    """Return the beginning of the representation of a value."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[: _MAX_SHOWN_CHARS - 1]}…"
