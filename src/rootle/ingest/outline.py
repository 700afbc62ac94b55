"""The definitions of a source text as a tree of line ranges, with its names and comments.

What a query file may capture, beside nodes that it only tests (these start with "_"):
  @unit.LABEL  a function, a method, a rule …: one piece while it fits ("LABEL name" in the scope)
  @box.LABEL   a class, an impl, a namespace …: a head and members, each a piece
  @name        what a definition defines: a symbol; for a unit or box also its name in the scope
  @title       its name in the scope where that is no symbol (the type of an impl, a test's text)
  @owner       the type that a method stands outside of (Go)
  @comment     a comment; lines of it right above a definition belong to that definition
  @attach      any other line that belongs to the definition below it (an attribute, a signature)
  @doc         a docstring: text of a comment, within its definition
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tree_sitter import Node, Parser, QueryCursor

from rootle.ingest.grammars import Grammar
from rootle.ingest.lines import Lines

# The parser reports every hundred steps or so, about once per 190 bytes of ordinary code; a text
# that needs far more makes its error recovery search, and is better cut without a tree.
MAX_REPORTS_PER_BYTE: Final = 0.1
MIN_REPORTS: Final = 20_000
MAX_TITLE: Final = 80
# How much of the text is handed out again when the parser or a predicate asks for a place in it.
_BLOCK: Final = 4_096

_QUALIFIER: Final = re.compile(r".*(?:::|[.:\\#])(?=[^.:\\#])", re.DOTALL)
_HEAD_END: Final = re.compile(r"[{\n]")
_SPACES: Final = re.compile(r"\s+")


@dataclass(slots=True)
class Unit:
    """A definition: lines first to end - 1 with the comments above it, row without them."""

    title: str
    node: Node
    is_box: bool
    row: int
    end: int
    first: int
    members: list[Unit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Name:
    """A defined name and where it stands; the column counts bytes, as tree-sitter does."""

    row: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment or docstring, on lines first to end - 1."""

    first: int
    end: int
    text: str


@dataclass(slots=True)
class Outline:
    """What the query found; `above` maps the last line of a whole-line comment to its first."""

    root: Unit
    names: list[Name]
    comments: list[Comment]
    above: dict[int, int]


def read_outline(lines: Lines, grammar: Grammar) -> Outline | None:
    """The outline of a text, or None if parsing it takes unreasonably long."""
    # Lone surrogates and NULs stop some scanners; one byte for one character keeps rows in place.
    data = lines.text.encode("utf-8", errors="replace").replace(b"\0", b" ")
    root = _parse(data, grammar)
    if root is None:
        return None
    found = _Found(data, lines)
    for _, captures in QueryCursor(grammar.query).matches(root):
        found.add(captures)
    top = Unit("", root, True, row=-1, end=len(lines), first=0)
    _nest(top, found.units, found.above)
    found.names.sort(key=lambda name: (name.row, name.column))
    found.comments.sort(key=lambda comment: comment.first)
    return Outline(top, found.names, found.comments, found.above)


