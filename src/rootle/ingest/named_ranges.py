"""Find named line ranges in a text: definitions, and headings with their sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.ingest.chunking.heading_splitter import (
    MAX_TITLE,
    Heading,
    clean_title,
    find_headings,
)
from rootle.syntax.blocks.block import Block
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.blocks.outline import read_blocks
from rootle.syntax.declared.type_names import read_type
from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.lines import Lines
from rootle.syntax.members import member_kind
from rootle.syntax.parse_limits import grammar_name, is_parseable
from rootle.syntax.source_tree import Position, SourceTree, read_source_tree
from rootle.syntax.symbol_outline import read_outline
from rootle.text.terms import compose
from rootle.types import DocumentSection

# Texts with more characters are not parsed, because this would take too long for each result of a
# search.
_MAX_PARSED_CHARS: Final = 500_000
_NOT_IN_ANCHOR: Final = re.compile(r"[^\w\- ]")
# Separators between a member and its owner.
_MEMBER: Final = re.compile(r"::|[.#:]")
_PROTOTYPE: Final = "prototype"
# The labels of blocks that have no name of their own, but add members to a type.
_TYPE_BLOCKS: Final = {"rust": "impl ", "swift": "extension "}
_TYPE_ARGUMENTS: Final = re.compile(r"<.*>|\[.*\]")


@dataclass(frozen=True, slots=True)
class NamedRange:
    """A definition, or a heading with its section."""

    path: tuple[str, ...]  # titles, outermost first: "class A", "def b"
    names: tuple[str, ...]  # the titles without labels: "A", "b"
    first_line: int  # from 1, inclusive
    last_line: int


def list_named_ranges(
    text: str, language: str, max_chars: int = _MAX_PARSED_CHARS
) -> list[NamedRange]:
    """Return the named ranges in the order of the text.

    Return none for text without known structure, and for code of more than `max_chars` characters.
    """
    text = compose(text)
    lines = Lines(text)
    if language not in GRAMMARS:
        sections = list(_list_sections(lines, language))
        if sections or len(text) > max_chars:
            return sections
        blocks = read_blocks(lines, language)
        return list(_list_definitions(blocks.root, (), ())) if blocks is not None else []
    if len(text) > max_chars or not is_parseable(text):
        return []
    if sections := list(_list_sections(lines, language)):  # an HTML page
        return sections
    outline = read_outline(lines, load_grammar(grammar_name(text, language)))
    return list(_list_definitions(outline.root, (), ())) if outline is not None else []


def find_named_ranges(ranges: Sequence[NamedRange], name: str) -> list[NamedRange]:
    """Return the ranges that match a name, in order.

    A name has a form such as "b", "A.b", "class A > def b", "A heading" or "a-heading".
    If there are exact matches, return only these.
    """
    name = compose(name)
    return find_exact_ranges(ranges, name) or _find_matches(ranges, name, _has_same_anchor)


def find_exact_ranges(ranges: Sequence[NamedRange], name: str) -> list[NamedRange]:
    """Return the matches of a name in the same spelling, in order.

    Ranges whose title is exactly `name` are preferred, because several headings can have equal
    anchors.
    """
    name = compose(name)
    title = clean_title(name)
    if exact := [candidate for candidate in ranges if candidate.path[-1] == title]:
        return exact
    return _find_matches(ranges, name, _is_same)


def _find_matches(
    ranges: Sequence[NamedRange], name: str, is_same: Callable[[str, str], bool]
) -> list[NamedRange]:
    for split in (name.split(SCOPE_SEPARATOR.strip()), _MEMBER.split(name), [name]):
        parts = [part.strip() for part in split]
        if found := [candidate for candidate in ranges if _matches(candidate, parts, is_same)]:
            return found
    return []


def find_in_sections(
    sections: Sequence[DocumentSection], ranges: Sequence[NamedRange], name: str
) -> list[NamedRange]:
    """Return the sections whose title matches a name.

    In `name`, a definition in the section can follow the title, as in "Study > def b". The
    definition is then returned.
    """
    titled = _list_titled_ranges(sections)
    if found := find_named_ranges(titled, name):
        return found
    parts = name.split(SCOPE_SEPARATOR)
    for count in range(len(parts) - 1, 0, -1):
        outer = find_named_ranges(titled, SCOPE_SEPARATOR.join(parts[:count]))
        inner = find_named_ranges(ranges, SCOPE_SEPARATOR.join(parts[count:])) if outer else []
        if found := [one for one in inner if any(_contains(around, one) for around in outer)]:
            return found
    return []


def _list_titled_ranges(sections: Sequence[DocumentSection]) -> list[NamedRange]:
    """Return a range for each heading in the titles, including all successive sections below it."""
    found: list[NamedRange] = []
    is_open: list[int] = []  # positions in `found` of the headings around the last section
    for section in sections:
        path = tuple(compose(section.title).split(SCOPE_SEPARATOR)) if section.title else ()
        while is_open and found[is_open[-1]].path != path[: len(is_open)]:
            is_open.pop()
        for at in is_open:
            found[at] = replace(found[at], last_line=section.end_line)
        for depth in range(len(is_open) + 1, len(path) + 1):
            is_open.append(len(found))
            titles = path[:depth]
            found.append(NamedRange(titles, titles, section.start_line, section.end_line))
    return found


def _contains(outer: NamedRange, inner: NamedRange) -> bool:
    return outer.first_line <= inner.first_line <= outer.last_line


def bare_name(name: str) -> str:
    """Return the last part of a qualified name: "c" for "A::b.c"."""
    return _MEMBER.split(name)[-1]


def list_symbols(found: NamedRange, language: str) -> tuple[str, ...]:
    """Return the names of a range; for a block of members of a type, the name of the type.

    The symbols of "impl Cart<T> > fn add" are Cart and add.
    """
    label = _TYPE_BLOCKS.get(language)
    if label is None:
        return found.names
    types = {
        name: read_type(name.removeprefix(label), language)
        for name in found.names
        if name.startswith(label)
    }
    return tuple(name if (type_ := types.get(name)) is None else type_.name for name in found.names)


def find_plain_names(text: str, language: str, name: str) -> list[NamedRange]:
    """Return the statements that define a name without a named range, such as a variable.

    `name` may be qualified with the name of an enclosing definition.
    """
    text = compose(text)
    *owners, last = _MEMBER.split(compose(name))
    tree = read_source_tree(text, language) if len(text) <= _MAX_PARSED_CHARS else None
    if tree is None or not last:
        return []
    size = len(last.encode("utf-8", "replace"))
    for places in (sorted(tree.find_definitions(last)), _find_members(tree, last, size)):
        found: dict[tuple[int, int], NamedRange] = {}
        for row, column in places:
            units = tuple(tree.units_at(row))
            if not owners or any(unit.symbol == owners[-1] for unit in units):
                first, end = tree.statement_at(row, column, size)
                path = (*(unit.title for unit in units), last)
                names = (*(unit.symbol or unit.title for unit in units), last)
                found.setdefault((first, end), NamedRange(path, names, first + 1, end))
        if found:
            return list(found.values())
    return []


def _find_members(tree: SourceTree, name: str, size: int) -> list[Position]:
    """Return the positions at which a name is defined as a field or a similar member.

    If several methods of a class assign an attribute, only the first assignment is returned.
    """
    places: dict[object, Position] = {}
    for position in tree.find_occurrences(name):
        kind = member_kind(tree, *position, size)
        if kind:
            owner = tuple(unit.title for unit in tree.units_at(position[0]))[:-1]
            places.setdefault(owner if kind == "attribute" else position, position)
    return list(places.values())


def join_adjacent(ranges: Sequence[NamedRange]) -> list[NamedRange]:
    """Return ranges; join successive ones that have the same name and no gap between them."""
    joined: list[NamedRange] = []
    for one in ranges:
        last = joined[-1] if joined else None
        if last is not None and last.path == one.path and one.first_line == last.last_line + 1:
            joined[-1] = replace(last, last_line=one.last_line)
        else:
            joined.append(one)
    return joined


def innermost_range(ranges: Sequence[NamedRange], line: int) -> NamedRange | None:
    """Return the smallest range that contains a line."""
    around = [found for found in ranges if found.first_line <= line <= found.last_line]
    return min(around, key=lambda found: found.last_line - found.first_line, default=None)


def _list_sections(lines: Lines, language: str) -> Iterator[NamedRange]:
    headings = find_headings(lines, language)
    ends = _find_ends(headings, len(lines))
    path: list[tuple[int, str]] = []
    for heading, after in zip(headings, ends, strict=True):
        _, end = lines.trim(heading.first, after)
        path = [*(outer for outer in path if outer[0] < heading.level)]
        path.append((heading.level, heading.text))
        titles = tuple(text for _, text in path)
        yield NamedRange(titles, titles, heading.first + 1, max(end, heading.end))


def _find_ends(headings: Sequence[Heading], last: int) -> list[int]:
    """Return, for each heading, the first line of the next heading of the same or a higher rank."""
    ends = [last] * len(headings)
    is_open: list[int] = []
    for at, heading in enumerate(headings):
        while is_open and headings[is_open[-1]].level >= heading.level:
            ends[is_open.pop()] = heading.first
        is_open.append(at)
    return ends


def _list_definitions(
    unit: Block, path: tuple[str, ...], names: tuple[str, ...]
) -> Iterator[NamedRange]:
    for member in unit.members:
        titles = (*path, member.title)
        symbols = (*names, member.symbol or member.title)
        yield NamedRange(titles, symbols, member.first + 1, member.end)
        yield from _list_definitions(member, titles, symbols)


def _matches(
    candidate: NamedRange, parts: Sequence[str], is_same: Callable[[str, str], bool]
) -> bool:
    """Return whether `parts` are the last titles or names of a range."""
    if len(parts) > 1 and _matches_qualified(candidate, parts):
        return True
    if len(parts) > len(candidate.path):
        return False
    last = len(candidate.path) - len(parts)
    pairs = zip(candidate.path[last:], candidate.names[last:], parts, strict=True)
    return all(is_same(part, title) or is_same(part, name) for title, name, part in pairs)


def _is_same(part: str, title: str) -> bool:
    # Long titles are cut off.
    return title == (clean_title(part) if len(title) == MAX_TITLE else part)


def _has_same_anchor(part: str, title: str) -> bool:
    cut = clean_title(part) if len(title) == MAX_TITLE else part
    return _anchor(cut) == _anchor(title)


def _matches_qualified(candidate: NamedRange, parts: Sequence[str]) -> bool:
    """Return whether `parts` are the last names of a range, without labels and type arguments.

    The names of "module Shop.Cart > def add" are Shop, Cart and add. "Cart.add" also matches
    "Cart.prototype.add" of JavaScript.
    """
    names: list[str] = []
    for title in candidate.path:
        plain = _TYPE_ARGUMENTS.sub("", title.partition(" ")[2] or title)
        names += _MEMBER.split(plain.strip("*& "))
    if _PROTOTYPE not in parts:
        names = [name for name in names if name != _PROTOTYPE]
    return names[-len(parts) :] == list(parts)


def _anchor(text: str) -> str:
    """Convert the text of a heading to the anchor that is used in links."""
    return _NOT_IN_ANCHOR.sub("", text).strip().casefold().replace(" ", "-")
