"""Read messages: headers, text, and the names of attachments."""

from __future__ import annotations

import email
import email.policy
from contextlib import suppress
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import BinaryIO, Final

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.documents.readers.html_text import read_html
from rootle.sources.files.skip_rules import DAMAGED

_HEADERS: Final = ("Subject", "From", "To", "Cc", "Date")
# Attachments are not read, but they must be skipped to find the text after them.
_MAX_BYTES: Final = 100_000_000
_MAX_PARTS: Final = 1_000


def read_mail(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add the message and, each with its own place, the messages attached to it."""
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
    names = []
    for part in _parts(message, attached):
        name = part.get_filename()
        if part.get_content_disposition() == "attachment" or name:
            names.append(name or part.get_content_type())
    with suppress(LookupError, KeyError, ValueError):
        body = message.get_body(("plain", "html"))
        if isinstance(body, EmailMessage):
            lines += ["", *_body_lines(body, found)]
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


def _body_lines(body: EmailMessage, found: ExtractedDocument) -> list[str]:
    content = body.get_content()
    if not isinstance(content, str):
        return []
    if body.get_content_subtype() != "html":
        return content.strip().split("\n")
    own = ExtractedDocument(found.max_chars, found.max_seconds)
    read_html(content, own)
    return [line for place in own.places for line in place.text.split("\n")]


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        return ""  # the parser of headers fails for some malformed ones
