"""The definitions of a name in a file: their ranges, owners, kinds and visibility."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final

from tree_sitter import Node

from rootle.index.reader import ChunkRow
from rootle.rank.path_features import KINDS, path_parts
from rootle.search.symbols.parsed_files import FileOccurrences, classify_line
from rootle.search.symbols.types.extension_methods import extended_type
from rootle.syntax.aliases import module_value
from rootle.syntax.blocks.block import Block, split_owners
from rootle.syntax.blocks.block_titles import (
    IDENTIFIER,
    NAME_SEPARATOR,
    SCOPE_SEPARATOR,
    format_scope,
    owner_names,
    unit_qualifiers,
)
from rootle.syntax.blocks.outline import has_names, read_blocks
from rootle.syntax.blocks.yaml_keys import OPERATION_ID
from rootle.syntax.files.file_symbols import read_file_symbol
from rootle.syntax.keyword_names import find_names
from rootle.syntax.source_tree import Position, SourceTree
from rootle.syntax.symbol_outline import Unit
from rootle.text.languages import CODE_EXTENSIONS, UNKNOWN, file_language
from rootle.types import Symbol

# The kinds of names under which a module exports definitions that have another name.
ALIAS_KINDS: Final = frozenset({"alias", "export"})
_MAX_DEFINITIONS: Final = 10_000  # of a name in a file
MAX_LINE: Final = 200
_OPERATOR: Final = re.compile(r"(?<![\w$])operator[^\w\s]+$")  # in C++, such as "operator->"
# The clause that names the package or namespace of the definitions in a file.
_WITH_EXTENSION: Final = re.compile(r"\w\.[a-z]\w*$")
_PACKAGE: Final = re.compile(r"^[ \t]*(?:package|namespace)[ \t]+([\w.\\]+)", re.MULTILINE)
_WITH_PACKAGES: Final = frozenset({"go", "java", "kotlin", "scala", "php", "csharp"})
# In projects of Java and Scala, code in this folder is not a test, even in a package "test".
_MAIN_SOURCES: Final = re.compile(r"(?:^|/)src/main/(?:java|kotlin|scala)/")
_WITH_MACROS: Final = frozenset({"c", "cpp"})
_WITH_FIELDS: Final = frozenset({"graphql", "proto"})
_TEST_SCOPE: Final = re.compile(r"(?:^|> )(?:(?:mod|module|namespace) tests?\b|test\b)")
# Definitions in tests, examples, and hidden, vendored, generated or deprecated files come after all
# others.
_LESS_LIKELY: Final = ("is_test", "is_example", "is_hidden", "is_set_aside", "is_generated")
_PRIVATE: Final = re.compile(r"\b(?:private|fileprivate|defp|defmacrop|defguardp|local|static)\b")
# The text before a name that is defined: a type or a keyword, as in "void close" or "def close".
TYPED: Final = re.compile(
    r"(?<![\w.>\])])(?!(?:return|new|throw|await|if|elif|else|while|case|in|is|yield|and|or|not)\s)[\w>\])]+[\s*&]+$"
)
# A line that only declares a type, which is defined elsewhere.
# The condition of the preprocessor around the code of a header, which defines no name.
_CONDITION: Final = re.compile(r"\s*#\s*(?:el)?if|\s*#\s*undef")
_MACRO: Final = re.compile(r"\s*(?:#\s*define|\{%[-+]?\s*\w+)\b")
_NAMED_COMPANION: Final = re.compile(r"\bcompanion object \w")  # of Kotlin
# The keyword before the name of a type in a file without a syntax tree.
_KEYWORD: Final = r"(?<![\w.])(class|enum|interface|namespace|struct|trait|union)[ \t]+"
_FORWARD: Final = re.compile(r"(?:friend\b|(?:struct|class|enum|union)\s+\w+\s*;)")
_PROTECTED: Final = re.compile(r"\b(?:protected|internal)\b")


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """A definition with the data that is needed to resolve references to it."""

    symbol: Symbol
    # The names of the enclosing definitions, the innermost first. Before them comes the type that
    # an extension method of C# belongs to.
    owners: tuple[str, ...]
    order: tuple[int, ...]  # sort key: likelier definitions come first
    is_extension: bool = False  # whether `owners[0]` is an extended type, not an enclosing one
    is_in_module: bool = False  # whether the owner is the table that a Lua module returns

    @property
    def place(self) -> str:
        """The path and line, as in `SymbolUse.target`."""
        return f"{self.symbol.path}:{self.symbol.line}"


def split_name(name: str) -> tuple[tuple[str, ...], str]:
    """Return the owners of a qualified name, innermost first, and its last part.

    "a::B.c" has the owners B and a. The path in "a/b.py#c" is not an owner.
    """
    name = name.strip()
    if path := path_in_name(name):
        name = name[len(path) + 1 :]
    operator = _OPERATOR.search(name)
    qualified = name[: operator.start()] if operator else name.removesuffix("()")
    parts = [part for part in NAME_SEPARATOR.split(qualified) if part]
    if operator:
        parts.append(operator.group())
    return (tuple(reversed(parts[:-1])), parts[-1]) if parts else ((), name)


def has_owner(name: str) -> bool:
    """Return whether a name is qualified by an owner or by the path of a file."""
    return bool(split_name(name)[0] or path_in_name(name))


def path_in_name(name: str) -> str:
    """Return the path of the file in a name such as "src/cart.py#total"; "" if there is none."""
    path, mark, member = name.strip().rpartition("#")
    is_path = bool(mark and member) and _WITH_EXTENSION.search(path) is not None
    return path if is_path and file_language(path) != UNKNOWN else ""


def package_names(found: FileOccurrences) -> frozenset[str]:
    """Return the names in the package and namespace clauses of a file: {"App", "Models"}."""
    return frozenset(part for clause in package_clauses(found) for part in clause)


def package_clauses(found: FileOccurrences) -> list[tuple[str, ...]]:
    """Return the parts of the names in the package and namespace clauses of a file, in order.

    An example is ("App", "Models") for `namespace App\\Models;`.
    """
    if found.state.language not in _WITH_PACKAGES:
        return []
    clauses = _PACKAGE.findall(found.text)
    return [tuple(part for part in NAME_SEPARATOR.split(clause) if part) for clause in clauses]


def is_test_place(path: str, scope: str) -> bool:
    """Return whether code is in a test file, or in a test inside another file."""
    is_test = bool(path_parts(path).kinds & (1 << KINDS.index("is_test")))
    is_test = is_test and _MAIN_SOURCES.search(path) is None
    return is_test or _TEST_SCOPE.search(scope) is not None


def definer_order(path: str, name: str) -> tuple[object, ...]:
    """Return the sort key of a file that defines a name; likelier definitions come first."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return (*_path_order(path), stem.lower() != name.lower(), path)


