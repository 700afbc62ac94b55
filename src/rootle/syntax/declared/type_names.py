"""Read types from code, such as `*pkg.Job`, `Promise<Foo>`, `list[Foo] | None` or `Arc<Foo>`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from rootle.syntax.source_tree import SourceTree

# Attributes of Elixir that contain types.
_WITH_TYPES: Final = frozenset("callback macrocallback opaque spec type typep".split())
_MAX_ANCESTORS: Final = 20
_MAX_CHARS: Final = 200  # longer types are not read
ARRAY: Final = "[]"  # the name of types such as `[]Foo` and `Foo[]`
MAP: Final = "map"  # the name of Go types such as `map[string]Foo`
# Marks and words before a type that do not change its members.
_BEFORE: Final = re.compile(
    r"(?:->|:|'\w+\s|[&*?\"']|\b(?:mut|dyn|impl|const|readonly|final|ref|out|in|params|async|this"
    r"|val|var|struct|chan)\s)\s*|@\w+\s+"
)
_GO_LIST: Final = re.compile(r"(?:\.\.\.|\[[^\[\]]*\])")
_GO_MAP: Final = re.compile(r"map\[[^\[\]]*\]")
_NAME: Final = re.compile(r"\\?(?:\w+(?:::|\.|\\))*([A-Za-z_]\w*)")
_SEPARATOR: Final = re.compile(r"::|[.\\]")
_LIST_SUFFIX: Final = re.compile(r"\s*\[\s*\]$")
_NULLS: Final = frozenset({"None", "null", "undefined", "nil", "false", "NULL"})
_OPTIONAL: Final = frozenset({"Optional", "Nullable", "Annotated", "Final", "ClassVar", "Readonly"})
# In these languages, types have arguments between square brackets.
_SQUARE: Final = frozenset({"go", "python", "scala"})
_OPENING: Final = {"<": ">", "[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class TypeName:
    """The name of a type in code, with its arguments."""

    name: str
    qualifier: str = ""  # the last name before it: "structs" for `structs.Job`
    arguments: tuple[TypeName | None, ...] = ()  # None for an argument that is not read


def read_type(text: str, language: str) -> TypeName | None:
    """Return the type that a text names, or None if it is a union, a function or the like."""
    text = _strip(text).rstrip("\"'")
    if not text or len(text) > _MAX_CHARS:
        return None
    if language == "go" and (found := _GO_MAP.match(text) or _GO_LIST.match(text)) is not None:
        inner = read_type(text[found.end() :], language)
        return TypeName(MAP if found[0].startswith("map") else ARRAY, arguments=(inner,))
    parts = [one for part in split_top(text, "|") if (one := part.strip()) not in _NULLS]
    if len(parts) != 1:
        return None
    text = _strip(parts[0]).rstrip("?!*& \"'")
    if (suffix := _LIST_SUFFIX.search(text)) is not None:
        return TypeName(ARRAY, arguments=(read_type(text[: suffix.start()], language),))
    found = _NAME.match(text)
    if found is None:
        return None
    arguments = _arguments(text[found.end() :].strip(), language)
    if arguments is None:
        return None
    if found[1] in _OPTIONAL and arguments:
        return arguments[0]
    qualifiers = [part for part in _SEPARATOR.split(found[0])[:-1] if part]
    return TypeName(found[1], qualifiers[-1] if qualifiers else "", arguments)


def read_result(text: str, language: str, index: int) -> TypeName | None:
    """Return the type of one result of a function; `index` counts the results from 0.

    Only a function of Go has several results, as in `(*Foo, error)`.
    """
    text = text.strip()
    if language != "go" or not text.startswith("("):
        return read_type(text, language) if not index else None
    results = split_top(text[1:-1], ",")
    if index >= len(results):
        return None
    words = results[index].strip().split(None, 1)
    is_named = len(words) == 2 and words[0].isidentifier() and words[0] not in ("chan", "func")
    return read_type(words[-1] if is_named else results[index], language)


def split_top(text: str, separator: str) -> list[str]:
    """Split a text at a character outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in _OPENING:
            depth += 1
        elif char in _OPENING.values() and not (char == ">" and text[at - 1 : at] in ("-", "=")):
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _strip(text: str) -> str:
    text = text.strip()
    while (found := _BEFORE.match(text)) is not None and found.end():
        text = text[found.end() :].lstrip()
    return text


def _arguments(text: str, language: str) -> tuple[TypeName | None, ...] | None:
    """Return the arguments after the name of a type; None if something else follows it."""
    if not text:
        return ()
    opening = "[" if language in _SQUARE else "<"
    text = text.removeprefix("::")
    if not (text.startswith(opening) and text.endswith(_OPENING[opening])):
        return None
    parts = [part.strip() for part in split_top(text[1:-1], ",")]
    # In Rust, the first arguments can be lifetimes.
    return tuple(
        read_type(part, language)
        for part in parts
        if language != "rust" or not part.startswith("'")
    )


def is_in_type(tree: SourceTree, leaf: Node) -> bool:
    """Return whether a name is in an attribute of Elixir that contains types.

    An example is `size` in `@spec size(t) :: integer`, which calls no function.
    """
    node: Node | None = leaf
    for _ in range(_MAX_ANCESTORS if tree.language == "elixir" else 0):
        node = node.parent if node is not None else None
        if node is None or node.type == "do_block":
            return False
        if node.type == "unary_operator":
            operand = node.child_by_field_name("operand")
            target = operand.child_by_field_name("target") if operand is not None else None
            return target is not None and tree.text(target) in _WITH_TYPES
    return False
