"""Components of Vue, Svelte and Astro: markup with scripts in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

# The start of a comment, or of an element whose content is not markup; group 1 is its name.
_START: Final = re.compile(rb"<!--|<(script|style)(?=[\s/>])")
_COMMENT_END: Final = b"-->"
# The rest of a start tag. The value of an attribute can contain ">": `generic="T extends A<B>"`.
_TAG: Final = re.compile(rb"(?:[^\"'>]|\"[^\"]*\"|'[^']*')*+>")
_MAX_TAG: Final = 1_000
_SCRIPT: Final = b"script"
_FRONT_MATTER: Final = b"---"
_NOT_NEWLINE: Final = re.compile(rb"[^\n]+")
# Bytes before a name that are searched for the tag, the attribute or the expression around it.
_MAX_BEFORE: Final = 1_000
_MAX_RECEIVER: Final = 100
# The start of the value of an attribute. The values of the attributes in group 1 are code.
_ATTRIBUTE: Final = re.compile(rb"(?<![\w:@#.-])(v-|[:@#])?[\w:.\[\]-]{1,80}=([\"'])")
# A value of the script in a style sheet of Vue: `color: v-bind(color)`.
_BOUND: Final = re.compile(rb"\bv-bind\([\s\"']{0,9}\Z")
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
    yield from _list_elements(data, _SCRIPT, end)


def list_styles(data: bytes) -> list[tuple[int, int]]:
    """Return the start and the end of each style sheet in a component, in order."""
    return list(_list_elements(data, b"style", 0))


def _list_elements(data: bytes, name: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of the content of each script or style sheet after a position.

    Elements in comments, elements without content (`<script src="a.ts" />`), and elements without
    an end are left out.
    """
    while (found := _START.search(data, at)) is not None:
        if found[1] is None:
            end = data.find(_COMMENT_END, found.end())
            at = end + len(_COMMENT_END)
        else:
            tag = _TAG.match(data, found.end(), found.end() + _MAX_TAG)
            start = tag.end() if tag is not None else data.find(b">", found.end()) + 1
            if not start:
                return
            at = start
            if data[start - 2 : start] == b"/>":
                continue
            end = data.find(b"</" + found[1], start)
            if end >= 0 and found[1] == name:
                yield start, end
            at = end
        if end < 0:
            return


def classify_markup(
    data: bytes, styles: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[str, str]:
    """Return the kind and the receiver of the name between two positions outside of the scripts.

    The kind is "call", "reference", "comment" or "string", as in `OccurrenceRole`. The text of the
    page, the values of ordinary attributes, and names in the `styles` of the page are strings.
    """
    before, after = data[max(0, start - _MAX_BEFORE) : start], data[end : end + 2]
    style = bisect_right(styles, start, key=itemgetter(0)) - 1
    if style >= 0 and start < styles[style][1]:
        is_bound = _BOUND.search(before, max(0, len(before) - _MAX_RECEIVER)) is not None
        return ("reference" if is_bound else "string"), ""
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