def find_definitions(
    found: FileOccurrences,
) -> tuple[dict[Position, FoundDefinition], Collection[Position]]:
    """Return the definitions of a name in a file, by the positions of the name.

    For definitions after the first 10,000, only the positions are returned, as the second value.
    """
    if found.tree is not None:
        own = _find_file_symbol(found)
        places = {
            at: units
            for at, units in found.tree.find_definitions(found.name).items()
            if not _is_macro_use(found, units)
        }
        ordered = sorted(places)
        made = {
            at: make_definition(
                found, at, units, is_inside=_is_in_body(found.tree, at, units, ordered)
            )
            for at, units in islice(places.items(), _MAX_DEFINITIONS)
        }
        others = places.keys() - made.keys() if len(places) > len(made) else ()
        return {**made, **own}, others
    if has_names(found.state.language):
        return dict(_find_in_blocks(found)), ()
    return dict(_guess(found)) if found.state.language in CODE_EXTENSIONS else {}, ()


def _find_file_symbol(found: FileOccurrences) -> dict[Position, FoundDefinition]:
    """Return the definition that has the name of a parsed file, if this is the requested name."""
    state, tree = found.state, found.tree
    outline = tree.outline if tree is not None else None
    one = read_file_symbol(state.path, state.language, found.text, outline)
    if one is None or found.name not in one.names:
        return {}
    at = (one.row, 0)
    made = make_definition(found, at, (), kind=one.kind)
    end = max(found.lines.trim(0, len(found.lines))[1], one.row + 1)
    symbol = replace(made.symbol, end_line=end)
    return {at: replace(made, symbol=symbol, order=_order(symbol, is_unit=True))}


