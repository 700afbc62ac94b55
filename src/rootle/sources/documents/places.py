"""The text of a document by places: pages, slides, ranges of cells, or headings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rootle.sources.documents.section_labels import UniqueLabels
from rootle.types import DocumentSection

MAX_TITLE_CHARS: Final = 150
# Maximum number of places in a document, because every later step needs memory for each place. A
# book of a thousand pages has a thousand places.
_MAX_PLACES: Final = 20_000


_ASCII_WORD: Final = re.compile(r"[!-~]")
_ASCII_WORD_END: Final = re.compile(r"(?<![!-~])[!-~]+\Z")


class DocumentError(Exception):
    """A document cannot be read. The argument is one of skip_rules.REASONS."""


class LimitReachedError(Exception):
    """A limit on the time or the text of a document has been reached; the rest is left out."""


@dataclass(frozen=True, slots=True)
class ExtractedPlace:
    """A part of a document. It is cited by its label, or by its lines if the label is empty."""

    label: str
    title: str
    text: str


@dataclass
class ExtractedDocument:
    """Collects the text of a document until a limit is reached."""

    max_chars: int
    max_seconds: float
    clock: Callable[[], float] = time.monotonic
    places: list[ExtractedPlace] = field(default_factory=list)
    title: str = ""
    author: str = ""
    date_s: float | None = None
    language: str = "text"
    omitted_chars: int = 0  # an estimate
    recognizes: bool = False  # whether to recognize the text in pages that are images
    is_recognized: bool = False  # whether any text was recognized

    def __post_init__(self) -> None:
        self._chars = 0
        self._labels = UniqueLabels()
        self._deadline_s = self.clock() + self.max_seconds

    def add(self, label: str, text: str, title: str = "", remaining: float = 1.0) -> None:
        """Add a place, unless its text is blank. The label is made unique.

        `remaining` is an estimate: the amount of text after this place, divided by the amount up to
        here. Raise LimitReachedError if a limit is reached.
        """
        if not text.strip():
            self.check_time()
            return
        room = self.max_chars - self._chars
        kept, cut = text[:room], max(0, len(text) - room)
        if kept:
            title = shorten_title(title)
            name = self._labels.add(label) if label else ""
            self.places.append(ExtractedPlace(name, title, kept))
            self._chars += len(kept)
        is_full = len(text) == room or len(self.places) >= _MAX_PLACES
        if cut or (is_full and remaining > 0):
            self.omit(cut + int(remaining * self._chars))
            raise LimitReachedError
        self.check_time(remaining)

    def omit(self, chars: int) -> None:
        """Count characters that are left out."""
        self.omitted_chars += chars

    def check_time(self, remaining: float = 1.0) -> None:
        """Raise LimitReachedError if the time limit has passed. `remaining` is as in `add`."""
        if self.clock() > self._deadline_s:
            self.omit(max(1, int(remaining * self._chars)))
            raise LimitReachedError

    def remaining_seconds(self) -> float:
        """Return the seconds left until the time limit; negative if the limit has passed."""
        return self._deadline_s - self.clock()

    def used_time(self) -> float:
        """Return the used share of the time limit; more than 1 if the limit has passed."""
        return 1 - (self._deadline_s - self.clock()) / self.max_seconds


def shorten_title(title: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """Return a title on one line, cut at the limit, but never within a word of ASCII characters.

    If a token or password were cut, its beginning would not be recognized as a secret, and would
    therefore not be masked.
    """
    title = " ".join(title.split())
    kept, rest = title[:max_chars], title[max_chars:]
    return _ASCII_WORD_END.sub("", kept).rstrip() if _ASCII_WORD.match(rest) else kept


def join_places(
    places: list[tuple[str, str, str]],
) -> tuple[str, tuple[DocumentSection, ...]]:
    """Join places (label, title, text) with blank lines; return the text and its sections.

    A place with an empty label does not become a section. Of several places with the same label,
    only the first one can be opened with this label.
    """
    lines: list[str] = []
    sections = []
    for label, title, text in places:
        if lines:
            lines.append("")
        first = len(lines) + 1
        lines += text.rstrip("\n").split("\n")
        if label:
            sections.append(DocumentSection(label, first, len(lines), title))
    return "\n".join(lines) + "\n", tuple(sections)
