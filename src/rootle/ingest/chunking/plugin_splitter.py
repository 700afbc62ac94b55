"""Texts cut by somebody else's chunker, held to the limits that our own keep."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from rootle.errors import PluginError
from rootle.ingest.chunking.chunker import ChunkedText, cut_parts
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.ingest.chunking.lines import LineRange, Lines, Name
from rootle.plugins.hook import PluginHook, open_hook
from rootle.plugins.registry import Found, Section

_LOG = logging.getLogger(__name__)


def cut_by_plugin(path: str, text: str, language: str, limits: ChunkLimits) -> ChunkedText | None:
    """The cut of the chunker for this ending or language; None where there is none that works."""
    references = dict(limits.chunkers)
    for name in (_ending_of(path), language):
        cutter = open_hook("chunker", name, references[name]) if name in references else None
        if cutter is not None:
            return _cut(cutter, path, text, limits)
    return None


def _ending_of(path: str) -> str:
    """Return the ending under which plugins register a kind of file: ".recipe"."""
    return "." + path.rpartition("/")[2].rpartition(".")[2].lower()


def _cut(cutter: PluginHook, path: str, text: str, limits: ChunkLimits) -> ChunkedText | None:
    try:
        found = cutter.call(lambda: list(cutter.component(text)))
        lines = Lines(text)
        sections = _checked(cutter.found, found, len(lines))
    except PluginError as error:
        _LOG.warning("%s: %s; it is cut without it", path, error)
        return None
    parts = [piece for section in sections for piece in _pieces(section, lines, limits.max_chars)]
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


def _pieces(section: Section, lines: Lines, max_chars: int) -> Iterator[LineRange]:
    """The section in runs of whole lines that are no longer than a chunk may be."""
    place = (section.scope,) if section.scope else ()
    first = section.start_line - 1
    for row in range(first + 1, section.end_line):
        if lines.size(first, row + 1) > max_chars:
            yield LineRange(first, row, place)
            first = row
    yield LineRange(first, section.end_line, place)