def _is_macro_use(found: FileOccurrences, units: Sequence[Unit]) -> bool:
    """Return whether an apparent function in C or C++ is a use of a macro with the name.

    The parser takes `ENTRY(A) ENTRY(B) int f() { … }` and `TEST(a, b) { … }` for functions. They
    have no type, and they are no constructors, because they are not in a class.
    """
    if found.state.language not in _WITH_MACROS or not found.name.isupper() or not units:
        return False
    node = units[-1].node
    if units[-1].symbol != found.name or node.type != "function_definition":
        return False
    result = node.child_by_field_name("type")
    is_typed = result is not None and result.type != "macro_type_specifier"
    owners = (*unit_qualifiers(units[-1]), *(unit.symbol for unit in units[:-1]))
    return not is_typed and found.name not in owners


def _is_in_body(
    tree: SourceTree, at: Position, units: Sequence[Unit], places: Sequence[Position]
) -> bool:
    """Return whether a name is declared again in the body of a definition with this name.

    `places` are the sorted positions at which the name is defined.

    An example is a constructor in a C++ class. The second name in `typedef struct name { … } name;`
    is not in the body.
    """
    if not units:
        return False
    unit = units[-1]
    if at == places[bisect_left(places, (unit.row, 0))]:
        return False
    node: Node | None = tree.node_at(*at, 1)
    while node is not None and node != unit.node:
        parent = node.parent
        if parent is not None and parent.child_by_field_name("body") == node:
            return True
        node = parent
    return False


def find_definitions_in(
    found: FileOccurrences, chunks: Sequence[ChunkRow]
) -> dict[Position, FoundDefinition]:
    """Return the definitions of a name in a file without a tree, from the chunks that define it.

    In each chunk, the definition is the first line in which a type or a keyword precedes the name,
    or else the first line with the name that is neither a comment nor an import.
    """
    places: dict[Position, FoundDefinition] = {}
    for chunk in chunks:
        first = bisect_left(found.positions, (chunk.start_line - 1, 0))
        end = bisect_left(found.positions, (chunk.end_line, 0))
        code = [
            at
            for at in found.positions[first:end]
            if classify_line(*found.line_around(at), len(found.token), found.state.language)
            not in ("comment", "import")
            and not _CONDITION.match(found.line_start(at[0]))
        ]
        typed = (at for at in code if TYPED.search(found.text_around(at, MAX_LINE)[0]))
        if (best := next(typed, code[0] if code else None)) is not None:
            titles = chunk.scope.split(SCOPE_SEPARATOR)
            outer = [part for part in titles if part and part.split()[-1] != found.name]
            places[best] = make_definition(found, best, (), SCOPE_SEPARATOR.join(outer))
    return places


def _find_in_blocks(found: FileOccurrences) -> Iterator[tuple[Position, FoundDefinition]]:
    """Yield the definitions in a file of a language whose blocks are known."""
    outline = read_blocks(found.lines, found.state.language)
    if outline is None:
        return
    defined: dict[int, dict[str, tuple[str, ...]]] = {}
    for row, _, text in outline.names:
        owners, name = split_owners(text)
        defined.setdefault(row, {})[name] = owners
    for at in found.positions:
        outer = defined.get(at[0], {}).pop(found.name, None)
        if outer is not None:
            blocks = outline.blocks_at(at[0])
            kind = _block_kind(blocks, found, at)
            yield at, make_definition(found, at, blocks, SCOPE_SEPARATOR.join(outer), kind=kind)


def _block_kind(blocks: Sequence[Block], found: FileOccurrences, at: Position) -> str:
    """Return the keyword of a block, such as "resource" or "func", or the kind of another name."""
    label, _, rest = blocks[-1].title.partition(" ") if blocks else ("", "", "")
    if rest and blocks[-1].symbol == found.name and label.isalpha():
        return label
    if found.text_around(at, MAX_LINE)[0].strip(" \t\"'").startswith(OPERATION_ID):
        return "operation"
    return "field" if found.state.language in _WITH_FIELDS else "variable"