def _parse(data: bytes, grammar: Grammar) -> Node | None:
    allowed = MIN_REPORTS + len(data) * MAX_REPORTS_PER_BYTE
    reports = 0

    def read(offset: int, _: object) -> bytes:
        return data if offset == 0 else data[offset : offset + _BLOCK]

    def is_too_long(_: int, __: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > allowed

    tree = Parser(grammar.language).parse(read, progress_callback=is_too_long)
    return None if tree is None else tree.root_node


class _Found:
    """Gathers the matches of a query: units by what they define, names, comments."""

    def __init__(self, data: bytes, lines: Lines) -> None:
        self._data = data
        self._rows = lines.rows
        self._by_name: dict[int, Unit] = {}
        self.names: list[Name] = []
        self.comments: list[Comment] = []
        self.above: dict[int, int] = {}

    @property
    def units(self) -> list[Unit]:
        return list(self._by_name.values())

    def add(self, captures: dict[str, list[Node]]) -> None:
        definition = ""
        for capture, nodes in captures.items():
            if capture == "comment":
                for node in nodes:
                    self._add_comment(node)
                    self._attach(node)
            elif capture == "doc":
                self._add_comment(nodes[0])
            elif capture == "attach":
                self._attach(nodes[0])
            elif capture.startswith(("unit.", "box.")):
                definition = capture
        names = captures.get("name")
        if definition:
            self._add_unit(definition, captures)
        elif names:
            for node in names:
                self._add_name(node)

    def _add_unit(self, definition: str, captures: dict[str, list[Node]]) -> None:
        node = captures[definition][0]
        named = (captures.get("name") or captures.get("title") or [node])[0]
        known = self._by_name.get(named.start_byte)
        # A decorator, an export, a template around a definition matches as well: the outer counts.
        if known is None:
            if "name" in captures:
                self._add_name(named)
        elif known.node.start_byte <= node.start_byte and known.node.end_byte >= node.end_byte:
            return
        kind, _, label = definition.partition(".")
        row, end = _rows_of(node)
        unit = Unit(self._title(label, captures, node), node, kind == "box", row=row, end=end, first=row)
        self._by_name[named.start_byte] = unit

    def _title(self, label: str, captures: dict[str, list[Node]], node: Node) -> str:
        """What a scope calls a definition: its label and its name, or how its text begins."""
        named = captures.get("name") or captures.get("title")
        if named:
            text = self._text(named[0]).strip("\"'` ")
        else:
            text = "" if label else _HEAD_END.split(self._text(node)[:MAX_TITLE], 1)[0]
        owners = captures.get("owner")
        if owners:
            text = f"{self._text(owners[0]).lstrip('*&')}.{text}"
        return _SPACES.sub(" ", f"{label} {text[:MAX_TITLE]}").strip()

    def _add_name(self, node: Node) -> None:
        if text := _symbol(self._text(node)):
            row, column = node.start_point
            self.names.append(Name(row, column, text))

    def _add_comment(self, node: Node) -> None:
        self.comments.append(Comment(*_rows_of(node), self._text(node).rstrip()))

    def _attach(self, node: Node) -> None:
        row, column = node.start_point
        if not self._rows[row][:column].strip():
            last = _rows_of(node)[1] - 1
            self.above[last] = min(row, self.above.get(last, row))

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _symbol(name: str) -> str:
    """The last part of a name: b of A::b, A.b or "A:b", without the arguments of a template."""
    name = name.strip("\"'` ")
    if not name.isidentifier() and "operator" not in name:
        name = _QUALIFIER.sub("", name.partition("<")[0] or name)
    return _SPACES.sub(" ", name[:MAX_TITLE])


def _rows_of(node: Node) -> tuple[int, int]:
    """The first line of a node and the one after its last."""
    row, _ = node.start_point
    end, column = node.end_point
    # Some nodes take the newline after them in; the line that it begins is not theirs.
    return row, max(row + 1, end + 1 if column else end)


def _nest(top: Unit, units: list[Unit], above: dict[int, int]) -> None:
    """Hang each unit under the smallest one around it, with the comments above it."""
    units.sort(key=lambda unit: (unit.node.start_byte, -unit.node.end_byte))
    around = [top]
    for unit in units:
        end_byte = unit.node.end_byte
        while len(around) > 1 and around[-1].node.end_byte < end_byte:
            around.pop()
        while len(around) > 1 and around[-1].node.end_byte <= unit.node.start_byte:
            around.pop()
        parent = around[-1]
        siblings = parent.members
        if siblings and siblings[-1].end > unit.row:
            # Two definitions on one line stay in one piece.
            siblings[-1].end = max(siblings[-1].end, unit.end)
            continue
        floor = siblings[-1].end if siblings else min(parent.row + 1, unit.row)
        while (start := above.get(unit.first - 1)) is not None and start >= floor:
            unit.first = start
        siblings.append(unit)
        around.append(unit)
