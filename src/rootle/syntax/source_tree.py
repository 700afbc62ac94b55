"""A parsed source text: look up its definitions and the syntax at a position."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from tree_sitter import Node

from rootle.syntax.files.markup import list_styles
from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.lines import Lines, Name
from rootle.syntax.node_rows import row_range
from rootle.syntax.parse_limits import grammar_name, is_parseable
from rootle.syntax.symbol_outline import Outline, Unit, encode, outline_tree, parse_tree

# The text before the last part of a qualified name, as in "A::b", "a.B", "~A" and "#a".
_QUALIFIER: Final = (
    r"[*&~@#:\s\"'`]*(?:[\w$]+(?:<(?:[^<>]|<[^<>]*+>)*+>)?\s*(?:::|[.:\\#]|->)\s*~?)*"
)

# A limit on the work for one file: the number of steps from a node to a child that tree-sitter
# takes to find the ancestors of all occurrences of a name. This many steps take about a second. In
# ordinary code, a name is 10 to 40 levels deep.
_MAX_CLIMBED: Final = 100_000_000

_MAX_NAME: Final = 1_000  # bytes of a qualified name
# Types of nodes at the start of a declaration, on lines of their own.
_DECORATORS: Final = frozenset(
    "annotation attribute_item attribute_list decorator marker_annotation".split()
)

Position = tuple[int, int]  # row and column, both from 0; the column counts bytes


@dataclass(frozen=True)
class SourceTree:
    """The syntax tree and the outline of a text."""

    language: str  # a key of GRAMMARS; in a component, the language of its scripts
    lines: Lines
    data: bytes  # the encoded text
    root: Node
    outline: Outline
    has_markup: bool = False  # whether the text is a component; the tree contains only its scripts

    @cached_property
    def row_starts(self) -> list[int]:
        """The offset of each line in `data`."""
        if len(self.data) == len(self.lines.text):  # each character is one byte
            return self.lines.starts[:-1]
        starts, at = [0], self.data.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.data.find(b"\n", at + 1)
        return starts

    def node_at(self, row: int, column: int, size: int) -> Node:
        """Return the smallest node that encloses the `size` bytes at a position."""
        start = self.row_starts[row] + column
        return self.root.descendant_for_byte_range(start, start + size) or self.root

    def are_too_deep(self, positions: Iterable[Position]) -> bool:
        """Return whether climbing from all the positions to the root would take too long.

        The time for each position grows with the square of its depth, because tree-sitter finds the
        parent of a node by descending from the root.
        """
        left, cursor = _MAX_CLIMBED, self.root.walk()
        for row, column in positions:
            start, depth = self.row_starts[row] + column, 0
            cursor.reset(self.root)
            while depth * depth <= left and cursor.goto_first_child_for_byte(start) is not None:
                depth += 1
            left -= depth * depth
            if left < 0:
                return True
        return False

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def find_definitions(self, name: str) -> dict[Position, tuple[Unit, ...]]:
        """Return the positions at which a name is defined, with the units around each position.

        A unit is a definition in the outline, and the outermost unit comes first. If the `symbol`
        of the last unit is the name, this unit defines the name. Otherwise, the definition is not a
        unit.
        """
        found: dict[Position, tuple[Unit, ...]] = {}
        entries = self._entries.get(name)
        if entries is None:
            return found
        word = re.escape(name.encode("utf-8", "replace"))
        qualified = re.compile(_QUALIFIER.encode() + b"(" + word + b")")
        for entry in entries:
            if (position := self._locate(entry, word, qualified)) is not None:
                found[position] = tuple(self.units_at(position[0]))
        return found

    @cached_property
    def styles(self) -> Sequence[tuple[int, int]]:
        """The start and the end in `data` of each style sheet, if the text is a component."""
        return list_styles(self.data) if self.has_markup else ()

    @cached_property
    def _entries(self) -> Mapping[str, Sequence[Name]]:
        """The names in the outline by their text."""
        entries: defaultdict[str, list[Name]] = defaultdict(list)
        for entry in self.outline.names:
            entries[entry.text].append(entry)
        return entries

    def find_occurrences(self, name: str) -> Iterator[Position]:
        """Yield the positions at which a name occurs as a whole word."""
        last = re.escape(name.encode("utf-8", "replace"))
        for match in re.finditer(rb"(?<![\w$])" + last + rb"(?![\w$])", self.data):
            row = bisect_right(self.row_starts, match.start()) - 1
            yield row, match.start() - self.row_starts[row]

    def units_at(self, row: int) -> Iterator[Unit]:
        """Yield the units that contain a row, outermost first."""
        unit: Unit | None = self._member_at(self.outline.root, row)
        while unit is not None:
            yield unit
            unit = self._member_at(unit, row)

    def _member_at(self, unit: Unit, row: int) -> Unit | None:
        """Return the first member of a unit that contains a row, without a scan of all members."""
        ends = self._member_ends.get(id(unit))
        if ends is None:
            ends = list(accumulate((one.end for one in unit.members), max))
            self._member_ends[id(unit)] = ends
        at = bisect_right(ends, row)  # the members before it end above the row
        return unit.members[at] if at < len(ends) and unit.members[at].row <= row else None

    @cached_property
    def _member_ends(self) -> dict[int, list[int]]:
        """Maps the id of a unit to the ends of its members; filled on demand.

        The list entry of a member is the largest end of this and all earlier members, so the list
        is sorted.
        """
        return {}

    def statement_at(self, row: int, column: int, size: int) -> tuple[int, int]:
        """Return the rows of the statement that defines the name at a position.

        The last row is exclusive. The rows include decorators and a comment directly above the
        statement.
        """
        node = self.node_at(row, column, size)
        while (parent := node.parent) is not None and parent.parent is not None:
            if _is_in_list(node):
                break
            if parent.start_point[0] != node.start_point[0] and not _begins_with_decorator(parent):
                break
            node = parent
        _, end = row_range(node, self.lines.rows)
        first, before = min(row, node.start_point[0]), _node_before(node)
        while before is not None and self._belongs_to_row(before, first):
            first, before = before.start_point[0], before.prev_sibling
        return first, end

    def _belongs_to_row(self, node: Node, row: int) -> bool:
        """Return whether a comment or an attribute fills the lines directly above a row."""
        first, column = node.start_point
        end, stop = node.end_point
        is_whole = not self._line(first)[:column].strip()
        is_above = is_whole and end + bool(stop) == row
        return is_above and ("comment" in node.type or node.type in _DECORATORS)

    def _locate(self, name: Name, last: bytes, qualified: re.Pattern[bytes]) -> Position | None:
        """Return the position of the last part of a name.

        `last` is a pattern for the last part. `qualified` also matches the qualifiers, and has the
        last part in group 1.

        Return None if the outline lists the name at the comment or attribute above its definition.
        """
        start = self.row_starts[name.row]
        first, end = start + name.column, self._line_end(name.row)
        match = qualified.match(self.data, first, min(end, first + _MAX_NAME))
        if match is not None and not self._is_in_comment(name.row, match.start(1) - start):
            return name.row, match.start(1) - start
        is_above = (name.row, name.text) in self._attached
        if name.column or is_above or name.row in self._comment_rows:
            return None
        # The name was guessed in text with a syntax error, so its column is unknown.
        match = re.search(rb"(?<!\w)" + last + rb"(?!\w)", self._line(name.row))
        return None if match is None else (name.row, match.start())

    @cached_property
    def _attached(self) -> frozenset[tuple[int, str]]:
        """The first rows of comments and attributes above definitions, with the defined names."""
        left, rows = [self.outline.root], set()
        while left:
            unit = left.pop()
            left.extend(unit.members)
            if unit.first < unit.row:
                rows.add((unit.first, unit.symbol))
        return frozenset(rows)

    def _is_in_comment(self, row: int, column: int) -> bool:
        return row in self._comment_rows and "comment" in self.node_at(row, column, 1).type

    @cached_property
    def _comment_rows(self) -> frozenset[int]:
        return frozenset(
            row for comment in self.outline.comments for row in range(comment.first, comment.end)
        )

    def _line(self, row: int) -> bytes:
        return self.data[self.row_starts[row] : self._line_end(row)]

    def _line_end(self, row: int) -> int:
        is_last = row + 1 == len(self.row_starts)
        return len(self.data) if is_last else self.row_starts[row + 1] - 1


def _is_in_list(node: Node) -> bool:
    """Return whether a node is a statement that is followed by another statement in a list."""
    after = node.next_sibling
    if after is None or not after.is_named or not node.child_count:
        return False
    return after.start_point[0] > node.start_point[0]


def _begins_with_decorator(node: Node) -> bool:
    """Return whether a statement begins with a decorator, as in "@IsNumber() public port = 80"."""
    first = node.children[0] if node.children else None
    if first is not None and first.type == "modifiers" and first.children:
        return first.children[0].type in {"attribute", *_DECORATORS}
    return first is not None and first.type in _DECORATORS


def _node_before(node: Node) -> Node | None:
    """Return the node before a statement. If the statement begins a body, look before the body."""
    row = node.start_point[0]
    while node.prev_sibling is None and node.parent is not None:
        if node.parent.start_point[0] != row:
            return None
        node = node.parent
    return node.prev_sibling


def read_source_tree(text: str, language: str) -> SourceTree | None:
    """Return the tree of a text, or None if there is no grammar or the text cannot be parsed."""
    if language not in GRAMMARS or not is_parseable(text):
        return None
    language = grammar_name(text, language)
    grammar, lines, data = load_grammar(language), Lines(text), encode(text)
    script_language = grammar.source.script_language
    root = parse_tree(data, grammar)
    if root is None:
        return None
    outline = outline_tree(root, data, lines, grammar)
    return SourceTree(
        script_language or language, lines, data, root, outline, has_markup=bool(script_language)
    )
