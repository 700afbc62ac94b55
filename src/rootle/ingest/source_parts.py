"""Select a part of a document: lines, a section or a definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rootle.errors import SourceError
from rootle.ingest.reference_syntax import Reference
from rootle.serialization.path_text import escape_path
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.similarity.similar_names import similar_names
from rootle.text.terms import encodable
from rootle.types import DocumentSection, Passage

if TYPE_CHECKING:
    from rootle.ingest.named_ranges import NamedRange

# A reference to a single line returns the enclosing definition, or else this many lines before and
# after the line.
_LINES_AROUND: Final = 30
_MAX_DEFINITION_LINES: Final = 150
_WITH_ANCHORS: Final = frozenset({"html", "svelte", "vue"})
_MAX_NAMES: Final = 10
_MAX_OTHERS: Final = 5
_MAX_TITLE_CHARS: Final = 500
_MIN_SIMILARITY: Final = 0.7  # the minimum similarity of two names, from 0 to 1


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A whole document or commit."""

    passage: Passage
    sections: Sequence[DocumentSection] = ()


def format_names(names: Sequence[str]) -> str:
    """Return the first names, and how many others there are."""
    more = f", and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def select_part(whole: WholeDocument, reference: Reference) -> Passage:
    """Return the part of a document to which a reference refers.

    Raise SourceError if there is no such part.
    """
    passage = whole.passage
    first, last = reference.first_line, reference.last_line
    if reference.name:
        return _select_named(whole, reference.name)
    if first is None:
        return passage
    count = passage.total_lines
    source = escape_path(passage.source)
    if last is not None and last < first:
        raise SourceError(
            f"lines {first}-{last} of {source} end before they begin; request "
            f"{source}:{last}-{first}"
        )
    if first < 1 or first > count:
        given = f"{first}-{last}" if last is not None else str(first)
        raise SourceError(f"{source} has lines 1-{count}, not {given}; request lines in that range")
    if last is None:
        return _cut(passage, *_range_around(passage, first))
    found = _cut(passage, first, last)
    if last <= count:
        return found
    return replace(found, note=f"{source} ends at line {count}; line {last} does not exist")


def _range_around(passage: Passage, line: int) -> tuple[int, int]:
    """Return the range of the definition or section around a line.

    If there is none, or if it is long, return the range of the nearby lines.
    """
    from rootle.ingest.named_ranges import innermost_range, list_named_ranges

    found = innermost_range(list_named_ranges("\n".join(passage.lines), passage.language), line)
    if found is not None and found.last_line - found.first_line < _MAX_DEFINITION_LINES:
        return found.first_line, found.last_line
    return max(1, line - _LINES_AROUND), line + _LINES_AROUND


def _select_named(whole: WholeDocument, name: str) -> Passage:
    from rootle.ingest.anchors import find_anchor
    from rootle.ingest.named_ranges import (
        find_exact_ranges,
        find_in_sections,
        find_named_ranges,
        find_plain_names,
        list_named_ranges,
    )

    passage = whole.passage
    for at, section in enumerate(whole.sections):
        if name in (section.label, escape_path(section.label)):
            cut = _cut(passage, section.start_line, section.end_line)
            previous = whole.sections[at - 1] if at else None
            if not section.title or previous is None or previous.title != section.title:
                return cut
            # The title, such as the columns of a sheet, may be only in the text before the section.
            title = encodable(section.title[:_MAX_TITLE_CHARS])
            return replace(cut, note=f"part of: {title}")
    text = "\n".join(passage.lines)
    ranges = list_named_ranges(text, passage.language, max_chars=len(text))
    # In code, names that differ in case are different. A heading has an anchor in lower case.
    is_code = passage.language in CODE_EXTENSIONS and passage.language not in _WITH_ANCHORS
    find_ranges = find_exact_ranges if is_code else find_named_ranges
    if found := find_ranges(ranges, name) or find_in_sections(whole.sections, ranges, name):
        return _cut_first(passage, found)
    line = find_anchor(text, passage.language, name)
    if line is not None:
        return _cut(passage, *_section_around(passage, ranges, line))
    if found := find_plain_names(text, passage.language, name):
        return _cut_first(passage, found)
    if found := find_named_ranges(ranges, name):
        return _cut_other_spelling(passage, found, name)
    source = escape_path(passage.source)
    names = [section.label for section in whole.sections]
    names += [candidate.names[-1] for candidate in ranges]
    if not names:
        raise SourceError(f"{source} has no headings or definitions; request lines instead")
    known = format_names(_nearest_first(names, name))
    raise SourceError(f'{source} has no "{encodable(name)}"; it has: {known}')


def _nearest_first(names: Sequence[str], name: str) -> list[str]:
    """Return the distinct names, beginning with those that are similar to `name`."""
    distinct = list(dict.fromkeys(names))
    near = similar_names(name, distinct, _MIN_SIMILARITY)
    # Names of equal similarity keep their order.
    near.sort(key=lambda pair: (-pair[0], distinct.index(pair[1])))
    return list(dict.fromkeys([*(other for _, other in near), *distinct]))


def _section_around(passage: Passage, ranges: Sequence[NamedRange], line: int) -> tuple[int, int]:
    """Return the section of an anchor.

    If the anchor is far below the start of a long section, or in no section, return the lines
    around the anchor.
    """
    from rootle.ingest.named_ranges import innermost_range

    found = innermost_range(ranges, line)
    if found is not None and line - found.first_line < _LINES_AROUND:
        return found.first_line, found.last_line
    return _range_around(passage, line)


def _cut_first(passage: Passage, found: Sequence[NamedRange]) -> Passage:
    """Return the lines of the first range, with a note that names the others.

    Adjacent definitions of the same name are one range, such as the signatures of an overloaded
    function and its implementation (TypeScript).
    """
    from rootle.ingest.named_ranges import join_adjacent

    first, *others = join_adjacent(found)
    cut = _cut(passage, first.first_line, first.last_line)
    return replace(cut, note=_describe_others(others)) if others else cut


def _cut_other_spelling(passage: Passage, found: Sequence[NamedRange], name: str) -> Passage:
    """Return the lines of the first range, with a note that its name is not the requested one."""
    cut = _cut_first(passage, found)
    shown = encodable(found[0].path[-1])
    note = f'there is no "{encodable(name)}" here; this is "{shown}"'
    return replace(cut, note=f"{note}; {cut.note}" if cut.note else note)


def _describe_others(others: Sequence[NamedRange]) -> str:
    places = [f"{other.first_line}-{other.last_line}" for other in others[:_MAX_OTHERS]]
    more = " …" if len(others) > len(places) else ""
    noun = "place has" if len(others) == 1 else "places have"
    return f"{len(others)} other {noun} this name: lines {', '.join(places)}{more}"


def _cut(passage: Passage, first: int, last: int) -> Passage:
    return replace(passage, start_line=first, lines=passage.lines[first - 1 : last])
