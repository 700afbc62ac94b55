"""The text of HTML in books and messages: headings, paragraphs, list items and table rows."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.headed_text import HeadedText

_BLOCKS: Final = frozenset(
    "p div li dt dd tr blockquote section article figcaption caption title pre br hr table ul ol "
    "body header footer main aside".split()
)
_IGNORED: Final = frozenset("script style head svg math template noscript".split())
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


def read_html(html: str, found: ExtractedDocument) -> None:
    """Add the headings of HTML."""
    text = HeadedText(found)
    parser = _HtmlText(text)
    parser.feed(html)
    parser.close()
    parser.flush()
    text.end_section()


class _HtmlText(HTMLParser):
    """Passes the headings and paragraphs of HTML to a HeadedText."""

    def __init__(self, text: HeadedText) -> None:
        super().__init__(convert_charrefs=True)
        self._text = text
        self._parts: list[str] = []
        self._level = 0
        self._ignored = ""
        self._is_preformatted = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if self._ignored == "head" and tag == "body":
            self._ignored = ""  # HTML does not require the end tag of the head
        if self._ignored:
            return
        if tag in _IGNORED:
            self._ignored = tag
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.flush()
            self._level = _HEADINGS.get(tag, 0)
            self._is_preformatted = tag == "pre"
        elif tag in ("td", "th") and self._parts:
            self._parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._ignored:
            self._ignored = ""
        elif not self._ignored and (tag in _BLOCKS or tag in _HEADINGS):
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self._ignored:
            self._parts.append(data)

    def flush(self) -> None:
        """Pass on the paragraph or heading that was read last."""
        text, self._parts = "".join(self._parts), []
        level, self._level = self._level, 0
        if level:
            self._text.heading(level, text)
        else:
            self._text.paragraph(text if self._is_preformatted else " ".join(text.split()))
        self._is_preformatted = False
