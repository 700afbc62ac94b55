"""Convert pages of documentation from HTML to Markdown, with the lines of their anchors."""

from __future__ import annotations

import re
from collections.abc import Collection
from html import unescape
from typing import Final

from rootle.sources.html_parser import TolerantHtmlParser

_MAIN: Final = re.compile(r"<main[\s>]|\srole=[\"']?main[\"'\s>]", re.IGNORECASE)
_IGNORED: Final = frozenset(
    "script style head nav footer form button select svg math template noscript iframe "
    "object canvas dialog textarea".split()
)
_IGNORED_CLASSES: Final = frozenset(
    "headerlink sphinxsidebar toctree-wrapper breadcrumbs related viewcode-link".split()
)
_BLOCKS: Final = frozenset(
    "p div section article main body figure figcaption blockquote ul ol dl dd table caption "
    "header details summary aside".split()
)
# Roles and classes of notes, as Sphinx, Pandoc and website generators write them. Notes are always
# read. Other `aside` elements are read only inside the main element.
_NOTE_ROLES: Final = re.compile(r"note|doc-\w{1,20}")
_NOTE_CLASSES: Final = frozenset(
    "footnote footnotes footnote-list topic admonition note tip hint info important warning "
    "caution danger attention".split()
)
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta source track wbr param".split()
)
_PARAGRAPHS: Final = ("p", "div")
_CELLS: Final = ("td", "th")
_CODE: Final = ("code", "tt", "kbd")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
FENCE: Final = "```"
_TERM: Final = "term"  # marks a term in a definition list


class MarkdownPage:
    """A converted page."""

    def __init__(self, html: str, anchors: Collection[str] = ()) -> None:
        """Convert HTML. `anchors` are the ids whose lines are wanted."""
        parser = _MarkdownWriter(set(anchors), has_main=_MAIN.search(html) is not None)
        parser.feed(html)
        parser.finish()
        self.title = " ".join("".join(parser.title).split())
        self.text = "\n".join(parser.lines).rstrip("\n") + "\n"
        last = self.text.count("\n")
        # Maps each id to its line number (counted from 1), in page order.
        self.anchors = {name: min(line, last) for name, line in parser.anchors.items()}


def to_markdown(html: str) -> str:
    """Return a fragment of HTML as Markdown."""
    return MarkdownPage(html).text


