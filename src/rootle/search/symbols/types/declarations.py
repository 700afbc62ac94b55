"""Find the declaration that the name of a type refers to, and the members of the type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import FileState
from rootle.search.symbols.bases.class_heads import base_names
from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.type_identity import has_folder, parent_folder
from rootle.search.symbols.import_paths import (
    best_path,
    crate_folder,
    imported_path,
    is_in_own_crate,
    is_module,
    module_names,
)
from rootle.search.symbols.types.code_files import CodeFile, CodeFiles
from rootle.syntax.blocks.block_titles import owner_names, unit_qualifiers
from rootle.syntax.declared.bindings import Binding
from rootle.syntax.declared.type_names import TypeName
from rootle.syntax.go_types import embedded_types
from rootle.syntax.references import binds_import, import_statement
from rootle.syntax.symbol_outline import Unit
from rootle.text.terms import WORD

_FUNCTIONS: Final = frozenset("def fn func function method fun impl constructor".split())
# In these languages, a name is known in a file without an import if the folder of the file declares
# it.
_PACKAGES: Final = frozenset({"csharp", "go", "java", "kotlin", "php", "scala"})
# In these languages, a file can use a name from another folder without importing that name.
_OPEN: Final = frozenset({"csharp", "java", "kotlin", "php", "rust", "scala", "swift"})
# In these languages, methods of a type can be declared outside of it.
_WITH_OUTER_METHODS: Final = frozenset({"go", "rust"})
_MAX_LEVELS: Final = 4  # of base classes or embedded types
_MAX_DECLARERS: Final = 20  # files that may declare a name


@dataclass(frozen=True, eq=False)
class Declaration:
    """A type that the repository declares."""

    name: str
    file: CodeFile
    unit: Unit

    @property
    def is_interface(self) -> bool:
        """Whether this is a Go interface, which any type may implement."""
        if self.file.language != "go":
            return False
        kind = self.unit.node.child_by_field_name("type")
        nodes = [kind] if kind is not None else self.unit.node.named_children
        types = (one.child_by_field_name("type") or one for one in nodes)
        return any(one.type == "interface_type" for one in types)


class Declarations:
    """Looks up types and their members."""

    def __init__(self, files: CodeFiles) -> None:
        self._files = files
        self._types: dict[tuple[int, str, str], Declaration | None] = {}
        self._members: dict[tuple[int, str], Sequence[tuple[CodeFile, Binding]]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def find(self, name: TypeName, file: CodeFile) -> Declaration | None:
        """Return the type that a name in a file refers to; None if it is not certain."""
        key = file.state.id, name.name, name.qualifier
        if key not in self._types:
            self._types[key] = self._find(name, file)
        return self._types[key]

    def _find(self, name: TypeName, file: CodeFile) -> Declaration | None:
        if len(name.name) < 2:
            return None  # usually a type parameter
        if file.language == "go":
            return self._find_go(name, file)
        if not name.qualifier and (own := next(_find_declared(file, name.name), None)) is not None:
            return own
        found = [*self._declarations(name.name, file.language)]
        statement = _find_import(file, name.qualifier or name.name)
        if statement:
            return _choose_imported(found, file, statement)
        if name.qualifier:
            found = [one for one in found if _is_in(one, name.qualifier)]
        folder = parent_folder(file.state.path)
        near = [one for one in found if parent_folder(one.file.state.path) == folder]
        if near and file.language in _PACKAGES and (len(near) == 1 or _are_parts(near)):
            return near[0]
        is_open = file.language in _OPEN or name.qualifier
        return found[0] if len(found) == 1 and is_open else None

    def _find_go(self, name: TypeName, file: CodeFile) -> Declaration | None:
        imported = file.imported_package(name.qualifier) if name.qualifier else ""
        if name.qualifier and not imported:
            return None
        folder = parent_folder(file.state.path)
        for state in self._files.declarers(name.name, "go"):
            path = parent_folder(state.path)
            if has_folder(imported, path) if imported else path == folder:
                other = self._files.get(state)
                found = next(_find_declared(other, name.name), None) if other is not None else None
                if found is not None:
                    return found
        return None

    def _declarations(self, name: str, language: str) -> Iterator[Declaration]:
        states = self._files.declarers(name, language)
        for state in states if len(states) <= _MAX_DECLARERS else ():
            file = self._files.get(state)
            yield from _find_declared(file, name) if file is not None else ()

    def functions(self, name: str, file: CodeFile) -> Iterator[tuple[CodeFile, Binding]]:
        """Yield the functions of other files that a name without a receiver can refer to."""
        states = self._files.definers(name, file.language)
        if file.language == "go":
            folder = parent_folder(file.state.path)
            states = [one for one in states if parent_folder(one.path) == folder]
        elif states and (statement := _find_import(file, name)):
            states = _named_files(states, file, statement)
        elif len(states) != 1 or file.language not in _OPEN:
            states = []
        for state in states[:_MAX_DECLARERS]:
            other = self._files.get(state) if state.id != file.state.id else None
            yield from ((other, one) for one in other.bindings(name)) if other else ()

    def members(self, declared: Declaration, name: str) -> Sequence[tuple[CodeFile, Binding]]:
        """Return the declarations of a member in a type or in its nearest base types."""
        for one in self.walk_bases(declared):
            found = self.own_members(one, name)
            if found:
                return found
        return ()

    def own_members(self, declared: Declaration, name: str) -> Sequence[tuple[CodeFile, Binding]]:
        """Return the declarations of a member in a type, without those in its base types."""
        key = declared.unit.node.id, name
        if key not in self._members:
            self._members[key] = [*self._find_members(declared, name)]
        return self._members[key]

    def _find_members(self, declared: Declaration, name: str) -> Iterator[tuple[CodeFile, Binding]]:
        file, node = declared.file, declared.unit.node
        for one in file.bindings(name):
            is_inside = node.start_byte <= one.node.start_byte < node.end_byte
            if one.is_member and is_inside and _is_directly_in(file, one, declared.unit):
                yield file, one
        if file.language == "csharp":
            yield from self._find_in_parts(declared, name)
        if file.language not in _WITH_OUTER_METHODS:
            return
        states = [file.state] + [
            state
            for state in self._files.definers(name, file.language)
            if state.id != file.state.id and _is_near(state.path, file)
        ]
        for state in states[:_MAX_DECLARERS]:
            other = self._files.get(state)
            if other is None:
                continue
            rows = [
                row
                for (row, _), units in other.tree.find_definitions(name).items()
                if units and _find_owner(units) == declared.name
            ]
            for one in other.bindings(name) if rows else ():
                first, last = one.node.start_point[0], one.node.end_point[0]
                if one.is_function and any(first <= row <= last for row in rows):
                    yield other, one

    def _find_in_parts(
        self, declared: Declaration, name: str
    ) -> Iterator[tuple[CodeFile, Binding]]:
        """Yield the declarations of a member in the other parts of a partial class of C#."""
        folder = parent_folder(declared.file.state.path)
        found = self._declarations(declared.name, "csharp") if _are_parts([declared]) else ()
        for one in found:
            node = one.unit.node
            if one.file is declared.file or parent_folder(one.file.state.path) != folder:
                continue
            for binding in one.file.bindings(name):
                if binding.is_member and node.start_byte <= binding.node.start_byte < node.end_byte:
                    yield one.file, binding

    def walk_bases(self, declared: Declaration) -> Iterator[Declaration]:
        """Yield a type, its base types or embedded types, and so on; the nearest come first."""
        level, known = [declared], {declared.unit.node.id}
        for _ in range(_MAX_LEVELS):
            yield from level
            bases = [
                base
                for one in level
                for name in _base_types(one)
                if (base := self.find(name, one.file)) is not None
            ]
            level = [one for one in bases if one.unit.node.id not in known]
            known.update(one.unit.node.id for one in level)

    def defines(self, declared: Declaration, definition: FoundDefinition) -> bool:
        """Return whether a definition is a member of exactly this type."""
        path, own = definition.symbol.path, declared.file.state.path
        if definition.owners[:1] != (declared.name,):
            return False
        language = declared.file.language
        if path == own or language == "go":
            return parent_folder(path) == parent_folder(own)
        if (
            language == "csharp"
            and parent_folder(path) == parent_folder(own)
            and _are_parts([declared])
        ):
            return True
        key = declared.name, language
        if key not in self._counts:
            self._counts[key] = sum(1 for _ in self._declarations(declared.name, language))
        return self._counts[key] == 1 or (language == "rust" and _is_near(path, declared.file))