def _guess(found: FileOccurrences) -> Iterator[tuple[Position, FoundDefinition]]:
    """Yield definitions that are recognized by keywords, in a file that was not parsed."""
    lines = found.lines
    rows = {
        row
        for row in {row for row, _ in found.positions}
        # A keyword and the name that it defines are on the same line.
        if any(name.text == found.name for name in find_names(lines, row, row + 1))
        and not _FORWARD.match(found.line_start(row).strip())
    }
    for row, column in found.positions:
        if row in rows:
            rows.discard(row)
            yield (row, column), make_definition(found, (row, column), ())


def make_definition(
    found: FileOccurrences,
    at: Position,
    units: Sequence[Block],
    scope: str = "",
    *,
    kind: str = "",
    is_inside: bool = False,
) -> FoundDefinition:
    row, name = at[0], found.name
    named = (i for i in reversed(range(len(units))) if units[i].symbol == name)
    own = None if is_inside else next(named, None)
    unit = units[own] if own is not None else None
    outer = units[:own] if own is not None else units
    owners = owner_names(outer) or tuple(reversed(IDENTIFIER.findall(scope)))
    if unit is not None:
        owners = (*reversed(unit_qualifiers(unit)), *owners)
    extended = ""
    if found.state.language == "csharp":
        extended = extended_type(found.text, found.line_starts[row], name)
        owners = (extended, *owners) if extended else owners
    line = found.line_start(row)
    symbol = Symbol(
        name,
        kind or _kind(unit, outer, line, name, is_parsed=found.tree is not None),
        format_scope(outer) or scope,
        found.state.path,
        row + 1,
        unit.first + 1 if unit is not None else row + 1,
        unit.end if unit is not None else row + 1,
        line.strip()[:MAX_LINE],
        found.state.language,
        _visibility(found.state.language, name, line),
    )
    module = module_value(found.text, "lua") if found.state.language == "lua" else ""
    return FoundDefinition(
        symbol,
        owners,
        _order(symbol, is_unit=unit is not None),
        is_extension=bool(extended),
        is_in_module=bool(module) and owners == (module,),
    )


def _kind(
    unit: Block | None, outer: Sequence[Block], line: str, name: str, *, is_parsed: bool
) -> str:
    if unit is not None:
        label, _, rest = unit.title.partition(" ")
        return label if rest else "function"
    if outer and outer[-1].title.startswith("enum "):  # `RED(1)` in Java declares no function
        return "variable"
    if _MACRO.match(line):
        return "macro"
    if _NAMED_COMPANION.search(line):
        return "object"
    if not is_parsed and (keyword := re.search(rf"{_KEYWORD}{re.escape(name)}\b", line)):
        return keyword[1]
    # In `local cart = shop.cart()`, the name before "(" is not the one that is defined.
    if re.match(rf"(?:[^=]|operator=|==)*?{re.escape(name)}\s*\(", line) is None:
        return "variable"
    # Without a syntax tree, a line is a declaration if it ends with a semicolon.
    return "declaration" if is_parsed or line.rstrip().endswith(";") else "function"


def _visibility(language: str, name: str, line: str) -> str:
    before = line.partition(name)[0]
    if language == "go":
        return "public" if name[:1].isupper() else "private"
    if language in ("rust", "zig"):
        return "public" if re.search(r"\bpub\b", before) else "private"
    if name.startswith("_") and language in ("python", "dart", "php"):
        return "private"
    if _PROTECTED.search(before):
        return "protected"
    is_private = _PRIVATE.search(before)
    if is_private and (is_private.group() != "static" or language == "c"):
        return "private"
    return "public"


@lru_cache(maxsize=1_024)
def _path_order(path: str) -> tuple[int, ...]:
    kinds = path_parts(path).kinds
    unlikely = sum(1 for kind in _LESS_LIKELY if kinds & (1 << KINDS.index(kind)))
    return int(is_test_place(path, "")), unlikely


def _order(symbol: Symbol, *, is_unit: bool) -> tuple[int, ...]:
    _, unlikely = _path_order(symbol.path)
    is_test = is_test_place(symbol.path, symbol.scope)
    lines = symbol.end_line - symbol.start_line + 1
    is_forward = not is_unit and _FORWARD.match(symbol.signature) is not None
    return (
        int(is_forward),
        int(is_test),
        unlikely,
        int(not is_unit),
        int(bool(symbol.scope)),
        -min(lines, 3),
    )
