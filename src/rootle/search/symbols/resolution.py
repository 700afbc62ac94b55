"""Find the definition of a reference, as far as it can be determined from the code of one file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.search.symbols.bases.class_heads import base_names
from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.type_identity import is_standard
from rootle.search.symbols.import_paths import crate_folder, is_in_own_crate, is_load
from rootle.search.symbols.module_definitions import NAME, ModuleDefinitions
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.types.code_files import CodeFiles
from rootle.search.symbols.types.elixir_modules import ElixirModules
from rootle.search.symbols.types.receivers import TYPED_LANGUAGES, ReceiverTypes
from rootle.search.symbols.types.variable_types import guess_types
from rootle.search.symbols.uses.import_statements import find_import, imported_owner
from rootle.search.symbols.uses.receiver_text import go_receiver, plain_receiver
from rootle.syntax.blocks.block_titles import owner_names, unit_qualifiers
from rootle.syntax.declared.local_variables import is_key
from rootle.syntax.references import MAX_RECEIVER, OccurrenceRole, classify
from rootle.syntax.source_tree import Position, SourceTree
from rootle.syntax.symbol_outline import Unit
from rootle.text.languages import JAVASCRIPT

_SELF: Final = frozenset({"self", "this", "cls", "$this", "Self", "static", "@"})
_SUPER: Final = frozenset({"super", "super()", "base", "parent"})
# In these languages, code in a class can use the members of the class without a receiver.
_IMPLICIT_SELF: Final = frozenset({"java", "csharp", "kotlin", "cpp", "swift", "scala", "ruby"})
_EXTENSION: Final = re.compile(r"(?:^|> )extension [^>]*$")  # the last part of a scope
_WITH_MEMBER_IMPORTS: Final = frozenset({"java", "kotlin", "scala"})
_NOT_CODE: Final = frozenset({"comment", "document", "string"})
_WITH_ARROWS: Final = frozenset({"c", "cpp", "php"})  # in which "->" selects a member
_MAX_SPACE: Final = 80  # characters that are searched for a receiver
_LAST_NAME: Final = re.compile(r"(?<!\w)(\w+)(?:\(\))?$")
# The maximum number of characters of each definition that are searched for the type of a variable.
# Of the file, five times as many characters are searched.
_MAX_SCANNED: Final = 20_000


@dataclass(frozen=True, slots=True)
class _DeclaredMember:
    """The definition of a name in the declared type of a receiver."""

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
        self._modules = ModuleDefinitions(definitions, files)
        self._elixir = ElixirModules(definitions)
        self._owned: defaultdict[str, list[FoundDefinition]] = defaultdict(list)
        for one in definitions:
            if one.owners:
                self._owned[one.owners[0]].append(one)
        self._owners = self._owned.keys()
        # Results that are the same for all uses in a file.
        self._by_class: dict[tuple[str, str], FoundDefinition | None] = {}  # by class and path
        self._types: dict[tuple[str, int, int, str], Sequence[str]] = {}
        self._imported_members: dict[str, FoundDefinition | None] = {}  # by path

    def resolve(self, found: FileOccurrences, at: Position, reference: OccurrenceRole) -> str:
        """Return the place of the definition that a reference refers to, as in `SymbolUse.target`.

        Return "" if it cannot be determined.
        """
        tree, receiver = found.tree, plain_receiver(found, reference.receiver)
        if reference.kind in _NOT_CODE:
            return ""
        if tree is None:
            return self._resolve_unparsed(found, at, reference)
        if receiver and receiver not in _SELF and receiver not in _SUPER:
            declared = self._declared_member(found, at, receiver)
            if declared is not None:
                return declared.place
        units = list(tree.units_at(at[0]))
        if (module := self._elixir.find(found, at, units)) is not None:
            return module.place
        if reference.kind in ("import", "export"):
            imported = self._modules.find_import(found, at)
            is_import = reference.kind == "import"
            if imported is not None or (is_import and (not receiver or tree.language == "python")):
                return imported.place if imported is not None else ""
        if not receiver and is_key(tree, *at, found.size):
            return ""
        resolved = (
            self._resolve_member(found, tree, at, units, receiver)
            or self._find_in_imported_value(found, tree, at, receiver)
            if receiver
            else self._resolve_plain(found, tree, units)
        )
        if resolved is None:
            return ""
        return self._modules.select_companion(resolved, reference.kind).place

    def _resolve_unparsed(
        self, found: FileOccurrences, at: Position, reference: OccurrenceRole
    ) -> str:
        """Return the place of the type that a name without a receiver refers to; "" if unknown."""
        before = found.text_around(at, _MAX_SPACE)[0].rstrip()
        signs = (".", "::", "->") if found.state.language in _WITH_ARROWS else (".", "::")
        plain = self._modules.find_plain(found)
        is_member = reference.kind != "import" and before.endswith(signs)
        return plain.place if plain is not None and not is_member else ""

    def _find_in_imported_value(
        self, found: FileOccurrences, tree: SourceTree, at: Position, receiver: str
    ) -> FoundDefinition | None:
        """Return the only definition, if a receiver of JavaScript is a value from its file.

        An example is `settings.maxSize` after `import settings from "./settings"`.
        """
        if len(self._definitions) != 1 or tree.language not in JAVASCRIPT:
            return None
        file = self._files.get(found.state) if receiver.isidentifier() else None
        if file is None or file.bindings(receiver):
            return None  # a variable or parameter has the name
        only = self._definitions[0]
        is_from = self._modules.is_imported_from(found, tree, at, receiver, only.symbol.path)
        return only if is_from else None

    def full_names(self, found: FileOccurrences, at: Position, receiver: str) -> Sequence[str]:
        """Return the names in the receiver of a use, with the full name of an imported module.

        Return () if it is not known whether the file imports the first name.
        """
        return self._modules.full_names(found, found.tree, at, receiver)

    def is_other_import(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether the import at a position certainly names none of the definitions."""
        return self._modules.is_other_import(found, at)

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
        return bool(self._imported_package(found, found.tree, at, receiver))

    def _imported_package(
        self, found: FileOccurrences, tree: SourceTree, at: Position, receiver: str
    ) -> str:
        """Return the import path of the Go package that a receiver names; "" if it names none."""
        if tree.language != "go" or not receiver.isidentifier():
            return ""
        file = self._files.get(found.state)
        node = tree.node_at(*at, found.size)
        if file is None or not self._receivers.is_package(file, node, receiver):
            return ""
        return file.imported_package(receiver)

    def _declared_member(
        self, found: FileOccurrences, at: Position, receiver: str
    ) -> _DeclaredMember | None:
        """Return the definition in the declared type of a receiver; None if either is unknown."""
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
        member = self._receivers.find_member(declared, found.name, self._definitions)
        if member is None:
            # The member may be in a base class outside of the repository or under another name.
            return _DeclaredMember("", is_open=True) if declared.is_interface else None
        if member.place in self._wanted:
            return _DeclaredMember(member.place)
        # At run time, a value whose type is an interface or a base class may have the wanted
        # definition.
        is_open = member.owner.is_interface or member.owner.name in self._find_ancestors()
        return _DeclaredMember("" if is_open else member.place, is_open=is_open)

    def _resolve_plain(
        self, found: FileOccurrences, tree: SourceTree, units: list[Unit]
    ) -> FoundDefinition | None:
        path = found.state.path
        if tree.language in _IMPLICIT_SELF:
            member = self._find_in_class(units, path)
            if member is not None:
                return member
        if inner := self._find_in_functions(units, path):
            return inner
        return self._modules.find_plain(found) or self._find_imported_member(found)

    def _find_imported_member(self, found: FileOccurrences) -> FoundDefinition | None:
        """Return the member of a class that a file imports: `import static shop.Cart.fill`."""
        path = found.state.path
        if found.state.language not in _WITH_MEMBER_IMPORTS:
            return None
        if path not in self._imported_members:
            owner = imported_owner(find_import(found), found.name)
            member = self._find_by_owner(owner, path) if owner in self._owners else None
            self._imported_members[path] = member
        return self._imported_members[path]

    def _find_in_functions(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition inside the innermost enclosing function that has one."""
        for depth in range(len(units) - 1, -1, -1):
            if units[depth].is_box:
                continue
            names = owner_names(units[: depth + 1])
            local = [
                one
                for one in self._owned.get(names[0] if names else "", ())
                if one.symbol.path == path
                and one.symbol.kind != "field"  # as in `type Node struct { ID ID }`
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
            return self._find_in_bases(units, path)
        if receiver in _SELF or receiver == go_receiver(found, units):
            return self._find_in_class(units, path)
        package = self._imported_package(found, tree, at, receiver)
        if package and not is_standard(package):
            return self._modules.find_in_package(package)
        names = self._modules.full_names(found, tree, at, receiver)
        if not names or not (is_load(receiver) or _LAST_NAME.search(receiver)):
            return None
        by_name = self._modules.find_by_full_name(found, tree, receiver, names)
        if by_name is not None:
            return by_name
        by_owner = self._find_by_owner(names[-1], path)
        if by_owner is not None and not _is_in_other_crate(by_owner, found, names[0]):
            return by_owner
        may_be_module = not receiver.endswith("()") and names[0] not in _SELF
        module = self._modules.find_in_module(found, tree, at, receiver) if may_be_module else None
        if module is None:
            return self._find_by_type(found, _ranges_around(found, units), receiver)
        # The function that contains the reference may have a variable with the module's name.
        return self._find_by_type(found, _ranges_around(found, units)[:-1], receiver) or module

    def _find_in_class(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition in the innermost enclosing class, or in one of its base classes."""
        for depth in range(len(units) - 1, -1, -1):
            unit = units[depth]
            names = (*reversed(unit_qualifiers(unit)), *owner_names(units[: depth + 1]))
            for name in names:
                found = self._find_by_owner(name, path)
                if found is not None:
                    return found
            if unit.is_box:
                return self._find_in_bases(units[: depth + 1], path)
        return None

    def _find_in_bases(self, units: Sequence[Unit], path: str) -> FoundDefinition | None:
        """Return the definition in a base class of the innermost enclosing class.

        Every class that is named before the body of that class is regarded as a base class.
        """
        box = next((unit for unit in reversed(units) if unit.is_box), None)
        if box is None:
            return None
        bases = [
            self._find_by_owner(name, path) for name in base_names(box) if name in self._owners
        ]
        return next((base for base in bases if base is not None), None)

    def _find_by_owner(self, owner: str, path: str) -> FoundDefinition | None:
        key = owner, path
        if key not in self._by_class:
            self._by_class[key] = self._choose_owned(owner, path)
        return self._by_class[key]

    def _choose_owned(self, owner: str, path: str) -> FoundDefinition | None:
        owned = self._owned.get(owner, [])
        here = [one for one in owned if one.symbol.path == path]
        return (here or owned)[0] if len(owned) == 1 or here else _find_with_body(owned)

    def _find_by_type(
        self, found: FileOccurrences, ranges: Sequence[tuple[int, int]], receiver: str
    ) -> FoundDefinition | None:
        """Return the definition in the type of the variable that a receiver ends with.

        The type is guessed from the declarations and the values of the variable. `ranges` of the
        text are searched in order, until one of them determines a type.
        """
        path = found.state.path
        parts = NAME.findall(receiver)
        has_owner = len(parts) > 1 and (len(parts) > 2 or parts[0] not in _SELF)
        if has_owner and found.state.language in TYPED_LANGUAGES:
            return None  # the field of another class can have the same name
        variable = parts[-1]
        for start, end in ranges:
            key = path, start, end, variable
            types = self._types.get(key)
            if types is None:
                types = guess_types(variable, found, start, end)
                self._types[key] = types
            owned = [self._find_by_owner(name, path) for name in types if name in self._owners]
            if len({one.place for one in owned if one is not None}) == 1:
                return self._reject_base(owned[0])
            if owned or any(name[:1].isupper() for name in types):
                return None  # the type is ambiguous, or does not define the name
        return None

    def _reject_base(self, found: FoundDefinition | None) -> FoundDefinition | None:
        """Return a definition, or None if it is in a base class of a wanted definition's class.

        A variable of such a base class may have a value of the class with the wanted definition.
        """
        if found is None or found.place in self._wanted:
            return found
        is_base = found.owners[0] in self._find_ancestors()
        return None if is_base else found


def _is_in_other_crate(definition: FoundDefinition, found: FileOccurrences, first: str) -> bool:
    """Return whether a path of Rust that begins with `first` cannot lead to a definition."""
    if found.state.language != "rust" or not is_in_own_crate(first):
        return False
    return crate_folder(definition.symbol.path) != crate_folder(found.state.path)


def _find_with_body(owned: Sequence[FoundDefinition]) -> FoundDefinition | None:
    """Return the only definition with a body, or the first overload if all are in one class."""
    bodies = [one for one in owned if one.symbol.kind != "declaration"]
    # An extension of Swift belongs to the class that it extends, in whatever file it is.
    own = [one for one in bodies if not _EXTENSION.search(one.symbol.scope)]
    is_same = len({one.owners for one in bodies}) == 1
    is_one_class = is_same and len({one.symbol.path for one in own}) <= 1
    return (own or bodies)[0] if is_one_class else None


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