def _find_declared(file: CodeFile, name: str) -> Iterator[Declaration]:
    for units in file.tree.find_definitions(name).values():
        if units and units[-1].symbol == name:
            label = units[-1].title.partition(" ")[0]
            if label not in _FUNCTIONS and (units[-1].is_box or label in ("type", "struct")):
                yield Declaration(name, file, units[-1])


def _find_owner(units: Sequence[Unit]) -> str:
    """Return the name of the type that contains the innermost unit; "" if there is none."""
    owners = (*reversed(unit_qualifiers(units[-1])), *owner_names(units[:-1]))
    return owners[0] if owners else ""


def _are_parts(declared: Sequence[Declaration]) -> bool:
    """Return whether all declarations are parts of a partial class of C#."""
    return all(
        one.file.language == "csharp"
        and any(b"partial" in (child.text or b"") for child in one.unit.node.children[:5])
        for one in declared
    )


def _is_near(path: str, file: CodeFile) -> bool:
    """Return whether a file can contain methods of a type that another file declares."""
    own = file.state.path
    if file.language == "go":
        return parent_folder(path) == parent_folder(own)
    return crate_folder(path) == crate_folder(own)


def _is_directly_in(file: CodeFile, binding: Binding, unit: Unit) -> bool:
    boxes = [one for one in file.tree.units_at(binding.node.start_point[0]) if one.is_box]
    return not unit.is_box or not boxes or boxes[-1] is unit or _is_companion(boxes, unit)


