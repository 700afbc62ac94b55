"""Find the original name of a definition that is imported or exported under a new name.

Examples are `export { Hono as HonoBase }`, `from .a import b as c` and `pub use a::B as C`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree
from rootle.text.languages import JAVASCRIPT

DEFAULT: Final = "default"  # the name of a default export
_PARTS: Final = re.compile(r"[\w$-]+(?:\.[\w$-]+)*")
_WORDS: Final = re.compile(r"\w+")
# An extension in the path of a JavaScript module.
_EXTENSION: Final = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")
# The text that follows a name in an import that renames it; a group contains the new name.
_RENAMED: Final = re.compile(
    r"""\s+as\s+(\w+)                      # import a.name as b
    |\s*=>\s*(\w+)                        # import a.{name => b}
    |\s*,\s*as:\s*(\w+)                   # alias A.Name, as: B
    |\s*:\s*(\w+)(?=[^;(){}=]*\}[\s}]*=\s*(?:await\s+)?(?:require|import)\b)
                                          # const { name: b } = require("a")
    """,
    re.VERBOSE,
)
# The text before the name of a module or of something imported from it: `import b from "./`.
_NAMED: Final = re.compile(
    r"""\b(?:const|import|let|local|var)\s+(\w+)\s*=\s*(?:await\s+)?(?:require|import)\s*\(?\s*["'][^"'\n]*\Z
    |\bimport\s+(?:type\s+)?([\w$]+)\s*(?:,[^"'\n]*)?\bfrom\s*["'][^"'\n]*\Z
    |\bimport\s+(\w+)\s+"[^"\n]*\Z
    |^[ \t]+(?!(?:import|include|require)\w*\b)(\w+)[ \t]+"[^"\n]*\Z  # in a list of Go
    |\b(?:using|namespace)\s+(\w+)\s*=\s*(?:\w+(?:::|\.))*\Z
    """,
    re.VERBOSE | re.MULTILINE,
)
# The end of the path of a module, and the end of an import that selects nothing from the module.
_PATH_END: Final = re.compile(r"""(?:\.[cm]?[jt]sx?|\.lua|\.vue|\.svelte|\.astro)?["']""")
_LOADED_WHOLE: Final = re.compile(rf"{_PATH_END.pattern}\s*+\)?+(?!\s*[.:\[(])")
_MAX_STATEMENT: Final = 300  # characters before or after a name
# Words in a path of Rust that name no module.
_RUST_ROOTS: Final = frozenset({"crate", "self", "super"})

# Words and signs that can mark a new name in an import, each with a pattern that begins with it.
_MARKS: Final = {
    mark: re.compile(pattern)
    for mark, pattern in (
        ("import", r"import(?:\s{1,9}(?:type\s{1,9})?([\w$]+)|\s?\()"),
        ("require", r"require()"),
        (" as", r" as:?\s{1,9}([\w$]+)"),
        ("using ", r"using +(\w+) *="),
        ("namespace ", r"namespace +(\w+) *="),
    )
}
_ARROW: Final = {"=>": re.compile(r"=>\s{0,9}(\w+)")}  # in an import of Scala
_LAST_WORD: Final = re.compile(r"\w{1,60}\Z")
_MAX_NAME: Final = 60
_RENAMED_KEY: Final = re.compile(r":\s{0,9}(\w+)")
# The value of a module: what `require("a")` and `import name from "./a"` return.
_VALUES: Final = {
    "lua": re.compile(r"^return[ \t]+(?:setmetatable[ \t]*\([ \t]*)?(\w+)", re.MULTILINE),
    **dict.fromkeys(
        JAVASCRIPT,
        re.compile(
            r"\bmodule\.exports[ \t]*=[ \t]*(?:(?:async|class|function)\b[ \t*]*)*([\w$]+)"
            r"|\bexport[ \t]+default[ \t]+(?:(?:abstract|async|class|function)\b[ \t*]*)*([\w$]+)"
            r"|\bexport[ \t]*\{[^{}]*?\b([\w$]{1,300})[ \t]+as[ \t]+default\b"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class LocalAlias:
    """The name that an import introduces for something with another name."""

    name: str
    is_module: bool  # whether it is the name of the imported module itself


@dataclass(frozen=True, slots=True)
class Alias:
    """The definition that an alias refers to."""

    name: str  # "default" for the default export of a module
    module: tuple[str, ...] = ()  # parts of the path of its module; () if it is in the same file
    source: str = ""  # the path of a JavaScript module, such as "./hono-base"


def aliased_name(tree: SourceTree, row: int, column: int, size: int) -> Alias | None:
    """Return what the name at a position is an alias of, or None if it is not an alias.

    Rows and columns are counted from 0, columns and the size in bytes.
    """
    leaf = tree.node_at(row, column, size)
    parent = leaf.parent
    if parent is None or parent.child_by_field_name("alias") != leaf:
        return None
    match parent.type:
        case "export_specifier":
            return _read_export(tree, parent)
        case "aliased_import":
            return _read_python_import(tree, parent)
        case "use_as_clause":
            return _read_use(tree, parent)
    return None


def find_local_alias(text: str, start: int, end: int) -> LocalAlias | None:
    """Return the alias that an import gives to a name of a module, or to the module itself.

    The name is the text from `start` to `end`, which is in an import. An example is c for b in
    `import a.b as c` and in `local c = require("a.b")`. Return None if there is no alias.
    """
    found = _RENAMED.match(text, end, end + _MAX_STATEMENT)
    is_module = False
    if found is None:
        found = _NAMED.search(text[max(0, start - _MAX_STATEMENT) : start])
        is_module = found is not None and found.lastindex != _NAMED.groups
        if found is None or (is_module and not _LOADED_WHOLE.match(text, end)):
            return None
    alias = next(filter(None, found.groups()))
    return None if alias in ("_", text[start:end]) else LocalAlias(alias, is_module)


def possible_aliases(text: str, language: str) -> frozenset[str]:
    """Return a superset of the aliases that the imports of a file introduce.

    Searching for the marks of imports is ten times as fast as a regular expression for imports.
    """
    found: set[str] = set()
    marks = _MARKS | _ARROW if language == "scala" else _MARKS
    for mark, pattern in marks.items():
        at = text.find(mark)
        while at >= 0:
            if (after := pattern.match(text, at)) is not None:
                found.add(after[1] or "")
                found.update(_assigned_names(text, at))
            at = text.find(mark, at + len(mark))
    return frozenset(found)


def _assigned_names(text: str, at: int) -> Iterator[str]:
    """Yield the names to which a file assigns the module that the call at an offset loads."""
    before = text[max(0, at - _MAX_STATEMENT) : at].rstrip().removesuffix("await").rstrip()
    if not before.endswith("="):
        return
    before = before[:-1].rstrip()
    if before.endswith("}"):  # const { name: alias } = require("a")
        yield from _RENAMED_KEY.findall(before[before.rfind("{") :])
    elif (word := _LAST_WORD.search(before[-_MAX_NAME:])) is not None:
        yield word.group()


def is_renamed(text: str, start: int, end: int) -> bool:
    """Return whether an import may introduce another name for the text between two offsets."""
    if _RENAMED.match(text, end, end + _MAX_STATEMENT) is not None:
        return True
    may_end = text.startswith(";", end) or is_end_of_path(text, end)
    return may_end and find_local_alias(text, start, end) is not None


def is_end_of_path(text: str, end: int) -> bool:
    """Return whether the path of a module ends at an offset."""
    return _PATH_END.match(text, end) is not None


@lru_cache(maxsize=8)
def module_value(text: str, language: str) -> str:
    """Return the name of the definition that is the value of a module; "" if there is none.

    In `local cart = require("shop.cart")`, the variable gets this value.
    """
    pattern = _VALUES.get(language)
    found = [*pattern.finditer(text)] if pattern is not None else []
    return next(filter(None, found[-1].groups())) if found else ""


def default_export(tree: SourceTree) -> str:
    """Return the name of the default export of a JavaScript module; "" if it has no name."""
    for node in tree.root.named_children:
        if node.type != "export_statement" or not any(one.type == DEFAULT for one in node.children):
            continue
        declared = node.child_by_field_name("declaration")
        named = declared.child_by_field_name("name") if declared is not None else None
        value = node.child_by_field_name("value")
        if named is None and value is not None and value.type == "identifier":
            named = value
        return tree.text(named) if named is not None else ""
    return ""


def _read_export(tree: SourceTree, specifier: Node) -> Alias | None:
    name = specifier.child_by_field_name("name")
    statement = specifier.parent.parent if specifier.parent is not None else None
    if name is None or statement is None:
        return None
    node = statement.child_by_field_name("source")
    source = tree.text(node).strip("\"'") if node is not None else ""
    parts = _PARTS.findall(_EXTENSION.sub("", source))
    return Alias(tree.text(name), tuple(parts), source)


def _read_python_import(tree: SourceTree, aliased: Node) -> Alias | None:
    name, statement = aliased.child_by_field_name("name"), aliased.parent
    module = statement.child_by_field_name("module_name") if statement is not None else None
    if name is None or module is None:
        return None
    return Alias(tree.text(name), tuple(_WORDS.findall(tree.text(module))))


def _read_use(tree: SourceTree, clause: Node) -> Alias | None:
    path = clause.child_by_field_name("path")
    words = _WORDS.findall(tree.text(path)) if path is not None else []
    node = clause.parent
    while node is not None and node.type in ("use_list", "scoped_use_list"):
        outer = node.child_by_field_name("path")
        words = [*(_WORDS.findall(tree.text(outer)) if outer is not None else []), *words]
        node = node.parent
    *module, name = words or [""]
    return Alias(name, tuple(one for one in module if one not in _RUST_ROOTS)) if name else None
