"""Texts cut by somebody else's chunker, held to the limits that our own keep."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from rootle.errors import PluginError
from rootle.ingest.chunker import Cut, cut_parts
from rootle.ingest.limits import ChunkLimits
from rootle.ingest.lines import Lines, Name, Part
from rootle.plugins import Found, Section, called_within, load, made

_LOG = logging.getLogger(__name__)

# For one file. A chunker that took longer is not asked again by this process.
_TIMEOUT_S: Final = 10.0

Cutter = Callable[[str], Iterable[Section]]


def cut_by_plugin(path: str, text: str, language: str, limits: ChunkLimits) -> Cut | None:
    """The cut of the chunker for this ending or language; None where there is none that works."""
    references = dict(limits.chunkers)
    for name in ("." + path.rpartition("/")[2].rpartition(".")[2], language):
        opened = _opened(name, references[name]) if name in references else None
        if opened is not None:
            return _cut(opened, path, text, limits)
    return None


class _Opened:
    """A chunker of this process."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.cutter: Cutter = made(found)
        self.is_given_up = False


@cache
def _opened(name: str, reference: str) -> _Opened | None:
    try:
        for found in load(reference):
            if found.plugin.kind == "chunker" and found.plugin.name == name:
                return _Opened(found)
    except PluginError as error:
        _LOG.warning("%s; files are cut without it", error)
    return None


def _cut(opened: _Opened, path: str, text: str, limits: ChunkLimits) -> Cut | None:
    if opened.is_given_up:
        return None
    try:
        found = called_within(opened.found, lambda: list(opened.cutter(text)), _TIMEOUT_S)
        lines = Lines(text)
        sections = _checked(opened.found, found, len(lines))
    except PluginError as error:
        opened.is_given_up = "no answer" in str(error)
        _LOG.warning("%s: %s; it is cut without it", path, error)
        return None
    parts = [part for section in sections for part in _parts(section, lines, limits.max_chars)]
    names = [Name(s.start_line - 1, 0, name) for s in sections for name in s.names]
    return cut_parts(lines, parts, names, limits)


def _checked(found: Found, sections: Iterable[object], count: int) -> list[Section]:
    last = 0
    checked = []
    for section in sections:
        if (
            not isinstance(section, Section)
            or not last < section.start_line <= section.end_line <= count
        ):
            raise PluginError(
                f"the chunker {found.plugin.name} gave {section!r} for a text of {count} lines, "
                "expected Sections in their order that do not overlap"
            )
        last = section.end_line
        checked.append(section)
    return checked


def _parts(section: Section, lines: Lines, max_chars: int) -> Iterator[Part]:
    """The section in runs of whole lines that are no longer than a chunk may be."""
    place = (section.scope,) if section.scope else ()
    first = section.start_line - 1
    for row in range(first + 1, section.end_line):
        if lines.size(first, row + 1) > max_chars:
            yield Part(first, row, place)
            first = row
    yield Part(first, section.end_line, place)
