"""Read messages: headers, text, and the names of attachments."""

from __future__ import annotations

import codecs
import email
import email.policy
from contextlib import suppress
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import BinaryIO, Final

from rootle.sources.documents.places import (
    DocumentError,
    ExtractedDocument,
    LimitReachedError,
)
from rootle.sources.documents.readers.html_text import read_html
from rootle.sources.files.skip_rules import DAMAGED

_HEADERS: Final = ("Subject", "From", "To", "Cc", "Date")
# Maximum size of a mail file. It includes attachments, which are skipped to find the text after
# them.
_MAX_BYTES: Final = 100_000_000
_MAX_PARTS: Final = 1_000


def read_mail(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for the message, and one for each message that is attached to it."""
    message = email.message_from_bytes(file.read(_MAX_BYTES), policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    if not any(_header(message, name) for name in _HEADERS):
        raise DocumentError(DAMAGED)
    found.title = _header(message, "Subject")
    found.author = _header(message, "From")
    with suppress(TypeError, ValueError, OverflowError):
        found.date_s = parsedate_to_datetime(_header(message, "Date")).timestamp()
    messages = [message]
    for number, one in enumerate(messages, start=1):
        if number > _MAX_PARTS:
            break
        label = "message" if number == 1 else f"attached-message-{number - 1}"
        _add_message(one, label, found, messages)


def _add_message(
    message: EmailMessage, label: str, found: ExtractedDocument, attached: list[EmailMessage]
) -> None:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    names = [
        part.get_filename() or part.get_content_type()
        for part in _parts(message, attached)
        if _is_attachment(part)
    ]
    for text in _texts(message, found):
        lines += ["", *text.split("\n")]
    lines += [f"Attachment: {name}" for name in names]
    found.add(label, "\n".join(lines), _header(message, "Subject"))


def _parts(message: EmailMessage, attached: list[EmailMessage]) -> list[EmailMessage]:
    """Return the parts of a message. Messages attached to it are added to `attached` instead."""
    waiting, parts = [message], list[EmailMessage]()
    while waiting and len(parts) < _MAX_PARTS:
        part = waiting.pop(0)
        inner = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
        if part.get_content_type() == "message/rfc822":
            attached += inner
        else:
            waiting += inner
            parts.append(part)
    return parts


def _texts(part: EmailMessage, found: ExtractedDocument) -> list[str]:
    """Return the texts of a message or of a part of it, in the order in which they are shown.

    Attachments are left out. Of alternatives, the plain text is returned unless it is empty.
    """
    if _is_attachment(part):
        return []
    kind = part.get_content_type()
    if kind in ("text/plain", "text/html"):
        text = _text_of(part, found).strip()
        return [text] if text else []
    if part.get_content_maintype() != "multipart":
        return []
    inner = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
    if kind == "multipart/related":
        inner = inner[:1]  # the other parts are images and styles of the first part
    if kind == "multipart/alternative":
        inner.sort(key=lambda one: one.get_content_type() != "text/plain")
        return next((texts for one in inner if (texts := _texts(one, found))), [])
    return [text for one in inner for text in _texts(one, found)]


def _text_of(part: EmailMessage, found: ExtractedDocument) -> str:
    payload = part.get_payload(decode=True)
    content = _decode(payload if isinstance(payload, bytes) else b"", part.get_content_charset())
    if part.get_content_subtype() != "html":
        return content
    own = ExtractedDocument(found.max_chars, found.max_seconds)
    with suppress(LimitReachedError):
        read_html(content, own)
    return "\n".join(place.text for place in own.places)


def _decode(raw: bytes, charset: str | None) -> str:
    """Decode text. Programs often send UTF-8 without a charset, or call it ASCII."""
    with suppress(LookupError, ValueError):  # an unknown charset
        if charset and codecs.lookup(charset).name != "ascii":
            return raw.decode(charset, "replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _is_attachment(part: EmailMessage) -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        return ""  # the parser fails for some malformed headers
