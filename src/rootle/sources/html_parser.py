"""An HTML parser that continues after a marked section that it does not know."""

from __future__ import annotations

from html.parser import HTMLParser


class TolerantHtmlParser(HTMLParser):
    """A parser that replaces character references in text with the characters."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Skip a section such as CDATA. An unknown kind of section is skipped like a comment."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)
