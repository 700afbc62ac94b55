"""Group paragraphs by their headings, for documents without fixed pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.sources.documents.places import ExtractedDocument
from rootle.sources.documents.section_labels import make_label

_SEPARATOR: Final = " > "
_CELL_SEPARATOR: Final = " | "
# Headings of a deeper level are treated as headings of this level, so that the path of a heading
# stays short.
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

    def start_section(self, level: int, text: str) -> None:
        """Start the section of a heading; level 1 is the outermost."""
        text = " ".join(text.split())
        if not text:
            return
        self.end_section()
        level = min(max(1, level), _MAX_LEVEL)
        self._path = [outer for outer in self._path if outer[0] < level] + [(level, text)]
        self._lines.append(text)

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph. It becomes one line, or several lines if it contains line breaks."""
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


@dataclass
class _Open:
    """A paragraph, note or comment that has not ended. A note or comment has no level."""

    level: int | None
    parts: list[str] = field(default_factory=list)


class ParagraphStack:
    """Collects paragraphs, which can contain others in footnotes, comments and text boxes."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._depth = 0  # the number of open paragraphs, without notes
        self._inner: list[tuple[int, str]] = []

    def start(self, level: int = 0) -> None:
        """Start a paragraph (level 0) or a heading."""
        self._open.append(_Open(level))
        self._depth += 1

    def start_note(self) -> None:
        """Start a note. Its paragraphs are kept; its number and its author are not."""
        self._open.append(_Open(None))

    def end_note(self) -> None:
        """End the note that was started last."""
        if self._open and self._open[-1].level is None:
            self._open.pop()

    def set_level(self, level: int) -> None:
        """Change the level of the paragraph that was started last."""
        if self._open and self._open[-1].level is not None:
            self._open[-1].level = level

    def add(self, text: str) -> None:
        """Add text to the paragraph that was started last."""
        if self._open and self._open[-1].level is not None:
            self._open[-1].parts.append(text)

    def end(self) -> list[tuple[int, str]]:
        """End a paragraph. Return the level and the text of all paragraphs that are now complete.

        Paragraphs that are nested in another one follow it with level 0. They are complete when the
        outermost paragraph ends.
        """
        if not self._open or self._open[-1].level is None:
            return []
        done = self._open.pop()
        self._depth -= 1
        text = "".join(done.parts)
        if self._depth:
            self._inner.append((0, text))
            return []
        inner, self._inner = self._inner, []
        return [(done.level or 0, text), *inner]


class RowCells:
    """The cells of a table row. The text of a table inside a cell is part of the cell."""

    def __init__(self) -> None:
        self._cells: list[list[str]] = []  # the words of each cell

    def add(self, text: str) -> bool:
        """Add a paragraph to the last cell; return False if there is none."""
        if not self._cells:
            return False
        self._cells[-1] += text.split()
        return True

    def end(self) -> str:
        """Return the row, and start the next one."""
        cells, self._cells = self._cells, []
        return join_cells([" ".join(words) for words in cells])


def join_cells(cells: Sequence[str]) -> str:
    """Return a table row as text, in which empty cells keep their place; "" for an empty row."""
    return _CELL_SEPARATOR.join(cells).strip() if any(cells) else ""