def _is_companion(boxes: Sequence[Unit], unit: Unit) -> bool:
    """Return whether the innermost class in `boxes` is the companion object of `unit`."""
    is_within = len(boxes) > 1 and boxes[-2] is unit
    return is_within and boxes[-1].title.startswith("companion")


def _is_in(declared: Declaration, qualifier: str) -> bool:
    owners = owner_names(list(declared.file.tree.units_at(declared.unit.row)))
    return qualifier in owners or qualifier in module_names(declared.file.state.path)


def _find_import(file: CodeFile, name: str) -> str:
    """Return the import that makes a name known in a file; "" if there is none."""
    found = file.find(name)
    if found is None:
        return ""
    imports = (
        import_statement(file.tree, *at, found.size)
        for at in found.positions
        if binds_import(file.tree, *at, found.size)
    )
    return next(filter(None, imports), "")


def _choose_imported(
    found: Sequence[Declaration], file: CodeFile, statement: str
) -> Declaration | None:
    """Return the type that an import names; None if it is unclear which one it names."""
    states = _named_files([one.file.state for one in found], file, statement)
    named = [one for one in found if one.file.state in states]
    return named[0] if len(named) == 1 else None


def _named_files(states: Sequence[FileState], file: CodeFile, statement: str) -> list[FileState]:
    """Return the file that an import names, if this is clear."""
    named = imported_path(file.state.path, statement)
    if named and (exact := [one for one in states if is_module(one.path, named)]):
        return exact
    is_own = file.language == "rust" and is_in_own_crate(statement)
    if is_own:
        states = [one for one in states if _is_near(one.path, file)]
    # A module of the same package may re-export the name from another module.
    if (named or is_own) and len(states) == 1:
        return list(states)
    if named:
        return []
    best = best_path([one.path for one in states], statement)
    return [] if best is None else [states[best]]


def _base_types(declared: Declaration) -> Iterator[TypeName]:
    unit, file = declared.unit, declared.file
    if file.language == "go":
        embedded = embedded_types(file.tree, unit.node)
        yield from (TypeName(one.name, one.qualifier) for one in embedded)
        return
    for name in dict.fromkeys(base_names(unit)):
        if name[:1].isupper() and WORD.fullmatch(name):
            yield TypeName(name)
