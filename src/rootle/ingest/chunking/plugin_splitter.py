"""Split a text with a chunker plugin, within the size limits of chunks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from rootle.errors import PluginError
from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import ChunkedText, split_ranges
from rootle.plugins.hook import PluginHook, open_hook
from rootle.plugins.registry import FoundPlugin, Section
from rootle.syntax.lines import LineRange, Lines, Name

_LOG = logging.getLogger(__name__)


def split_with_plugin(
    uri: str, text: str, language: str, limits: ChunkLimits
) -> ChunkedText | None:
    """Split a text with the plugin for its file ending or language.

    Return None if there is no such plugin, or if it fails.
    """
    references = dict(limits.chunkers)
    for name in (_find_ending(uri), language):
        chunker = open_hook("chunker", name, references[name]) if name in references else None
        if chunker is not None:
            return _split(chunker, uri, text, limits)
    return None


def _find_ending(uri: str) -> str:
    """Return the ending of a file, such as ".recipe", as plugins register it."""
    return "." + uri.rpartition("/")[2].rpartition(".")[2].lower()


def _split(chunker: PluginHook, uri: str, text: str, limits: ChunkLimits) -> ChunkedText | None:
    try:
        found = chunker.call(lambda: list(chunker.component(text)))
        lines = Lines(text)
        own = _check_sections(chunker.found, found, len(lines))
    except PluginError as error:
        _LOG.warning("%s: %s; the text is split without the plugin", uri, error)
        return None
    sections = list(_fill_gaps(own, len(lines)))
    ranges = [part for section in sections for part in _limit(section, lines, limits.max_chars)]
    names = [Name(s.start_line - 1, 0, name) for s in sections for name in s.names]
    return split_ranges(lines, ranges, names, limits)


def _check_sections(found: FoundPlugin, sections: Iterable[object], count: int) -> list[Section]:
    last = 0
    checked = []
    for section in sections:
        if (
            not isinstance(section, Section)
            or not _has_valid_types(section)
            or not last < section.start_line <= section.end_line <= count
        ):
            raise PluginError(
                f"the chunker {found.plugin.name} returned {section!r} for a text of {count} "
                "lines, expected Sections in order and without overlaps, whose names are a tuple "
                "of strings"
            )
        last = section.end_line
        checked.append(section)
    return checked


def _has_valid_types(section: Section) -> bool:
    are_lines = type(section.start_line) is type(section.end_line) is int
    are_names = isinstance(section.names, tuple | list) and all(
        isinstance(name, str) for name in section.names
    )
    return are_lines and are_names and isinstance(section.scope, str)


def _fill_gaps(sections: Iterable[Section], count: int) -> Iterator[Section]:
    """Return the sections of a text of `count` lines, and further sections for the other lines."""
    last = 0
    for section in sections:
        if section.start_line > last + 1:
            yield Section(last + 1, section.start_line - 1)
        yield section
        last = section.end_line
    if last < count:
        yield Section(last + 1, count)


def _limit(section: Section, lines: Lines, max_chars: int) -> Iterator[LineRange]:
    """Split a section into ranges of at most max_chars; only a single line may be longer."""
    path = (section.scope,) if section.scope else ()
    first = section.start_line - 1
    for row in range(first + 1, section.end_line):
        if lines.size(first, row + 1) > max_chars:
            yield LineRange(first, row, path)
            first = row
    yield LineRange(first, section.end_line, path)
