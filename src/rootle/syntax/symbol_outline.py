"""The definitions of a source text as a tree of line ranges, with its names and comments.

Query files use these captures; captures that start with "_" are used only in predicates:
  @unit.LABEL  a function, a method, a rule …: one chunk if it fits; its title is "LABEL name"
  @box.LABEL   a class, an impl, a namespace …: split into its head and its members
  @name        the name of a definition, which becomes a symbol; also the name in the title
  @title       the name in the title if it is not a symbol (the type of an impl, the text of a test)
  @owner       the type of a method that is defined outside of its type (Go)
  @declarator  the declarator of a function or a type (C, C++), which contains its @name
  @variable    the declarator of a variable; local variables are left out
  @prototype   the name in a declaration without a body (C, C++); calls that the parser mistook
               for declarations are left out
  @comment     a comment; lines directly above a definition belong to the definition
  @attach      another line that belongs to the definition below it (an attribute, a signature)
  @doc         a docstring, which is treated as a comment
  @default     the export of an anonymous function or class as the value of a JavaScript module
  @unread      text that the parser could not parse, in which names are guessed (see grammars.py)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import Final

from tree_sitter import Node, Parser, QueryCursor

from rootle.syntax.blocks.block import Block
from rootle.syntax.c_code.inner_directives import list_enum_macros
from rootle.syntax.grammars import Grammar
from rootle.syntax.keyword_names import find_c_functions, find_marked, find_names
from rootle.syntax.lines import Comment, Lines, Name
from rootle.syntax.node_rows import row_range

# The time limit for parsing is the sum of a constant and a time per byte. Parsers read 1 to 10 MB
# of ordinary code per second. Ambiguous texts (long runs of unclosed "<" or "(") take a thousand
# times as long, and a gigabyte of memory.
PARSE_BASE_S: Final = 0.2
PARSE_S_PER_BYTE: Final = 2e-6
# Text that the parser cannot read becomes one flat node. This is the maximum number of children of
# such a node. The time of a query is quadratic in the number of children: 0.1 s for this number.
MAX_UNREAD: Final = 10_000
# Maximum depth in the tree at which matches start. In 1 MB of code per language, no definitions and
# only a few comments in JavaScript were deeper. Without this limit, text that is nested 10,000
# levels deep would yield 10,000 definitions.
MAX_START_DEPTH: Final = 24
MAX_TITLE: Final = 80
MAX_NAME: Final = 200
# The predicates of a query read the text in blocks of this many bytes.
_BLOCK: Final = 4_096

_BODIES: Final = frozenset(
    "compound_statement labeled_statement if_statement else_clause case_statement".split()
)
_CONDITIONS: Final = frozenset("preproc_if preproc_ifdef preproc_elif preproc_else".split())
# Nodes that contain declarations of variables that are not local.
_OUTSIDE: Final = frozenset(
    "translation_unit declaration_list linkage_specification template_declaration".split()
)
_DECLARATORS: Final = frozenset(
    """ERROR array_declarator attributed_declarator function_declarator init_declarator
    parenthesized_declarator pointer_declarator pointer_type_declarator
    reference_declarator""".split()
)
_NAMES: Final = frozenset(
    """destructor_name field_identifier identifier operator_name qualified_identifier
    template_function type_identifier""".split()
)
_ARGUMENTS: Final = re.compile(r"<[^<>]*>")
_MAX_ARGUMENTS: Final = 4  # levels of nested template arguments
_QUALIFIER: Final = re.compile(r".*(?:::|[.:\\#])(?=[^.:\\#])", re.DOTALL)
# A C++ operator such as "operator+" or "operator bool", with its qualifiers.
_OPERATOR: Final = re.compile(r"(?:.*::)?(operator\b(?![.:\\]).*)", re.DOTALL)
_HEAD_END: Final = re.compile(r"[{\n]")
_QUOTES: Final = "\"'`"
_SPACES: Final = re.compile(r"\s+")


@dataclass(slots=True)
class Unit(Block):
    """A definition in a syntax tree."""

    node: Node
    members: list[Unit]


@dataclass(slots=True)
class Outline:
    """The definitions, names and comments of a text."""

    root: Unit
    names: list[Name]
    comments: list[Comment]
    above: dict[int, int]  # last line of a whole-line comment -> its first line
    default_row: int | None = None  # of the anonymous value that a JavaScript module exports


def read_outline(lines: Lines, grammar: Grammar) -> Outline | None:
    """Return the outline of a text, or None if parsing takes too long."""
    data = encode(lines.text)
    root = parse_tree(data, grammar)
    return None if root is None else outline_tree(root, data, lines, grammar)


def encode(text: str) -> bytes:
    """Return the bytes to parse. Lines have the same numbers as in the text."""
    # Lone surrogates and NULs stop some scanners. Replacing them does not change line numbers.
    return text.encode("utf-8", errors="replace").replace(b"\0", b" ")


def parse_tree(data: bytes, grammar: Grammar) -> Node | None:
    """Return the root, or None if the text is not in this language or parsing takes too long."""
    root = _parse(data, grammar)
    return None if root is None or _is_unread(root) else root


def outline_tree(root: Node, data: bytes, lines: Lines, grammar: Grammar) -> Outline:
    """Return the outline of a syntax tree."""
    found = _Matches(data, lines)
    cursor = QueryCursor(grammar.query)
    cursor.set_max_start_depth(MAX_START_DEPTH)
    for _, captures in cursor.matches(root):
        found.add(captures)
    top = Unit("", "", True, row=-1, end=len(lines), first=0, members=[], node=root)
    for first, end in found.unread:
        found.names.extend(find_names(lines, first, end))
    if (macros := grammar.source.macros) is not None:
        found.names.extend(find_marked(lines, macros))
    if grammar.source.is_c:
        found.names.extend(list_enum_macros(data))
    if grammar.source.is_c and root.has_error:
        rows = {name.row for name in found.names}
        functions = find_c_functions(lines)
        found.names.extend(name for name in functions if name.row not in rows)
    units = list(found.units.values())
    _nest(top, units, found.above)
    # A long comment may become a separate chunk. Add the name of the definition that it describes.
    found.names.extend(
        Name(unit.first, 0, unit.symbol) for unit in units if unit.symbol and unit.first < unit.row
    )
    found.names.sort()
    found.comments.sort()
    return Outline(top, found.names, found.comments, found.above, found.default_row)


def _parse(data: bytes, grammar: Grammar) -> Node | None:
    # Use the CPU time of this thread, so that the result does not depend on the machine's load.
    # Reading the CPU time needs a system call, which took up to a third of the time of parsing. The
    # CPU time never advances faster than the clock, so it is read only after the clock has passed
    # the limit.
    limit_s = PARSE_BASE_S + len(data) * PARSE_S_PER_BYTE
    deadline, clock_deadline = thread_time() + limit_s, perf_counter() + limit_s

    # The binding of tree-sitter 0.26.1 keeps a reference to each value that this function returns
    # during parsing. A released view takes only 184 bytes and does not keep the text alive.
    views = [memoryview(grammar.readable(data))]

    def read(offset: int, _: object) -> bytes | memoryview:
        if not views:
            # After parsing, the predicates of a query read the text.
            return data[offset : offset + _BLOCK]
        if offset >= len(data):
            return b""
        views.append(views[0][offset:])
        return views[-1]

    def is_too_late(_: int, __: bool) -> bool:
        return perf_counter() > clock_deadline and thread_time() > deadline

    parser = Parser(grammar.language)
    try:
        return parser.parse(read, progress_callback=is_too_late).root_node
    except ValueError:
        # The binding raises ValueError if the callback has stopped the parser.
        return None
    finally:
        while views:
            views.pop().release()


def _is_unread(root: Node) -> bool:
    """Return whether the text, or a large part of it, is not in this language."""
    if not root.has_error:
        return False
    if root.is_error:
        return root.child_count > MAX_UNREAD
    return any(node.is_error and node.child_count > MAX_UNREAD for node in root.children)


class _Matches:
    """Collects the matches of a query: definitions by their names, other names, comments."""

    def __init__(self, data: bytes, lines: Lines) -> None:
        self._data = data
        self._rows = lines.rows
        self.units: dict[int, Unit] = {}
        self.names: list[Name] = []
        self.comments: list[Comment] = []
        self.unread: list[tuple[int, int]] = []
        self.above: dict[int, int] = {}
        self.default_row: int | None = None

    def add(self, captures: dict[str, list[Node]]) -> None:
        if (nodes := captures.get("comment")) is not None:
            self._add_comment(nodes[0], is_above=True)
            return
        if (declarators := captures.pop("declarator", None)) is not None:
            if (declared := _find_declared(declarators[0])) is None:
                return
            captures["name"] = [declared]
        if (nodes := captures.get("default")) is not None:
            self.default_row = nodes[0].start_point[0]
        for capture, nodes in captures.items():
            if capture.startswith(("unit.", "box.")) and not _is_deleted(nodes[0]):
                self._add_unit(capture, captures)
                return
        for node in captures.get("name", ()):
            self._add_name(node)
        for node in captures.get("variable", ()):
            if (declared := _find_variable(node)) is not None:
                self._add_name(declared)
        for node in captures.get("prototype", ()):
            if not _is_call(node):
                self._add_name(node)
        for node in captures.get("unread", ()):
            first, end = row_range(node, self._rows)
            # A node inside another unread node is already covered.
            if not self.unread or first >= self.unread[-1][1]:
                self.unread.append((first, end))
        for node in captures.get("attach", ()):
            self._attach(*node.start_point, row_range(node, self._rows)[1])
        for node in captures.get("doc", ()):
            self._add_comment(node, is_above=False)

    def _add_unit(self, definition: str, captures: dict[str, list[Node]]) -> None:
        node = captures[definition][0]
        named = (captures.get("name") or captures.get("title") or [node])[0]
        known = self.units.get(named.start_byte)
        if known is None:
            symbol = self._add_name(named) if "name" in captures else ""
            kind, _, label = definition.partition(".")
            title = self._title(label, captures, node)
            row, end = row_range(node, self._rows)
            unit = Unit(
                title, symbol, kind == "box", row=row, end=end, first=row, members=[], node=node
            )
            self.units[named.start_byte] = unit
        elif known.node.end_byte - known.node.start_byte < node.end_byte - node.start_byte:
            # A node around the definition, such as a decorator, matches too and belongs to it.
            known.node = node
            known.row, known.end = row_range(node, self._rows)
            known.first = known.row

    def _title(self, label: str, captures: dict[str, list[Node]], node: Node) -> str:
        """Return the title of a definition: its label and its name, or the start of its text."""
        named = captures.get("name") or captures.get("title")
        if named:
            text = _unquote(self._text(named[0]))
        else:
            text = "" if label else _HEAD_END.split(self._text(node)[:MAX_TITLE], 1)[0]
        owners = captures.get("owner")
        if owners:
            text = f"{self._text(owners[0]).lstrip('*&')}.{text}"
        return _SPACES.sub(" ", f"{label} {text[:MAX_TITLE]}").strip()

    def _add_name(self, node: Node) -> str:
        text = _symbol(self._text(node))
        if text:
            row, column = node.start_point
            self.names.append(Name(row, column, text))
        return text

    def _add_comment(self, node: Node, *, is_above: bool) -> None:
        row, column = node.start_point
        end, stop = node.end_point
        # Some comment nodes include the final newline, so they end at the start of the next line.
        end = end + 1 if stop or end == row else end
        self.comments.append(Comment(row, end, self._text(node).rstrip()))
        if is_above:
            self._attach(row, column, end)

    def _attach(self, row: int, column: int, end: int) -> None:
        """Record whole lines that belong to a definition directly below them."""
        if not column or not self._rows[row][:column].strip():
            first = self.above.get(end - 1, row)
            self.above[end - 1] = row if row < first else first

    def _text(self, node: Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _unquote(name: str) -> str:
    """Return a name without the quotes around it. In Haskell, a name may end with "'"."""
    while (name := name.strip()) and name[0] in _QUOTES:
        name = name[1:-1] if name[-1] == name[0] else name[1:]
    return name


def _symbol(name: str) -> str:
    """Return the last part of a name: b of A::b, A.b or "A:b", without template arguments."""
    name = _unquote(name)
    if name.isidentifier():
        return name[:MAX_NAME]
    if "operator" in name and (operator := _OPERATOR.fullmatch(name)):
        name = operator[1]
    else:
        plain = name
        for _ in range(_MAX_ARGUMENTS):
            plain = _ARGUMENTS.sub("", plain)
        name = plain.partition("<")[0] or name
        if (qualifier := _QUALIFIER.match(name)) is not None:
            name = name[qualifier.end() :]
        # The parser may have read a macro before the name as a part of the name.
        name = name.split()[-1] if name.split() else name
    return _SPACES.sub(" ", name[:MAX_NAME])


def _find_declared(declarator: Node) -> Node | None:
    """Return the name that a declarator of C declares: f in "*f(int)", g in "(*g[3])(int)"."""
    node: Node | None = declarator
    while node is not None:
        inner = node.child_by_field_name("declarator")
        if node.type == "qualified_identifier":
            # After a macro, the parser treats the "*" as a part of the name.
            inner = node.child_by_field_name("name")
            if inner is None or inner.type != "pointer_type_declarator":
                return node
        elif node.type not in _DECLARATORS:
            return node if node.type in _NAMES else None
        elif inner is not None and inner.type == node.type == "function_declarator":
            # A function cannot return a function, so `inner` is a macro call: "NAME(f)(int)".
            return inner
        node = inner or next(filter(_may_declare, node.named_children), None)
    return None


def _may_declare(node: Node) -> bool:
    """Return whether a part of a declarator can contain the name."""
    if node.type == "ERROR":  # it may contain a function that precedes a macro
        return node.named_child_count > 0 and node.named_children[0].type == "function_declarator"
    return node.type in _DECLARATORS or node.type in _NAMES


def _find_variable(declarator: Node) -> Node | None:
    """Return the name that a declarator outside of functions declares, except a @prototype."""
    around = declarator.parent
    while around is not None and (around.type == "declaration" or around.type in _CONDITIONS):
        around = around.parent
    # "NAME(int32_t);" is the call of a macro.
    name = None if declarator.type == "parenthesized_declarator" else _find_declared(declarator)
    if name is None or name.parent is None or around is None or around.type not in _OUTSIDE:
        return None
    if name.parent.type != "function_declarator":
        # If a macro precedes a type with arguments, the parser can mistake the type for the name.
        return name if name.type != "template_function" else None
    is_prototype = name.parent in (declarator, declarator.child_by_field_name("declarator"))
    return None if is_prototype or name.type == "function_declarator" else name


def _is_deleted(definition: Node) -> bool:
    """Return whether a definition only declares a deleted function, as in `f() = delete;`."""
    if definition.type == "template_declaration":
        definition = definition.children[-1]
    if definition.type != "function_definition" or definition.child_by_field_name("body"):
        return False
    return any(child.type == "delete_method_clause" for child in definition.children)


def _is_call(prototype: Node) -> bool:
    """Return whether a prototype is in fact a call of a function.

    After an unbalanced #if, the parser mistakes the line before a call, such as "else", for a type.
    """
    declaration: Node | None = prototype
    while declaration is not None and declaration.type != "declaration":
        declaration = declaration.parent
    if declaration is None or declaration.start_point.row == prototype.start_point.row:
        return False
    around = declaration.parent
    while around is not None and around.type.startswith("preproc_"):
        around = around.parent
    return around is not None and around.type in _BODIES


def _nest(top: Unit, units: list[Unit], above: dict[int, int]) -> None:
    """Make each unit a member of the smallest unit around it, and extend it by comments above."""
    units.sort(key=lambda unit: (unit.node.start_byte, -unit.node.end_byte))
    around = [top]
    for unit in units:
        end_byte = unit.node.end_byte
        while len(around) > 1 and around[-1].node.end_byte < end_byte:
            around.pop()
        parent = around[-1]
        siblings = parent.members
        if siblings and siblings[-1].end > unit.row:
            # Definitions on the same line become one unit.
            siblings[-1].end = max(siblings[-1].end, unit.end)
            continue
        floor = siblings[-1].end if siblings else min(parent.row + 1, unit.row)
        while (start := above.get(unit.first - 1)) is not None and start >= floor:
            unit.first = start
        siblings.append(unit)
        around.append(unit)
