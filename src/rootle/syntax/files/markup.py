"""Components of Vue, Svelte and Astro: markup with scripts in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SCRIPT: Final = b"<script"
_SCRIPT_END: Final = b"</script"
_FRONT_MATTER: Final = b"---"
_NOT_NEWLINE: Final = re.compile(rb"[^\n]+")
# Bytes before a name that are searched for the tag, the attribute or the expression around it.
_MAX_BEFORE: Final = 1_000
_MAX_RECEIVER: Final = 100
# The start of the value of an attribute. The values of the attributes in group 1 are code.
_ATTRIBUTE: Final = re.compile(rb"(?<![\w:@#.-])(v-|[:@#])?[\w:.\[\]-]{1,80}=([\"'])")
_RECEIVER: Final = re.compile(rb"(?<![\w$.])([\w$.]{1,100}?)[?!]?\.\Z")


def hide_markup(data: bytes) -> bytes:
    """Return a component with spaces instead of everything but its scripts.

    In Astro, the front matter is also a script. All positions stay unchanged.
    """
    parts, at = [], 0
    for start, end in _list_code(data):
        parts += [_NOT_NEWLINE.sub(_hide, data[at:start]), data[start:end]]
        at = end
    return b"".join([*parts, _NOT_NEWLINE.sub(_hide, data[at:])])


def _hide(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _list_code(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each script."""
    end = 0
    if data.lstrip().startswith(_FRONT_MATTER):
        start = data.find(_FRONT_MATTER) + len(_FRONT_MATTER)
        end = max(0, data.find(b"\n" + _FRONT_MATTER, start))
        if end:
            yield start, end
    tag = data.find(_SCRIPT, end)
    while tag >= 0:
        start = data.find(b">", tag) + 1
        end = data.find(_SCRIPT_END, start)
        if not start or end < 0:
            return
        yield start, end
        tag = data.find(_SCRIPT, end + len(_SCRIPT_END))


def classify_markup(data: bytes, start: int, end: int) -> tuple[str, str]:
    """Return the kind and the receiver of the name between two positions outside of the scripts.

    The kind is "call", "reference", "comment" or "string", as in `OccurrenceRole`. The text of the
    page and the values of ordinary attributes are strings.
    """
    before, after = data[max(0, start - _MAX_BEFORE) : start], data[end : end + 2]
    if before.rfind(b"<!--") > before.rfind(b"-->"):
        return "comment", ""
    if before.endswith((b"<", b"</")):
        return "reference", ""
    is_quoted = before[-1:] in (b"'", b'"', b"`") and before[-1:] == after[:1]
    if before.rfind(b"{") > before.rfind(b"}"):
        return ("string", "") if is_quoted else _classify_code(before, after)
    attribute = next(iter(reversed(list(_ATTRIBUTE.finditer(before)))), None)
    if attribute is not None and attribute[2] not in before[attribute.end() :]:
        is_text = attribute[1] is None or (is_quoted and attribute.end() < len(before))
        return ("string", "") if is_text else _classify_code(before, after)
    return ("reference" if before.rfind(b"<") > before.rfind(b">") else "string"), ""


def _classify_code(before: bytes, after: bytes) -> tuple[str, str]:
    kind = "call" if after.lstrip().startswith(b"(") else "reference"
    if not before.endswith(b"."):
        return kind, ""
    found = _RECEIVER.search(before, max(0, len(before) - _MAX_RECEIVER))
    return kind, found[1].decode("utf-8", "replace") if found is not None else "()"
