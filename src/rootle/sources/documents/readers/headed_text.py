"""Group paragraphs by their headings, for documents without fixed pages."""

from __future__ import annotations

import re
from typing import Final

from rootle.sources.documents.places import ExtractedDocument

_NOT_IN_LABEL: Final = re.compile(r"[^\w\- ]")
_SEPARATOR: Final = " > "
# Deeper headings count as headings of this level, so that the path of a heading stays short.
_MAX_LEVEL: Final = 9
_MAX_BLOCK_CHARS: Final = 200_000


class HeadedText:
    """Adds a place for each heading, with the paragraphs up to the next heading.

    Text without any heading is added without a label, and is then cited by its lines.
    """

    def __init__(self, found: ExtractedDocument) -> None:
        self._found = found
        self._path: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._chars = 0

    def heading(self, level: int, text: str) -> None:
        """Start the section of a heading; level 1 is the outermost."""
        text = " ".join(text.split())
        if not text:
            return
        self.end_section()
        level = min(max(1, level), _MAX_LEVEL)
        self._path = [outer for outer in self._path if outer[0] < level] + [(level, text)]
        self._lines.append(text)

    def paragraph(self, text: str) -> None:
        """Add a paragraph, which becomes one line, or several if it contains line breaks."""
        text = text.strip()
        if not text:
            return
        self._lines.append(text)
        self._chars += len(text)
        if self._chars > _MAX_BLOCK_CHARS:
            self.end_section()

    def end_section(self) -> None:
        """Add the paragraphs since the last heading. Call this once more at the end."""
        lines, self._lines, self._chars = self._lines, [], 0
        titles = [title for _, title in self._path]
        label = make_label(titles[-1]) if titles else ""
        self._found.add(label, "\n".join(lines), _SEPARATOR.join(titles))


def make_label(heading: str) -> str:
    """Return the form of a heading that links use: "Open questions" becomes open-questions.

    The label never looks like a range of lines, such as "L15".
    """
    plain = _NOT_IN_LABEL.sub("", heading).strip().casefold()
    label = "-".join(plain.split()) or "section"
    return f"section-{label}" if label[:1] == "l" and label[1:2].isdigit() else label
