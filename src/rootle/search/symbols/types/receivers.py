"""Determine the type of a receiver part by part, from what the repository declares.

A type is determined only if the code shows it: a part whose declaration is missing, ambiguous or
outside of the repository makes the whole receiver unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.type_identity import has_folder, parent_folder
from rootle.search.symbols.types.code_files import CodeFile, CodeFiles
from rootle.search.symbols.types.declarations import Declaration, Declarations
from rootle.search.symbols.types.generic_types import (
    await_type,
    find_element_type,
    find_result_type,
    strip_pointer,
)
from rootle.syntax.declared.bindings import CLASS_SCOPES, Binding, underlying_type
from rootle.syntax.declared.expressions import Step, read_expression
from rootle.syntax.declared.type_names import TypeName, read_result, read_type

# The languages whose declarations are read.
TYPED_LANGUAGES: Final = frozenset(
    "csharp go java javascript kotlin php python rust tsx typescript".split()
)
_SELF: Final = frozenset({"self", "this", "$this", "cls", "Self", "static"})
_OWN_TYPES: Final = frozenset({"Self", "self", "static", "this"})
# In these languages, code in a class uses the members of the class without a receiver.
_IMPLICIT_SELF: Final = frozenset({"csharp", "java", "kotlin"})
# In these languages, calling a class creates an instance of it.
_CALLED_CLASSES: Final = frozenset({"kotlin", "python"})
_CONSTRUCTORS: Final = {"rust": frozenset({"default"})}  # that a class has without declaring them
_NULLS: Final = frozenset({"None", "null", "nil", "undefined"})
_MAX_DEPTH: Final = 5  # levels of variables that get their values from other variables


@dataclass(frozen=True, slots=True)
class TypeReference:
    """A type, and the file in which its name is written."""

    type: TypeName
    file: CodeFile
    is_class: bool = False  # the class itself and not a value of it


@dataclass(frozen=True, slots=True)
class TypeMember:
    """A member, and the type that contains it."""

    place: str  # the path and line
    owner: Declaration


@dataclass(frozen=True, slots=True)
class _Package:
    path: str  # in the import
    file: CodeFile


class ReceiverTypes:
    """Determines the types of receivers. An instance answers one request."""

    def __init__(self, files: CodeFiles) -> None:
        self._files = files
        self.declarations = Declarations(files)

    def declared_type(self, file: CodeFile, node: Node, receiver: str) -> Declaration | None:
        """Return the type of a receiver at a node; None if the repository does not declare it."""
        found = self._find_type(file, node, receiver, 0)
        return self._declaration(found) if isinstance(found, TypeReference) else None

    def is_package(self, file: CodeFile, node: Node, receiver: str) -> bool:
        """Return whether a receiver in a Go file is an imported package."""
        return isinstance(self._find_type(file, node, receiver, 0), _Package)

    def find_member(
        self, declared: Declaration, name: str, definitions: Sequence[FoundDefinition]
    ) -> TypeMember | None:
        """Return the member that a type has or inherits under a name; None if there is none.

        `definitions` are known definitions of the name. They may be incomplete.
        """
        for one in self.declarations.walk_bases(declared):
            for definition in definitions:
                if self.declarations.defines(one, definition):
                    return TypeMember(definition.place, one)
            for file, binding in self.declarations.own_members(one, name):
                named = binding.node.child_by_field_name("name")
                if binding.is_function and named is not None:
                    return TypeMember(f"{file.state.path}:{named.start_point[0] + 1}", one)
        return None

    def _find_type(
        self, file: CodeFile, node: Node, text: str, depth: int, index: int = 0
    ) -> TypeReference | _Package | None:
        """Return the type of an expression; `index` selects one of the results of a Go function."""
        expression = read_expression(text) if depth < _MAX_DEPTH else None
        if expression is None:
            return None
        current: TypeReference | _Package | None
        if expression.type:
            name = read_result(expression.type, file.language, 0)
            current, steps = (TypeReference(name, file) if name else None), expression.steps
        else:
            first, *rest = expression.steps
            at = index if not rest else 0
            current, steps = self._start(file, node, first, depth, at), tuple(rest)
        for number, step in enumerate(steps):
            if current is None:
                return None
            is_last = number == len(steps) - 1
            current = self._member(current, step, depth, index if is_last else 0)
        if expression.is_awaited and isinstance(current, TypeReference):
            return TypeReference(await_type(current.type), current.file)
        return current

    def _start(
        self, file: CodeFile, node: Node, step: Step, depth: int, index: int
    ) -> TypeReference | _Package | None:
        if step.name in _SELF:
            return _enclosing_class(file, node) if not step.is_call else None
        bindings = _visible(file, node, step.name.lstrip("$"))
        if bindings:
            found = self._agreed(file, bindings, step, depth, index)
            return self._select_element(found, step)
        if package := file.imported_package(step.name):
            return _Package(package, file)
        if file.language in _IMPLICIT_SELF:
            own = _enclosing_class(file, node)
            member = self._member(own, step, depth, index) if own is not None else None
            if member is not None:
                return member
        declared = self.declarations.find(TypeName(step.name), file)
        if declared is None:
            if step.is_call:
                return self._select_element(self._package_function(file, step, index), step)
            return None
        if step.is_call and file.language not in _CALLED_CLASSES and file.language != "go":
            return None
        return TypeReference(TypeName(step.name), file, is_class=not step.is_call)

    def _package_function(self, file: CodeFile, step: Step, index: int) -> TypeReference | None:
        """Return the result type of a function that another file declares under a name."""
        found = [
            (other, one)
            for other, one in self.declarations.functions(step.name, file)
            if one.is_function and not one.is_member
        ]
        return _read_written(found, index)

    def _agreed(
        self, file: CodeFile, bindings: Sequence[Binding], step: Step, depth: int, index: int
    ) -> TypeReference | None:
        """Return the type of a variable if all of its declarations agree."""
        functions = [one for one in bindings if one.is_function]
        if functions:
            return (
                _read_written([(file, one) for one in functions], index) if step.is_call else None
            )
        if step.is_call:
            return None
        return self._type_in([(file, one) for one in bindings], depth)

    def _type_in(
        self, bindings: Sequence[tuple[CodeFile, Binding]], depth: int
    ) -> TypeReference | None:
        written = [(file, one) for file, one in bindings if one.type]
        if written:
            return _read_written(written, 0)
        values = [pair for pair in bindings if pair[1].value not in _NULLS]
        found = [self._value_type(file, one, depth) for file, one in values]
        types = {(one.type, one.file.state.id) for one in found if one is not None}
        return found[0] if len(types) == 1 and None not in found else None

    def _value_type(self, file: CodeFile, binding: Binding, depth: int) -> TypeReference | None:
        if not binding.value:
            return None
        value = binding.value.removeprefix("range ").strip()
        found = self._find_type(file, binding.node, value, depth + 1, binding.index)
        if not isinstance(found, TypeReference) or found.is_class:
            return None
        if not binding.is_element:
            return found
        if file.language == "go" and binding.index != 1:
            return None
        return self._element(found)

    def _element(self, found: TypeReference) -> TypeReference | None:
        """Return the element type of a list or map, or of a named type that is declared as one."""
        if (element := find_element_type(found.type)) is not None:
            return TypeReference(element, found.file)
        declared = self._declaration(found)
        written = underlying_type(declared.file.tree, declared.unit.node) if declared else ""
        name = read_type(written, declared.file.language) if declared is not None else None
        element = find_element_type(name) if name is not None else None
        return TypeReference(element, declared.file) if declared and element else None

    def _member(
        self, current: TypeReference | _Package, step: Step, depth: int, index: int
    ) -> TypeReference | None:
        if isinstance(current, _Package):
            return self._select_element(self._package_member(current, step, index), step)
        built_in = find_result_type(current.type, step) if step.is_call else None
        if built_in is not None and current.file.language == "rust":
            return TypeReference(built_in, current.file)
        declared = self._declaration(current)
        if declared is None:
            return None
        members = self.declarations.members(declared, step.name)
        found = self._member_type(members, step, depth, index)
        if found is None and step.is_call and current.is_class:
            own = _CONSTRUCTORS.get(current.file.language, ())
            found = (
                TypeReference(current.type, current.file)
                if step.name in own and not members
                else None
            )
        if found is None:
            return None
        if found.type.name in _OWN_TYPES and not found.type.arguments:
            found = TypeReference(TypeName(declared.name), declared.file)
        if step.is_unwrapped and step.is_call and found.type.arguments:
            inner = found.type.arguments[0]
            found = TypeReference(inner, found.file) if inner is not None else None
        return self._select_element(found, step)

    def _member_type(
        self,
        members: Sequence[tuple[CodeFile, Binding]],
        step: Step,
        depth: int,
        index: int,
    ) -> TypeReference | None:
        functions = [pair for pair in members if pair[1].is_function]
        if step.is_call:
            return _read_written(functions, index)
        fields = [pair for pair in members if not pair[1].is_function]
        if fields:
            return self._type_in(fields, depth + 1) if depth < _MAX_DEPTH else None
        return _read_written([pair for pair in functions if _is_property(*pair)], 0)

    def _package_member(self, package: _Package, step: Step, index: int) -> TypeReference | None:
        """Return the type of a function, a variable or a type in a package of Go."""
        found = []
        for state in self._files.definers(step.name, "go"):
            if not has_folder(package.path, parent_folder(state.path)):
                continue
            other = self._files.get(state)
            if other is None:
                continue
            if self.declarations.find(TypeName(step.name), other) is not None:
                return TypeReference(TypeName(step.name), other, is_class=not step.is_call)
            found += [
                (other, one)
                for one in other.bindings(step.name)
                if not one.is_member
                and one.scope == other.tree.root
                and one.is_function == step.is_call
            ]
        return _read_written(found, index)

    def _select_element(self, found: TypeReference | None, step: Step) -> TypeReference | None:
        for _ in range(step.indices):
            found = self._element(found) if found is not None else None
        return found

    def _declaration(self, typed: TypeReference) -> Declaration | None:
        name = strip_pointer(typed.type)
        return self.declarations.find(name, typed.file) if name is not None else None


def _read_written(found: Sequence[tuple[CodeFile, Binding]], index: int) -> TypeReference | None:
    """Return the type that is written in the declarations if it is the same in all of them."""
    types = {one.type for _, one in found}
    if len(types) != 1:
        return None
    file, binding = found[0]
    name = read_result(binding.type, file.language, index)
    return TypeReference(name, file) if name is not None else None


def _is_property(file: CodeFile, binding: Binding) -> bool:
    """Return whether a function is called without parentheses, as a property of Python is."""
    node = binding.node
    if file.language == "python":
        around = node.parent
        return (
            around is not None
            and around.type == "decorated_definition"
            and (b"property" in (around.text or b"")[: node.start_byte - around.start_byte])
        )
    return any(one.type == "get" for one in node.children)


def _enclosing_class(file: CodeFile, node: Node) -> TypeReference | None:
    """Return the type around a node; for Rust, the type of the `impl` block."""
    units = list(file.tree.units_at(node.start_point[0]))
    box = next((one for one in reversed(units) if one.is_box), None)
    if box is None:
        return None
    if box.symbol:
        return TypeReference(TypeName(box.symbol), file)
    label, _, name = box.title.partition(" ")
    found = read_result(name, file.language, 0) if label == "impl" else None
    return TypeReference(found, file) if found is not None else None


def _visible(file: CodeFile, node: Node, name: str) -> Sequence[Binding]:
    """Return the visible declarations of a variable at a node, from the innermost scope only."""
    known = [
        one
        for one in file.local_bindings(name, node.start_point[0])
        if one.scope.start_byte <= node.start_byte < one.scope.end_byte
        and one.node != node
        and not one.is_own
        and not (one.scope.type in CLASS_SCOPES and file.language not in _IMPLICIT_SELF)
        and not (one.is_function and one.is_member and file.language not in _IMPLICIT_SELF)
    ]
    if not known:
        return ()
    start = max(one.scope.start_byte for one in known)
    inner = [one for one in known if one.scope.start_byte == start]
    before = [one for one in inner if one.node.start_byte < node.start_byte]
    return before or inner
