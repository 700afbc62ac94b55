"""The parts of a text that have a name: headings with what stands under them, definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.ingest.chunking.chunker import SCOPE_SEPARATOR, is_parseable
from rootle.ingest.chunking.grammars import GRAMMARS, load_grammar
from rootle.ingest.chunking.lines import Lines
from rootle.ingest.chunking.outline import Unit, read_outline
from rootle.ingest.chunking.prose_splitter import headings_of

# A file as large as this is read by its lines; parsing it would keep the reader waiting.
_MAX_PARSED_CHARS: Final = 500_000
_NO_ANCHOR: Final = re.compile(r"[^\w\- ]")
# How a member is written behind its owner.
_MEMBER: Final = re.compile(r"::|[.#]")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it, or a definition."""

    path: tuple[str, ...]  # titles from the outermost one: "class A", "def b"
    names: tuple[str, ...]  # the same as names: "A", "b"
    first_line: int  # from 1, inclusive
    last_line: int

    @property
    def title(self) -> str:
        return SCOPE_SEPARATOR.join(self.path)


def sections_of(text: str, language: str) -> list[Section]:
    """In the order of the text; none where it has no structure that we know."""
    lines = Lines(text)
    if language not in GRAMMARS:
        return list(_under_headings(lines, language))
    if len(text) > _MAX_PARSED_CHARS or not is_parseable(text):
        return []
    outline = read_outline(lines, load_grammar(language))
    return list(_definitions(outline.root, (), ())) if outline is not None else []


def find_section(sections: Sequence[Section], wanted: str) -> Section | None:
    """The first with a name: "b", "A.b", "class A > def b", "A heading" or "a-heading"."""
    for reading in (wanted.split(SCOPE_SEPARATOR.strip()), _MEMBER.split(wanted), [wanted]):
        parts = [part.strip() for part in reading]
        found = next((section for section in sections if _is_called(section, parts)), None)
        if found is not None:
            return found
    return None


def section_around(sections: Sequence[Section], line: int) -> Section | None:
    """The smallest one with a line in it."""
    around = [found for found in sections if found.first_line <= line <= found.last_line]
    return min(around, key=lambda found: found.last_line - found.first_line, default=None)


def _under_headings(lines: Lines, language: str) -> Iterator[Section]:
    headings = headings_of(lines, language)
    path: list[tuple[int, str]] = []
    for at, heading in enumerate(headings):
        after = (other.first for other in headings[at + 1 :] if other.level <= heading.level)
        _, end = lines.trim(heading.first, next(after, len(lines)))
        path = [*(outer for outer in path if outer[0] < heading.level)]
        path.append((heading.level, heading.text))
        titles = tuple(text for _, text in path)
        yield Section(titles, titles, heading.first + 1, max(end, heading.end))


def _definitions(unit: Unit, path: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Section]:
    for member in unit.members:
        titles = (*path, member.title)
        called = (*names, member.symbol or member.title)
        yield Section(titles, called, member.first + 1, member.end)
        yield from _definitions(member, titles, called)


def _is_called(section: Section, parts: Sequence[str]) -> bool:
    """Whether the last of its titles or names are these."""
    if len(parts) > len(section.path):
        return False
    last = len(section.path) - len(parts)
    pairs = zip(section.path[last:], section.names[last:], parts, strict=True)
    return all(_anchor(part) in (_anchor(title), _anchor(name)) for title, name, part in pairs)


def _anchor(text: str) -> str:
    """What a heading is called in a link."""
    return _NO_ANCHOR.sub("", text).strip().casefold().replace(" ", "-")