class _MarkdownWriter(TolerantHtmlParser):
    """Collects the lines of the main element of a page, or of the whole page if it has none."""

    def __init__(self, wanted: set[str], *, has_main: bool) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.title: list[str] = []
        self.anchors: dict[str, int] = {}
        self._wanted = wanted
        self._waits_for_main = has_main
        self._main: list[object] = []  # the tag of the main element, and how many are open
        self._ignored = ""  # the tag of an element that is left out
        self._ignored_depth = 0
        self._in_title = False
        self._parts: list[str] = []
        self._prefix = ""
        self._lists: list[list[object]] = []  # for each open list: its tag and its last number
        self._is_preformatted = False
        self._is_first_cell = True
        self._is_in_cell = False
        self._is_cell_empty = False

    def finish(self) -> None:
        """Handle the end of the page. An unfinished tag or comment is dropped, as HTML requires.

        `close` would read an unfinished tag or comment as text, and search for its end again after
        each "<", which takes quadratic time.
        """
        if not self.rawdata.startswith("<") and not self.cdata_elem:
            self.handle_data(unescape(self.rawdata))
        self.end_block()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if tag == "title" and not self.title:
            self._in_title = True
        if self._ignored == "head" and tag == "body":
            self._ignored = ""  # HTML does not require the end tag of the head
        if self._ignored:
            self._ignored_depth += tag == self._ignored
            return
        if self._waits_for_main and not self._enter_main(tag, values):
            return
        if self._main and tag == self._main[0]:
            self._main[1] = int(str(self._main[1])) + 1
        if self._is_ignored(tag, values):
            self._ignored, self._ignored_depth = tag, 1
            return
        self._start(tag, values)

    def _start(self, tag: str, values: dict[str, str]) -> None:
        if tag in _HEADINGS:
            self.end_block()
            self._prefix = "#" * _HEADINGS[tag] + " "
        elif tag in ("ul", "ol"):
            self.end_block()
            self._lists.append([tag, 0])
        elif tag == "li":
            self.end_block()
            self._prefix = self._item_prefix()
        elif tag == "dt":
            self.end_block()
            self._prefix = _TERM
        elif tag in _CELLS:
            if not self._is_first_cell:
                self._parts.append(" | ")
            self._is_first_cell = False
            self._is_in_cell = self._is_cell_empty = True
        elif tag == "tr" or tag in _BLOCKS:
            self._is_first_cell = tag == "tr"
            # A paragraph at the start of a table cell does not begin a new line.
            if not (tag in _PARAGRAPHS and self._is_in_cell and self._is_cell_empty):
                self.end_block()
        elif tag == "pre":
            self.end_block()
            self._is_preformatted = True
        elif tag in _CODE and self._marks_code():
            self._parts.append("`")
        elif tag == "br":
            self._parts.append("\n" if self._is_preformatted else " ")
        self._note_anchor(values.get("id") or (values.get("name", "") if tag == "a" else ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            self.handle_starttag(tag, attrs)
        else:  # HTML ignores the slash, but in XHTML it ends the element
            self.handle_starttag(tag, attrs)
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._ignored:
            self._ignored_depth -= tag == self._ignored
            if tag == self._ignored and self._ignored_depth <= 0:
                self._ignored = ""
            return
        if self._waits_for_main:
            return
        if tag in _CODE and self._marks_code():
            self._parts.append("`")
        elif tag in _PARAGRAPHS and self._is_in_cell:
            self._parts.append(" ")
        elif tag in _HEADINGS or tag in _BLOCKS or tag in ("li", "dt", "tr", "pre"):
            self.end_block()
        if tag in ("tr", "table", *_CELLS):
            self._is_in_cell = False
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if self._main and tag == self._main[0]:
            self._main[1] = int(str(self._main[1])) - 1
            if not self._main[1]:
                self._main, self._waits_for_main = [], True  # a page may have several main elements

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data[:500])
        if not self._ignored and not self._waits_for_main:
            self._parts.append(data)
            self._is_cell_empty = self._is_cell_empty and not data.strip()

    def end_block(self) -> None:
        """Write the block that was read last."""
        text, self._parts = "".join(self._parts), []
        prefix, self._prefix = self._prefix, ""
        if self._is_preformatted:
            self._is_preformatted = False
            if text.strip():
                self.lines += [FENCE, *text.strip("\n").split("\n"), FENCE, ""]
            return
        text = " ".join(text.split())
        if not text.strip(" |"):  # blank text, or a row of empty cells
            self._prefix = prefix if prefix.lstrip(" ").startswith(("-", "1")) else ""
            return
        if prefix == _TERM:
            prefix, text = "", f"`{text}`" if "(" in text else f"**{text}**"
        self.lines.append(f"{prefix}{text}")
        if not prefix.lstrip(" ").startswith("- "):
            self.lines.append("")

    def _marks_code(self) -> bool:
        """Return whether code is written in backticks. Code in headings and terms is not."""
        return not self._is_preformatted and self._prefix.lstrip(" ") in ("", "- ")

    def _item_prefix(self) -> str:
        if not self._lists:
            return "- "
        return "  " * min(6, len(self._lists) - 1) + "- "

    def _enter_main(self, tag: str, values: dict[str, str]) -> bool:
        if tag != "main" and values.get("role", "").lower() != "main":
            return False
        self._waits_for_main = False
        self._main = [tag, 0]
        return True

    def _is_ignored(self, tag: str, values: dict[str, str]) -> bool:
        if tag in _VOID:
            return False
        role, classes = values.get("role", "").lower(), values.get("class", "").split()
        if tag == "aside" and not self._main:
            return not (_NOTE_ROLES.fullmatch(role) or not _NOTE_CLASSES.isdisjoint(classes))
        return (
            tag in _IGNORED
            or role in ("navigation", "search", "contentinfo")
            or not _IGNORED_CLASSES.isdisjoint(classes)
        )

    def _note_anchor(self, name: str) -> None:
        if name in self._wanted and name not in self.anchors:
            self.anchors[name] = len(self.lines) + 1
