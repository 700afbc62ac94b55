"""The text of HTML in books and messages: headings, paragraphs, list items and table rows."""

from __future__ import annotations

from typing import Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.readers.headed_text import HeadedText
from rootle.sources.html_parser import TolerantHtmlParser

_BLOCKS: Final = frozenset(
    "p div li dt dd tr blockquote section article figcaption caption title pre br hr table ul ol "
    "body header footer main aside".split()
)
_READINGS: Final = ("rt", "rp")  # pronunciations of Japanese words
_IGNORED: Final = frozenset((*"script style head svg math template noscript".split(), *_READINGS))
_CELLS: Final = ("td", "th")
_PARAGRAPHS: Final = ("p", "div")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


def read_html(html: str, found: ExtractedDocument) -> None:
    """Add a place for each heading of an HTML text."""
    text = HeadedText(found)
    parser = _HtmlText(text)
    parser.feed(escape_unclosed(html))
    parser.close()
    parser.flush()
    text.end_section()


def escape_unclosed(html: str) -> str:
    """Escape each "<" after the last ">".

    The parser would treat these characters as text too, but only after it has searched the rest of
    the text for each of them, which takes quadratic time.
    """
    head, end, tail = html.rpartition(">")
    return head + end + tail.replace("<", "&lt;")


class _HtmlText(TolerantHtmlParser):
    """Passes the headings and paragraphs of HTML to a HeadedText."""

    def __init__(self, text: HeadedText) -> None:
        super().__init__()
        self._text = text
        self._parts: list[str] = []
        self._level = 0
        self._ignored = ""
        self._is_preformatted = False
        self._is_first_cell = True
        self._is_in_cell = False
        self._is_cell_empty = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if self._ignored == "head" and tag == "body":
            self._ignored = ""  # HTML does not require the end tag of the head
        if self._ignored in _READINGS and (tag in _BLOCKS or tag in _HEADINGS):
            self._ignored = ""
        if self._ignored:
            return
        if tag in _IGNORED:
            self._ignored = tag
        elif tag == "br" and (self._level or self._is_preformatted):
            self._parts.append("\n")
        elif tag in _CELLS:
            if not self._is_first_cell:
                self._parts.append(" | ")
            self._is_first_cell = False
            self._is_in_cell = self._is_cell_empty = True
        elif tag in _BLOCKS or tag in _HEADINGS:
            # A paragraph at the start of a table cell does not begin a new line.
            if not (tag in _PARAGRAPHS and self._is_in_cell and self._is_cell_empty):
                self.flush()
            self._level = _HEADINGS.get(tag, 0)
            self._is_preformatted = tag == "pre"
            self._is_first_cell = tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        if tag == self._ignored or (tag == "ruby" and self._ignored in _READINGS):
            self._ignored = ""
        elif self._ignored or tag == "br":
            return
        elif tag in _PARAGRAPHS and self._is_in_cell:
            self._parts.append(" ")
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.flush()
        if tag in ("tr", "table", *_CELLS):
            self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if not self._ignored:
            self._parts.append(data)
            self._is_cell_empty = self._is_cell_empty and not data.strip()

    def flush(self) -> None:
        """Pass on the paragraph or heading that was read last."""
        text, self._parts = "".join(self._parts), []
        level, self._level = self._level, 0
        if level:
            self._text.start_section(level, text)
        else:
            line = text if self._is_preformatted else " ".join(text.split())
            self._text.add_paragraph("" if line.strip(" |") == "" else line)  # a row of empty cells
        self._is_preformatted = False
