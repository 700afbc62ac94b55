"""Read messages: headers, text, and the names of attachments."""

from __future__ import annotations

from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import BinaryIO, Final

from rootle.sources.documents.places import (
    DocumentError,
    ExtractedDocument,
    LimitReachedError,
)
from rootle.sources.documents.readers.book_and_mail_html import read_html
from rootle.sources.documents.readers.messages.mime_parts import MESSAGE, MimePart, read_parts
from rootle.sources.files.skip_rules import DAMAGED
from rootle.sources.text_codecs import find_charset

_HEADERS: Final = ("Subject", "From", "To", "Cc", "Date")
# Maximum size of a mail file. It includes attachments, which are skipped to find the text after
# them.
_MAX_BYTES: Final = 100_000_000


def read_mail(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for the message, and one for each message that is attached to it."""
    raw = file.read(_MAX_BYTES)
    found.omit(len(file.read(1)))
    message = read_parts(raw, found)
    if not any(message.field(name) for name in _HEADERS):
        raise DocumentError(DAMAGED)
    found.title = message.field("Subject")
    found.author = message.field("From")
    with suppress(TypeError, ValueError, OverflowError):
        found.date_s = parsedate_to_datetime(message.field("Date")).timestamp()
    messages = [message]
    for number, one in enumerate(messages, start=1):
        label = "message" if number == 1 else f"attached-message-{number - 1}"
        _add_message(one, label, found, messages)


def _add_message(
    message: MimePart, label: str, found: ExtractedDocument, attached: list[MimePart]
) -> None:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := message.field(name))]
    names = [
        part.file_name or part.kind for part in _parts(message, attached) if part.is_attachment
    ]
    for text in _texts(message, found):
        lines += ["", *text.split("\n")]
    lines += [f"Attachment: {name}" for name in names]
    found.add(label, "\n".join(lines), message.field("Subject"))


def _parts(message: MimePart, attached: list[MimePart]) -> list[MimePart]:
    """Return the parts of a message. Messages attached to it are added to `attached` instead."""
    waiting, parts = [message], list[MimePart]()
    for part in waiting:
        if part.kind == MESSAGE:
            attached += part.parts
        else:
            waiting += part.parts
            parts.append(part)
    return parts


def _texts(part: MimePart, found: ExtractedDocument) -> list[str]:
    """Return the texts of a message or of a part of it, in the order in which they are shown.

    Attachments are left out. Of alternative versions, the plain text is returned unless it is
    empty.
    """
    if part.is_attachment:
        return []
    kind = part.kind
    if kind in ("text/plain", "text/html") or part.is_unsplit:
        text = _read_text(part, found).strip()
        return [text] if text else []
    if kind == MESSAGE:
        return []
    inner = part.parts
    if kind == "multipart/related":
        inner = inner[:1]  # the other parts are images and styles of the first part
    if kind == "multipart/alternative":
        inner = sorted(inner, key=lambda one: one.kind != "text/plain")
        return next((texts for one in inner if (texts := _texts(one, found))), [])
    return [text for one in inner for text in _texts(one, found)]


def _read_text(part: MimePart, found: ExtractedDocument) -> str:
    content = _decode(part.content(), part.charset)
    if part.kind != "text/html":
        return content
    own = ExtractedDocument(found.max_chars, found.remaining_seconds(), clock=found.clock)
    with suppress(LimitReachedError):
        read_html(content, own)
    found.omit(own.omitted_chars)
    return "\n".join(place.text for place in own.places)


def _decode(raw: bytes, charset: str | None) -> str:
    """Decode text. Programs often send UTF-8 without a charset, or call it ASCII."""
    with suppress(LookupError, ValueError):  # an unknown charset
        if charset and (codec := find_charset(charset)) != "ascii":
            return raw.decode(codec, "replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")
