"""Find the line to which an anchor, such as an id in an HTML page, belongs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# Lines that can be between an anchor and the heading to which it belongs.
_HTML_ABOVE: Final = re.compile(r"\s*(?:<[^<>]*>\s*)*")
_MARKDOWN_ABOVE: Final = re.compile(r"\s*(?:<[^<>]*>\s*)*|\(.*\)=\s*")
_RST_ABOVE: Final = re.compile(r"\s*|\.\. _.*|\.\. index::.*|\s+(?:single|pair|triple|see):.*")
_ASCIIDOC_ABOVE: Final = re.compile(r"\s*|\[.*\]\s*|//.*")
_LATEX_ABOVE: Final = re.compile(r"\s*")
_MAX_LINES_ABOVE: Final = 20


def find_anchor(text: str, language: str, name: str) -> int | None:
    """Return the line, from 1, to which an anchor belongs; None if there is no such anchor.

    If a heading follows the anchor, this is the line of the heading.
    """
    if language not in _ANCHORS or not name.strip():
        return None
    make_pattern, above = _ANCHORS[language]
    pattern = make_pattern(name)
    for flags in (re.MULTILINE, re.MULTILINE | re.IGNORECASE):
        if found := re.search(pattern, text, flags):
            return _line_below(text, found.end(), above)
    return None


def _line_below(text: str, at: int, above: re.Pattern[str]) -> int:
    """Return the line of a position; if it contains only an anchor, the line of the text below."""
    line = text.count("\n", 0, at) + 1
    start = text.rfind("\n", 0, at) + 1
    rows = text[start:].split("\n", _MAX_LINES_ABOVE)[:_MAX_LINES_ABOVE]
    return next((number for number, row in enumerate(rows, line) if not above.fullmatch(row)), line)


def _html_pattern(name: str) -> str:
    value = rf"[\"']?{re.escape(name)}(?=[\"'\s/>])"
    return rf"\sid={value}|<a\s(?:[^<>]{{0,300}}\s)?name={value}"


def _markdown_pattern(name: str) -> str:
    """Return a pattern for the anchors of HTML, "{#name}", and the "(name)=" of MyST."""
    plain = re.escape(name)
    attribute = rf"\{{[^{{}}\n]{{0,200}}#{plain}(?=[\s}}])"
    return rf"{_html_pattern(name)}|{attribute}|^\({plain}\)=[ \t]*\r?$"


def _rst_pattern(name: str) -> str:
    """Return a pattern for a label. In links, its spaces and underscores can be hyphens."""
    words = (re.escape(word) for word in re.split(r"[ _-]", name))
    return rf"^[ \t]*\.\. _`?{'[ _-]'.join(words)}`?:[ \t]*\r?$"


def _asciidoc_pattern(name: str) -> str:
    """Return a pattern for "[[name]]", "[#name]", "[id=name]" and "anchor:name[]"."""
    plain = re.escape(name)
    return (
        rf"\[\[{plain}(?=[\],])|^\[[^\]\n#]{{0,200}}#{plain}(?=[\].,%])"
        rf"|^\[[^\]\n]{{0,200}}\bid=[\"']?{plain}(?=[\"',\]])|\banchor:{plain}\["
    )


def _latex_pattern(name: str) -> str:
    return rf"\\label\{{{re.escape(name)}\}}"


_ANCHORS: Final[dict[str, tuple[Callable[[str], str], re.Pattern[str]]]] = {
    "asciidoc": (_asciidoc_pattern, _ASCIIDOC_ABOVE),
    "html": (_html_pattern, _HTML_ABOVE),
    "latex": (_latex_pattern, _LATEX_ABOVE),
    "markdown": (_markdown_pattern, _MARKDOWN_ABOVE),
    "rst": (_rst_pattern, _RST_ABOVE),
}
