"""Split a message into its parts, in time that grows linearly with its size.

The parser of the standard library checks every line against every enclosing boundary, has no limit
on the number of parts, and needs quadratic time for a long header.
"""

from __future__ import annotations

import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

from rootle.sources.documents.places import ExtractedDocument, LimitReachedError

_MAX_PARTS: Final = 10_000
_MAX_DEPTH: Final = 50
# Longer fields are cut. Only fields such as a list of a thousand recipients are longer.
_MAX_FIELD_CHARS: Final = 4_096
_MAX_HEAD_BYTES: Final = 256_000
# Addresses and dates are normalized only in fields of at most this length, because the time that
# this takes grows with the square of the length.
_MAX_STRUCTURED_CHARS: Final = 300
_MAX_FIELDS: Final = 1_000
_BLANK_LINE: Final = re.compile(rb"\n\r?\n")
_LINE_BREAK: Final = re.compile(rb"\r?\n")
_FIELDS: Final = frozenset(
    "subject from to cc date content-type content-disposition content-transfer-encoding".split()
)
MESSAGE: Final = "message/rfc822"  # the type of a part that is an attached message


@dataclass
class MimePart:
    """A message, or a part of one."""

    head: Message  # the fields that are needed, each cut to _MAX_FIELD_CHARS; without content
    body: bytes  # empty if there are parts
    parts: list[MimePart] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The media type in lower case, such as "text/plain"."""
        return self.head.get_content_type()

    @property
    def file_name(self) -> str:
        """The name of the attachment, or "" if there is none."""
        return _decode_words(self.head.get_filename() or "")

    @property
    def is_attachment(self) -> bool:
        return self.head.get_content_disposition() == "attachment" or bool(self.file_name)

    @property
    def is_unsplit(self) -> bool:
        """Whether a multipart body was not split into parts, because it has no boundaries."""
        return self.kind.startswith("multipart/") and bool(self.body)

    @property
    def charset(self) -> str | None:
        return self.head.get_content_charset()

    def content(self) -> bytes:
        """Return the body without its transfer encoding."""
        self.head.set_payload(self.body.decode("ascii", "surrogateescape"))
        content = self.head.get_payload(decode=True)
        self.head.set_payload("")
        return content if isinstance(content, bytes) else b""

    def field(self, name: str) -> str:
        """Return the value of a field on one line; "" if there is none, or if it is malformed."""
        value = str(self.head.get(name, ""))
        if len(value) > _MAX_STRUCTURED_CHARS:
            return " ".join(_decode_words(value).split())
        try:
            parsed = email.policy.default.header_fetch_parse(name, value)
            return " ".join(str(parsed).split())
        except (ValueError, LookupError, AttributeError, TypeError):
            return ""  # the parser fails for some malformed fields


def read_parts(raw: bytes, found: ExtractedDocument) -> MimePart:
    """Return a message with its parts.

    Parts beyond a limit on the time, the depth or the number of parts are left out and counted.
    """
    if b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")  # the line ends of old Macs
    splitter = _Splitter(raw, found)
    message = splitter.add(0, len(raw), 0)
    splitter.split_all()
    return message


class _Splitter:
    """Splits parts, and the parts inside them, without recursion."""

    def __init__(self, raw: bytes, found: ExtractedDocument) -> None:
        self._raw = raw
        self._found = found
        self._count = 0
        # the parts that are still to be split, with their ranges and depths
        self._waiting: list[tuple[MimePart, int, int, int]] = []

    def add(self, start: int, end: int, depth: int, *, is_message: bool = False) -> MimePart:
        """Return the part in a range of bytes. If it can contain parts, it is split later."""
        self._count += 1
        head, body_at = self._read_head(start, end)
        if is_message and "content-type" not in head:
            head["content-type"] = MESSAGE  # in a digest, parts are messages by default
        part = MimePart(head, self._raw[body_at:end] if _is_leaf(head) else b"")
        if not _is_leaf(head):
            self._waiting.append((part, body_at, end, depth))
        return part

    def split_all(self) -> None:
        while self._waiting:
            part, start, end, depth = self._waiting.pop()
            try:
                self._found.check_time()
                self._split(part, start, end, depth)
            except LimitReachedError:
                return

    def _split(self, part: MimePart, start: int, end: int, depth: int) -> None:
        if depth >= _MAX_DEPTH:
            self._found.omit(max(1, end - start))
            return
        if part.kind == MESSAGE:
            part.parts.append(self.add(start, end, depth + 1))
            return
        at = start
        for first, last in self._list_ranges(part.head.get_boundary() or "", start, end):
            if self._count >= _MAX_PARTS:
                self._found.omit(max(1, end - first))
                return
            is_message = part.kind == "multipart/digest"
            part.parts.append(self.add(first, last, depth + 1, is_message=is_message))
            at = last
        if at == start:  # without any boundary, the content is the body of the message
            part.body = self._raw[start:end]

    def _list_ranges(self, boundary: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each part between boundaries."""
        if not boundary:
            return
        mark = re.escape(boundary.encode())
        lines = re.compile(rb"\n--" + mark + rb"(--)?[ \t]*(?=\r?\n|\Z)")
        first: int | None = None
        # The line break before a boundary is part of the boundary. The line break before the first
        # boundary may be the one that ends the head, so the search begins there.
        for match in lines.finditer(self._raw, max(0, start - 1), end):
            if first is not None:
                carriage_return = self._raw[match.start() - 1 : match.start()] == b"\r"
                yield first, max(first, match.start() - carriage_return)
            if match[1]:
                return
            line_break = _LINE_BREAK.match(self._raw, match.end(), end)
            first = line_break.end() if line_break else match.end()
        if first is not None:
            yield first, end

    def _read_head(self, start: int, end: int) -> tuple[Message, int]:
        """Return the fields of a part, and where its body starts."""
        blank = _LINE_BREAK.match(self._raw, start, end) or _BLANK_LINE.search(
            self._raw, start, end
        )
        head_end = blank.end() if blank else end
        raw = self._raw[start : min(head_end, start + _MAX_HEAD_BYTES)]
        parsed = BytesHeaderParser(policy=email.policy.compat32).parsebytes(raw)
        if blank and len(raw) < head_end - start:
            self._found.omit(head_end - start - len(raw))
            return self._keep_needed(parsed), head_end
        # A line that is not a field also ends the head, even without a blank line.
        rest = parsed.get_payload()
        after = len(rest.encode("ascii", "surrogateescape")) if isinstance(rest, str) else 0
        return self._keep_needed(parsed), start + len(raw) - after

    def _keep_needed(self, parsed: Message) -> Message:
        head = Message(policy=email.policy.compat32)
        for name, value in list(parsed.raw_items())[:_MAX_FIELDS]:
            if name.lower() in _FIELDS and name not in head:
                text = str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                self._found.omit(len(text[_MAX_FIELD_CHARS:]))
                head[name] = text[:_MAX_FIELD_CHARS]
        return head


def _is_leaf(head: Message) -> bool:
    return head.get_content_maintype() != "multipart" and head.get_content_type() != MESSAGE


def _decode_words(text: str) -> str:
    """Decode a text with encoded words: "=?utf-8?q?caf=C3=A9?="."""
    try:
        return str(make_header(decode_header(text)))
    except (ValueError, LookupError):
        return text
