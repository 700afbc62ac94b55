"""Find the definition of a reference, as far as it can be determined from the code of one file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition, owner_names, unit_qualifiers
from rootle.search.symbols.parsed_files import FileOccurrences, find_occurrences
from rootle.syntax.references import OccurrenceRole, binds_import, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.syntax.symbol_outline import Unit
from rootle.text.terms import WORD, stem_of

_SELF: Final = frozenset({"self", "this", "cls", "$this", "Self", "static", "@"})
_SUPER: Final = frozenset({"super", "super()", "base", "parent"})
# In these languages, code in a class can use the members of the class without a receiver.
_IMPLICIT_SELF: Final = frozenset({"java", "csharp", "kotlin", "cpp", "swift", "scala", "ruby"})
# In these languages, files in the same folder can use each other without an import.
_PACKAGES: Final = frozenset({"go", "java", "kotlin", "scala", "csharp", "c"})
# In these languages, "::" or "\\" follows the name of a module, and "." follows only values.
_WITH_PATHS: Final = frozenset({"rust", "cpp", "php"})
_PLAIN_STEMS: Final = frozenset({"index", "mod", "lib", "main", "init", "__init__"})
_LAST_NAME: Final = re.compile(r"(\w+)(?:\(\))?$")
_NAME: Final = re.compile(r"[@$]?\w+")
_RELATIVE_PATH: Final = re.compile(r"[\"'](\.{1,2}/[^\"'\n]*)[\"']")
_PATH_PART: Final = re.compile(r"\w[\w-]*")  # such as http-exception in '../http-exception'
_MAX_PARTS: Final = 100  # more than the parts of a path that an import names
_MAX_HEAD: Final = 200  # bytes that are read of a class if its grammar does not mark the body
_MAX_ARGUMENTS: Final = 200  # characters of the arguments in `Type(arguments) as name`
# The type before a variable, as in `Type name = value`, and the text after such a variable.
_TYPE_BEFORE: Final = re.compile(r"\b(\w+)(?:<[^<>\n]*>)?[ \t&*?]+$")
_DECLARED: Final = re.compile(r"\s*[,);=]")
_CALL_BEFORE: Final = re.compile(r"\b(\w+)\([^()\n]*\)\s+as\s+$")
_NO_TYPES: Final = frozenset(
    """and as assert async auto await case const def default delete else export final for from if
    import in is lambda let lateinit move mut mutable new not or override private protected public
    readonly ref return static throw typeof until val var volatile when while yield""".split()
)
# Characters of each definition that are searched for the type of a variable. Five times as many
# characters of the file are searched.
_MAX_SCANNED: Final = 20_000


class Resolver:
    """Finds the definition that a reference refers to."""

    def __init__(self, definitions: Sequence[FoundDefinition]) -> None:
        self._definitions = definitions
        self._owners = {definition.owners[0] for definition in definitions if definition.owners}
        self._imported: dict[tuple[str, str], bool] = {}
        self._types: dict[tuple[str, int, int, str], list[str]] = {}

    def resolve(
        self, found: FileOccurrences, at: Position, reference: OccurrenceRole
    ) -> FoundDefinition | None:
        """Return the definition that a reference refers to, or None if it cannot be determined."""
        tree = found.tree
        if tree is None or reference.kind in ("comment", "string"):
            return None
        units = list(tree.units_at(at[0]))
        if not reference.receiver:
            return self._resolve_plain(found, tree, units)
        return self._resolve_member(found, tree, at, units, reference.receiver)

    def _resolve_plain(
        self, found: FileOccurrences, tree: SourceTree, units: list[Unit]
    ) -> FoundDefinition | None:
        path = found.state.path
        if tree.language in _IMPLICIT_SELF:
            member = self._in_class(units, path)
            if member is not None:
                return member
        top = [one for one in self._definitions if not _is_member(one)]
        local = [one for one in top if one.symbol.path == path]
        if local:
            return local[0]
        statement = _import_of(found, tree)
        if statement:
            named = _imported_path(path, statement)
            exact = [one for one in top if named and _is_module(one.symbol.path, named)]
            if len(exact) == 1:
                return exact[0]
            return _best(top, lambda one: _shared_words(one.symbol.path, statement))
        folder = path.rpartition("/")[0]
        neighbors = [one for one in top if one.symbol.path.rpartition("/")[0] == folder]
        if len(neighbors) == 1 and tree.language in _PACKAGES:
            return neighbors[0]
        has_bodies = [one for one in top if one.symbol.kind != "declaration"]
        return has_bodies[0] if len(has_bodies) == 1 and tree.language != "python" else None

    def _resolve_member(
        self,
        found: FileOccurrences,
        tree: SourceTree,
        at: Position,
        units: list[Unit],
        receiver: str,
    ) -> FoundDefinition | None:
        path = found.state.path
        if receiver in _SUPER or receiver.startswith("super("):
            return self._in_bases(units, path)
        if receiver in _SELF or receiver == _go_receiver(found, units):
            return self._in_class(units, path)
        match = _LAST_NAME.search(receiver)
        if match is None:
            return None
        last = match.group(1)
        by_owner = self._by_owner(last, path)
        if by_owner is not None:
            return by_owner
        module = self._in_module(found, tree, at, receiver)
        if module is None:
            return self._by_type(found, _ranges_around(found, units), last)
        # The function that contains the reference may have a variable with the module's name.
        return self._by_type(found, _ranges_around(found, units)[:-1], last) or module

    def _in_module(
        self, found: FileOccurrences, tree: SourceTree, at: Position, receiver: str
    ) -> FoundDefinition | None:
        """Return the definition in the module that a receiver names, if it can name a module."""
        names = _NAME.findall(receiver)
        if receiver.endswith("()") or names[0] in _SELF:
            return None
        last = names[-1]
        modules = [one for one in self._definitions if not _is_member(one)]
        named = [one for one in modules if last in _module_names(one.symbol.path)]
        if not named and len(modules) == 1 and last in modules[0].symbol.path.split("/"):
            named = modules  # a package may re-export the name
        if len(named) != 1:
            return None
        before = found.line(at[0]).encode("utf-8", "replace")[: at[1]].rstrip()
        if before.endswith((b"::", b"\\")):
            return named[0]
        if tree.language in _WITH_PATHS:
            return None
        parts = {*named[0].symbol.path.split("/"), stem_of(named[0].symbol.path)}
        is_whole = len(names) > 1 and parts.issuperset(names)  # "package.module"
        is_imported = self._is_imported(found, tree, last) or (
            is_whole and self._is_imported(found, tree, names[0])
        )
        return named[0] if is_imported else None

    def _is_imported(self, found: FileOccurrences, tree: SourceTree, name: str) -> bool:
        """Return whether an import in a file creates a name."""
        key = found.state.path, name
        if key not in self._imported:
            places = find_occurrences(found.state, found.text, name)
            size = len(name.encode("utf-8", "replace"))
            self._imported[key] = places is not None and any(
                binds_import(tree, *at, size) for at in places.positions
            )
        return self._imported[key]

    def _in_class(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition in the innermost enclosing class, or in one of its base classes."""
        for depth in range(len(units) - 1, -1, -1):
            unit = units[depth]
            names = (*reversed(unit_qualifiers(unit)), *owner_names(units[: depth + 1]))
            for name in names:
                found = self._by_owner(name, path)
                if found is not None:
                    return found
            if unit.is_box:
                return self._in_bases(units[: depth + 1], path)
        return None

    def _in_bases(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition in a base class of the innermost enclosing class.

        Every class that is named before the body of that class is regarded as a base class.
        """
        box = next((unit for unit in reversed(units) if unit.is_box), None)
        if box is None:
            return None
        bases = [self._by_owner(name, path) for name in base_names(box) if name in self._owners]
        return next((base for base in bases if base is not None), None)

    def _by_owner(self, owner: str, path: str) -> FoundDefinition | None:
        owned = [one for one in self._definitions if one.owners[:1] == (owner,)]
        here = [one for one in owned if one.symbol.path == path]
        return (here or owned)[0] if len(owned) == 1 or here else _with_body(owned)

    def _by_type(
        self, found: FileOccurrences, ranges: Sequence[tuple[int, int]], variable: str
    ) -> FoundDefinition | None:
        """Return the definition in the type of a variable.

        The type is guessed from the declarations of the variable and from its values, in the first
        of the `ranges` of the text that has any.
        """
        path = found.state.path
        for start, end in ranges:
            key = path, start, end, variable
            types = self._types.get(key)
            if types is None:
                types = self._types[key] = _types_of(variable, found.text[start:end])
            owned = [self._by_owner(name, path) for name in types if name in self._owners]
            if len({one.place for one in owned if one is not None}) == 1:
                return owned[0]
            if owned or any(name[:1].isupper() for name in types):
                return None  # the type is ambiguous, or does not define the name
        return None


def _is_member(definition: FoundDefinition) -> bool:
    scope = definition.symbol.scope
    is_outer = scope.startswith(("namespace ", "module ", "mod ", "package ")) and ">" not in scope
    return bool(definition.owners) and not is_outer


def _with_body(owned: Sequence[FoundDefinition]) -> FoundDefinition | None:
    bodies = [one for one in owned if one.symbol.kind != "declaration"]
    return bodies[0] if len(bodies) == 1 else None


def base_names(unit: Unit) -> list[str]:
    """Return the names before the body of a class, which include the names of its base classes."""
    node = unit.node.child_by_field_name("definition") or unit.node  # without decorators
    body = node.child_by_field_name("body")
    raw = node.text or b""
    end = body.start_byte - node.start_byte if body is not None else _MAX_HEAD
    return [
        word for word in WORD.findall(raw[:end].decode("utf-8", "replace")) if word != unit.symbol
    ]


def _go_receiver(found: FileOccurrences, units: Sequence[Unit]) -> str:
    """Return the receiver variable of a Go method, such as s in `func (s *Server) Run()`."""
    if found.state.language != "go" or not units:
        return ""
    match = re.match(r"func\s*\(\s*(\w+)\s", found.line(units[-1].row))
    return match[1] if match else ""


def _import_of(found: FileOccurrences, tree: SourceTree) -> str:
    for row, column in found.positions:
        statement = import_statement(tree, row, column, found.size)
        if statement:
            return statement
    return ""


def _imported_path(path: str, statement: str) -> str:
    """Return the path that an import names relative to its own file; "" if it names none."""
    found = _RELATIVE_PATH.search(statement)
    return posixpath.normpath(f"{path.rpartition('/')[0]}/{found[1]}") if found else ""


def _is_module(path: str, imported: str) -> bool:
    """Return whether an imported path, which may lack the extension, refers to a file."""
    stem = posixpath.splitext(path)[0]
    return imported in (path, stem, stem.removesuffix("/index")) or (
        posixpath.splitext(imported)[0] == stem  # "./cart.js" is compiled from cart.ts
    )


def _module_names(path: str) -> tuple[str, ...]:
    folders, stem = path.rpartition("/")[0].split("/"), stem_of(path)
    return (folders[-1],) if stem in _PLAIN_STEMS else (stem, folders[-1])


def _shared_words(path: str, statement: str) -> int:
    """Return a number that is higher the better a path agrees with an import statement.

    The longest sequence of adjacent names that both contain counts most: "a.models" is
    a/models/pages.py rather than a/tests/models.py. Otherwise, the number of shared names counts,
    and the last part of the path counts double.
    """
    words = _PATH_PART.findall(statement)
    parts = [*path.rpartition("/")[0].split("/"), stem_of(path)]
    parts = [part for part in parts if part and part not in _PLAIN_STEMS]
    shared = sum(2 if part == parts[-1] else 1 for part in parts if part in words)
    return _longest_common_run(parts, words) * _MAX_PARTS + min(shared, _MAX_PARTS - 1)


def _longest_common_run(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest sequence of adjacent names that both lists contain."""
    longest = 0
    before = [0] * (len(right) + 1)
    for name in left:
        row = [0]
        for at, other in enumerate(right):
            row.append(before[at] + 1 if name == other else 0)
        longest, before = max(longest, *row), row
    return longest


def _best(
    definitions: Sequence[FoundDefinition], score: Callable[[FoundDefinition], int]
) -> FoundDefinition | None:
    """Return the definition with the highest score; None if the score is 0 or not unique."""
    scores = [score(one) for one in definitions]
    top = max(scores, default=0)
    if not top or scores.count(top) > 1:
        return definitions[0] if len(definitions) == 1 and top else None
    return definitions[scores.index(top)]


def _ranges_around(found: FileOccurrences, units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Return the ranges of the enclosing definitions, the innermost first, and of the file.

    A range has the offsets of its first character and of the character after its last one.
    """
    ranges = []
    for unit in reversed(units):
        start = found.line_starts[unit.row]
        end = found.line_starts[min(unit.end, len(found.line_starts) - 1)]
        ranges.append((start, max(start, min(end, start + _MAX_SCANNED))))
    return [*ranges, (0, 5 * _MAX_SCANNED)]


def _types_of(variable: str, text: str) -> list[str]:
    """Return the names of the types that a variable may have according to a text."""
    types = []
    after = _type_after(variable)
    # The variable is looked up first, because patterns that begin with a type are slow.
    for found in re.finditer(rf"\b{re.escape(variable)}\b", text):
        start = max(0, found.start() - _MAX_ARGUMENTS)
        match = None
        if _DECLARED.match(text, found.end()) is not None:
            match = _TYPE_BEFORE.search(text, start, found.start())
            if match is not None and match[1] in _NO_TYPES:
                match = None
        match = match or after.match(text, found.start())
        match = match or _CALL_BEFORE.search(text, start, found.start())
        if match is not None:
            types.append(next(filter(None, match.groups()), ""))
    return types


@lru_cache(maxsize=256)
def _type_after(variable: str) -> re.Pattern[str]:
    """Return a pattern for a variable before its type or before its value."""
    name = re.escape(variable)
    return re.compile(
        rf"{name}\s*:\s*[&*?\"']*(?:mut\s+|dyn\s+)?(?:Optional\[)?(?:\w+(?:\.|::))*(\w+)"
        rf"|{name}\s*:?=\s*(?:await\s+)?(?:new\s+|&)?(?:\w+(?:\.|::))*?(\w+)"
        rf"(?:(?:::|\.)(?:new|create|build|default|of|from)\b)?\s*[({{<]"
        rf"|{name}[ \t]+[*&]?(?:\w+\.)?(\w+)"
    )
