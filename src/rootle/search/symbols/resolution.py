"""Find the definition of a reference, as far as it can be determined from the code of one file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.search.symbols.bases.class_heads import base_names
from rootle.search.symbols.definitions import FoundDefinition, owner_names, unit_qualifiers
from rootle.search.symbols.import_paths import (
    imported_package,
    imported_path,
    is_module,
    module_names,
    shared_words,
)
from rootle.search.symbols.parsed_files import FileOccurrences, find_occurrences
from rootle.search.symbols.types.code_files import JAVASCRIPT, CodeFiles
from rootle.search.symbols.types.receivers import TYPED_LANGUAGES, ReceiverTypes
from rootle.search.symbols.types.variable_types import guess_types
from rootle.syntax.references import (
    MAX_RECEIVER,
    OccurrenceRole,
    binds_import,
    classify,
    import_statement,
)
from rootle.syntax.source_tree import Position, SourceTree
from rootle.syntax.symbol_outline import Unit
from rootle.text.terms import stem_of

_SELF: Final = frozenset({"self", "this", "cls", "$this", "Self", "static", "@"})
_SUPER: Final = frozenset({"super", "super()", "base", "parent"})
# In these languages, code in a class can use the members of the class without a receiver.
_IMPLICIT_SELF: Final = frozenset({"java", "csharp", "kotlin", "cpp", "swift", "scala", "ruby"})
# In these languages, files in the same folder can use each other without an import.
_PACKAGES: Final = frozenset({"go", "java", "kotlin", "scala", "csharp", "c"})
# In these languages, "::" or "\\" follows the name of a module, and "." follows only values.
_WITH_PATHS: Final = frozenset({"rust", "cpp", "php"})
_LAST_NAME: Final = re.compile(r"(\w+)(?:\(\))?$")
_NAME: Final = re.compile(r"[@$]?\w+")
# Characters of each definition that are searched for the type of a variable. Five times as many
# characters of the file are searched.
_MAX_SCANNED: Final = 20_000


@dataclass(frozen=True, slots=True)
class _DeclaredMember:
    """The definition that the declared type of a receiver has."""

    place: str  # as in `SymbolUse.target`; "" if no definition is known
    is_open: bool = False  # whether a value of the type may have another definition


class Resolver:
    """Finds the definition that a reference refers to."""

    def __init__(
        self,
        definitions: Sequence[FoundDefinition],
        files: CodeFiles,
        wanted: Sequence[FoundDefinition],
        find_ancestors: Callable[[], Collection[str]],
    ) -> None:
        """`definitions` have the name, and `wanted` are those whose uses are requested.

        `find_ancestors` returns the base classes of the owners of the wanted definitions.
        """
        self._definitions = definitions
        self._files = files
        self._receivers = ReceiverTypes(files)
        self._wanted = {one.place for one in wanted}
        self._find_ancestors = find_ancestors
        self._top = [one for one in definitions if not _is_member(one)]
        self._owned: defaultdict[str, list[FoundDefinition]] = defaultdict(list)
        for one in definitions:
            if one.owners:
                self._owned[one.owners[0]].append(one)
        self._owners = self._owned.keys()
        # Results that are the same for all uses in a file.
        self._plain: dict[str, FoundDefinition | None] = {}  # by path
        self._by_class: dict[tuple[str, str], FoundDefinition | None] = {}  # by class and path
        self._modules: dict[str, Sequence[FoundDefinition]] = {}  # by name
        self._imported: dict[tuple[str, str], bool] = {}
        self._types: dict[tuple[str, int, int, str], Sequence[str]] = {}

    def resolve(self, found: FileOccurrences, at: Position, reference: OccurrenceRole) -> str:
        """Return the place of the definition that a reference refers to, as in `SymbolUse.target`.

        Return "" if it cannot be determined.
        """
        tree, receiver = found.tree, reference.receiver
        if tree is None or reference.kind in ("comment", "string"):
            return ""
        if receiver and receiver not in _SELF and receiver not in _SUPER:
            declared = self._declared_member(found, at, receiver)
            if declared is not None:
                return declared.place
        units = list(tree.units_at(at[0]))
        resolved = (
            self._resolve_member(found, tree, at, units, receiver)
            if receiver
            else self._resolve_plain(found, tree, units)
        )
        return resolved.place if resolved is not None else ""

    def is_certain(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether the declared type of a receiver may have a wanted definition."""
        if found.tree is None or found.tree.language not in TYPED_LANGUAGES:
            return False
        reference = classify(found.tree, *at, found.size)
        if not reference.receiver or reference.kind in ("comment", "string"):
            return False
        declared = self._declared_member(found, at, reference.receiver)
        if declared is None:
            return False
        return declared.is_open or declared.place in self._wanted

    def is_of_package(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether the receiver of a name in a Go file is an imported package."""
        if found.state.language != "go" or found.tree is None:
            return False
        receiver = classify(found.tree, *at, found.size).receiver
        file = self._files.get(found.state) if receiver.isidentifier() else None
        node = found.tree.node_at(*at, found.size)
        return file is not None and self._receivers.is_package(file, node, receiver)

    def _declared_member(
        self, found: FileOccurrences, at: Position, receiver: str
    ) -> _DeclaredMember | None:
        """Return what the declarations of the repository say; None if the type is not known."""
        tree = found.tree
        if tree is None or tree.language not in TYPED_LANGUAGES or len(receiver) >= MAX_RECEIVER:
            return None
        file = self._files.get(found.state)
        if file is None:
            return None
        node = tree.node_at(*at, found.size)
        declared = self._receivers.declared_type(file, node, receiver)
        if declared is None:
            return None
        member = self._receivers.member_of(declared, found.name, self._definitions)
        if member is None:
            # A base class may be outside of the repository, or may have another name here.
            return _DeclaredMember("", is_open=True) if declared.is_interface else None
        if member.place in self._wanted:
            return _DeclaredMember(member.place)
        # A value of an interface or of a base class may have the wanted definition.
        is_open = member.owner.is_interface or member.owner.name in self._find_ancestors()
        return _DeclaredMember("" if is_open else member.place, is_open=is_open)

    def _resolve_plain(
        self, found: FileOccurrences, tree: SourceTree, units: list[Unit]
    ) -> FoundDefinition | None:
        path = found.state.path
        if tree.language in _IMPLICIT_SELF:
            member = self._in_class(units, path)
            if member is not None:
                return member
        if inner := self._in_functions(units, path):
            return inner
        if path not in self._plain:
            self._plain[path] = self._find_plain(found, tree)
        return self._plain[path]

    def _find_plain(self, found: FileOccurrences, tree: SourceTree) -> FoundDefinition | None:
        """Return the definition that the name has in a file without a receiver."""
        path, top = found.state.path, self._top
        local = [one for one in top if one.symbol.path == path]
        if local:
            return local[0]
        statement = _import_of(found, tree)
        if statement:
            named = imported_path(path, statement)
            exact = [one for one in top if named and is_module(one.symbol.path, named)]
            if len(exact) == 1:
                return exact[0]
            best = _best(top, lambda one: shared_words(one.symbol.path, statement))
            return best or self._in_own_package(tree, statement, top)
        folder = path.rpartition("/")[0]
        neighbors = [one for one in top if one.symbol.path.rpartition("/")[0] == folder]
        if len(neighbors) == 1 and tree.language in _PACKAGES:
            return neighbors[0]
        has_bodies = [one for one in top if one.symbol.kind != "declaration"]
        return has_bodies[0] if len(has_bodies) == 1 and tree.language != "python" else None

    def _in_own_package(
        self, tree: SourceTree, statement: str, top: Sequence[FoundDefinition]
    ) -> FoundDefinition | None:
        """Return the only definition if an import names a package of the repository.

        Packages re-export names of each other, so the name of the package need not agree.
        """
        if tree.language not in JAVASCRIPT or len(top) != 1:
            return None
        return top[0] if imported_package(statement) in self._files.own_packages else None

    def _in_functions(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition inside the innermost enclosing function that has one."""
        for depth in range(len(units) - 1, -1, -1):
            if units[depth].is_box:
                continue
            names = owner_names(units[: depth + 1])
            local = [
                one
                for one in self._owned.get(names[0] if names else "", ())
                if one.symbol.path == path
                and one.owners == names
                and units[depth].row < one.symbol.line <= units[depth].end
            ]
            if local:
                return local[0]
        return None

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
            return self._by_type(found, _ranges_around(found, units), receiver)
        # The function that contains the reference may have a variable with the module's name.
        return self._by_type(found, _ranges_around(found, units)[:-1], receiver) or module

    def _in_module(
        self, found: FileOccurrences, tree: SourceTree, at: Position, receiver: str
    ) -> FoundDefinition | None:
        """Return the definition in the module that a receiver names, if it can name a module."""
        names = _NAME.findall(receiver)
        if receiver.endswith("()") or names[0] in _SELF:
            return None
        last = names[-1]
        if last not in self._modules:
            self._modules[last] = self._modules_named(last)
        named = self._modules[last]
        if len(named) != 1:
            return None
        before = found.text_around(at, MAX_RECEIVER)[0].rstrip()
        if before.endswith(("::", "\\")):
            return named[0]
        if tree.language in _WITH_PATHS:
            return None
        parts = {*named[0].symbol.path.split("/"), stem_of(named[0].symbol.path)}
        is_whole = len(names) > 1 and parts.issuperset(names)  # "package.module"
        is_imported = self._is_imported(found, tree, last) or (
            is_whole and self._is_imported(found, tree, names[0])
        )
        return named[0] if is_imported else None

    def _modules_named(self, name: str) -> Sequence[FoundDefinition]:
        """Return the definitions in modules with a name."""
        top = self._top
        if len(top) == 1 and name in top[0].symbol.path.split("/"):
            return top  # a package may re-export the name
        return [one for one in top if name in module_names(one.symbol.path)]

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
        key = owner, path
        if key not in self._by_class:
            self._by_class[key] = self._find_by_owner(owner, path)
        return self._by_class[key]

    def _find_by_owner(self, owner: str, path: str) -> FoundDefinition | None:
        owned = self._owned.get(owner, [])
        here = [one for one in owned if one.symbol.path == path]
        return (here or owned)[0] if len(owned) == 1 or here else _with_body(owned)

    def _by_type(
        self, found: FileOccurrences, ranges: Sequence[tuple[int, int]], receiver: str
    ) -> FoundDefinition | None:
        """Return the definition in the type of the variable that a receiver ends with.

        The type is guessed from the declarations of the variable and from its values, in the first
        of the `ranges` of the text that has any.
        """
        path = found.state.path
        parts = _NAME.findall(receiver)
        has_owner = len(parts) > 1 and (len(parts) > 2 or parts[0] not in _SELF)
        if has_owner and found.state.language in TYPED_LANGUAGES:
            return None  # the field of another class can have the same name
        variable = parts[-1]
        for start, end in ranges:
            key = path, start, end, variable
            types = self._types.get(key)
            if types is None:
                types = guess_types(variable, found.text[start:end])
                self._types[key] = types
            owned = [self._by_owner(name, path) for name in types if name in self._owners]
            if len({one.place for one in owned if one is not None}) == 1:
                return self._without_base(owned[0])
            if owned or any(name[:1].isupper() for name in types):
                return None  # the type is ambiguous, or does not define the name
        return None

    def _without_base(self, found: FoundDefinition | None) -> FoundDefinition | None:
        """Return a definition, except if it is that of a base class of the wanted ones.

        A variable of a base class may have a value of the class with a wanted definition.
        """
        if found is None or found.place in self._wanted:
            return found
        is_base = found.owners[0] in self._find_ancestors()
        return None if is_base else found


def _is_member(definition: FoundDefinition) -> bool:
    scope = definition.symbol.scope
    is_outer = scope.startswith(("namespace ", "module ", "mod ", "package ")) and ">" not in scope
    return bool(definition.owners) and not is_outer


def _with_body(owned: Sequence[FoundDefinition]) -> FoundDefinition | None:
    bodies = [one for one in owned if one.symbol.kind != "declaration"]
    return bodies[0] if len(bodies) == 1 else None


def _go_receiver(found: FileOccurrences, units: Sequence[Unit]) -> str:
    """Return the receiver variable of a Go method, such as s in `func (s *Server) Run()`."""
    if found.state.language != "go" or not units:
        return ""
    match = re.match(r"func\s*\(\s*(\w+)\s", found.line_start(units[-1].row))
    return match[1] if match else ""


def _import_of(found: FileOccurrences, tree: SourceTree) -> str:
    for row, column in found.positions:
        statement = import_statement(tree, row, column, found.size)
        if statement:
            return statement
    return ""


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
