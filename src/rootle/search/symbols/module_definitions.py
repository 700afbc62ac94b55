"""Find the definitions to which the names in a file refer, except members of classes.

Examples are definitions in the file itself, and in modules that it imports.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.type_identity import has_folder, parent_folder
from rootle.search.symbols.import_paths import (
    best_path,
    crate_folder,
    find_renamed,
    imported_crate,
    imported_names,
    imported_package,
    imported_path,
    imported_root,
    is_in_own_crate,
    is_load,
    is_module,
    is_named,
    module_names,
)
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.types.code_files import CodeFiles
from rootle.search.symbols.uses.companions import Companions, is_type
from rootle.search.symbols.uses.import_statements import (
    find_import,
    is_of_other_package,
    may_name_definition,
)
from rootle.search.symbols.uses.owner_filter import is_of_other_language
from rootle.syntax.aliases import DEFAULT, possible_aliases
from rootle.syntax.declared.local_variables import LocalVariables
from rootle.syntax.files.file_symbols import MODULE
from rootle.syntax.members import OBJECT_KEY
from rootle.syntax.references import MAX_RECEIVER, binds_import, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.text.languages import JAVASCRIPT
from rootle.text.terms import file_stem

NAME: Final = re.compile(r"[@$]?\w+")
# In these languages, files in the same folder can use each other without an import.
_PACKAGES: Final = frozenset({"go", "java", "kotlin", "scala", "csharp", "c"})
# In these languages, "::" or "\\" follows the name of a module, and "." follows only values.
_JVM: Final = frozenset({"java", "kotlin", "scala"})
_WITH_PATHS: Final = frozenset({"rust", "cpp", "php"})


class ModuleDefinitions:
    """Finds which of the definitions of one name a file refers to, except members of classes."""

    def __init__(self, definitions: Sequence[FoundDefinition], files: CodeFiles) -> None:
        top = [one for one in definitions if not _is_member(one)]
        self._companions = Companions(top)
        self._top = self._companions.leaders
        # A name without a receiver is never the key of an object.
        plain = [one for one in top if one.symbol.kind != OBJECT_KEY]
        self._plain_top = Companions(plain).leaders
        self._files = files
        # Results that are the same for all uses in a file.
        self._plain: dict[str, FoundDefinition | None] = {}  # by path
        self._modules: dict[str, Sequence[FoundDefinition]] = {}  # by name
        self._imported: dict[tuple[str, str], str] = {}  # the imports that bind a name in a file
        self._renamed: dict[tuple[str, str], Sequence[str]] = {}
        self._aliases: dict[str, Collection[str]] = {}  # names that may be aliases, by path
        self._statements: dict[tuple[str, str], FoundDefinition | None] = {}  # by path
        self._variables: dict[tuple[str, str], _KnownVariables | None] = {}  # by path and name

    def select_companion(self, definition: FoundDefinition, kind: str) -> FoundDefinition:
        """Return the definition that a use of a kind refers to, in the scope of a definition."""
        return self._companions.select(definition, kind)

    def find_plain(self, found: FileOccurrences) -> FoundDefinition | None:
        """Return the definition to which the name refers in a file if it has no receiver.

        If the file was not parsed, return it only if it is a type, because a local variable may
        have the name.
        """
        path = found.state.path
        if path not in self._plain:
            self._plain[path] = self._find_plain(found)
        definition = self._plain[path]
        is_certain = found.tree is not None or definition is None or is_type(definition)
        return definition if is_certain else None

    def _find_plain(self, found: FileOccurrences) -> FoundDefinition | None:
        path = found.state.path
        language = found.tree.language if found.tree is not None else found.state.language
        known = [one for one in self._plain_top if one.symbol.kind != MODULE]
        local = [one for one in known if one.symbol.path == path]
        if local:
            return local[0]
        statement = find_import(found)
        if statement:
            return self._find_imported(found, language, statement)
        folder = parent_folder(path)
        neighbors = [one for one in self._plain_top if parent_folder(one.symbol.path) == folder]
        if len(neighbors) == 1 and language in _PACKAGES:
            return neighbors[0]
        bodies = [
            one
            for one in known
            if one.symbol.kind != "declaration"
            and not is_of_other_language(found, (one.symbol.language,))
        ]
        if language == "lua":  # a local variable is known only in its own file
            bodies = [one for one in bodies if one.symbol.visibility != "private"]
        return bodies[0] if len(bodies) == 1 and language != "python" else None

    def find_import(self, found: FileOccurrences, at: Position) -> FoundDefinition | None:
        """Return the definition that the import at a position names."""
        tree = found.tree
        statement = import_statement(tree, *at, found.size) if tree is not None else ""
        if tree is None or not statement or not may_name_definition(found, tree, at, statement):
            return None
        return self._find_imported(found, tree.language, statement)

    def is_other_import(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether the import at a position certainly names none of the definitions.

        For example, it imports a name from another project or, in Python, a module.
        """
        tree = found.tree
        if tree is None:
            return False
        statement = import_statement(tree, *at, found.size)
        is_module = tree.language == "python" and not imported_root(statement)
        return is_module or self._is_foreign(statement, tree.language)

    def _is_foreign(self, statement: str, language: str) -> bool:
        if language in JAVASCRIPT:
            package = imported_package(statement)
            is_named = bool(package) and package not in self._files.own_packages
            return is_named and package.partition("/")[0] not in self._files.path_names
        package = imported_root(statement) if language == "python" else ""
        return package.isidentifier() and package not in self._files.path_names

    def _find_imported(
        self, found: FileOccurrences, language: str, statement: str
    ) -> FoundDefinition | None:
        key = found.state.path, statement
        if key not in self._statements:
            self._statements[key] = self._choose_imported(found, language, statement)
        return self._statements[key]

    def _choose_imported(
        self, found: FileOccurrences, language: str, statement: str
    ) -> FoundDefinition | None:
        path = found.state.path
        renamed = NAME.findall(find_renamed(statement, found.name))
        if renamed and renamed[-1] not in (found.name, DEFAULT):
            return None  # `from a import b as name`
        if language == "lua" or (language == "ruby" and is_load(statement)):
            names = imported_names(statement, found.name)
            # The module may define a function with its own name: `spawn.spawn` in spawn.lua.
            modules = [one for one in self._list_named(names) if not one.owners]
            if not modules and names[-1:] == (found.name,):  # `require("a.b").name`
                modules = list(self._list_named(names[:-1]))
            return modules[0] if len(modules) == 1 else None
        named = imported_path(path, statement)
        exact = [one for one in self._top if named and is_module(one.symbol.path, named)]
        if len(exact) == 1:
            return exact[0]
        known: Sequence[FoundDefinition] = self._top
        if language == "rust" and is_in_own_crate(statement):
            known = _select_crate(known, path)
            if len(known) == 1:
                return known[0]  # `use crate::Cart` can name a re-export
        if language in _JVM:
            known = [one for one in known if not is_of_other_package(one, statement)]
        best = best_path([one.symbol.path for one in known], statement)
        if best is not None:
            is_near = imported_root(statement) in known[best].symbol.path.split("/")
            # The alias of a folder can look like the scope of a package: `@shop/cart`.
            is_package = language in JAVASCRIPT and not imported_package(statement).startswith("@")
            may_be_foreign = is_package or (language == "python" and not is_near)
            return None if may_be_foreign and self._is_foreign(statement, language) else known[best]
        # Packages re-export names of each other, so an import of any package of the repository may
        # refer to the definition.
        if len(self._top) != 1 or language not in (*JAVASCRIPT, "rust"):
            return None
        package = imported_crate(statement) if language == "rust" else imported_package(statement)
        return self._top[0] if package in self._files.own_packages else None

    def full_names(
        self, found: FileOccurrences, tree: SourceTree | None, at: Position, receiver: str
    ) -> Sequence[str]:
        """Return the names in the receiver of a use, with the full name of an imported module.

        For `c.d`, they are a, b and d if the file contains `import a.b as c`. They are also known
        for `require("a.b").d`.
        """
        if is_load(receiver):
            return imported_names(receiver, "")
        names = NAME.findall(receiver)
        if not names or names[0] not in self._list_aliases(found):
            return names
        if tree is None:
            return ()
        imported = self._find_renamed(found, tree, names[0])
        if not imported or self._is_variable(found, tree, at, names[0]):
            return names
        return (*imported, *names[1:])

    def _find_renamed(self, found: FileOccurrences, tree: SourceTree, name: str) -> Sequence[str]:
        """Return the full name of what a file imports as `name`; () if that is just `name`."""
        key = found.state.path, name
        if key not in self._renamed:
            statement = self._find_binding(found, tree, name)
            imported = imported_names(statement, name) if statement else ()
            self._renamed[key] = imported if imported != (name,) else ()
        return self._renamed[key]

    def _list_aliases(self, found: FileOccurrences) -> Collection[str]:
        path = found.state.path
        if path not in self._aliases:
            self._aliases[path] = possible_aliases(found.text, found.state.language)
        return self._aliases[path]

    def find_in_module(
        self, found: FileOccurrences, tree: SourceTree, at: Position, receiver: str
    ) -> FoundDefinition | None:
        """Return the definition in a module, if the receiver of a use refers to this module."""
        names = NAME.findall(receiver)
        last = names[-1]
        if last not in self._modules:
            self._modules[last] = self._modules_named(last)
        named = self._modules[last]
        if tree.language == "rust" and is_in_own_crate(names[0]):
            named = _select_crate(named, found.state.path)
        if len(named) != 1:
            return None
        before = found.text_around(at, MAX_RECEIVER)[0].rstrip()
        if before.endswith(("::", "\\")):
            return named[0]
        if tree.language in _WITH_PATHS:
            return None
        parts = {*named[0].symbol.path.split("/"), file_stem(named[0].symbol.path)}
        is_whole = len(names) > 1 and parts.issuperset(names)  # "package.module"
        bound = [one for one in (last, names[0]) if one == last or is_whole]
        is_imported = any(
            self._find_binding(found, tree, one) and not self._is_variable(found, tree, at, one)
            for one in dict.fromkeys(bound)
        )
        return named[0] if is_imported else None

    def find_in_package(self, imported: str) -> FoundDefinition | None:
        """Return the definition in the Go package with an import path.

        If the path ends with several folders, as "example.com/shop/http" does with "shop/http" and
        "http", the longest one counts.
        """
        named: list[tuple[str, FoundDefinition]] = []
        for one in self._top:
            folder = parent_folder(one.symbol.path)
            is_named = has_folder(imported, folder) if folder else imported == self._files.go_module
            if is_named and one.symbol.language == "go":
                named.append((folder, one))
        return max(named, key=lambda item: len(item[0]))[1] if named else None

    def is_imported_from(
        self, found: FileOccurrences, tree: SourceTree, at: Position, name: str, path: str
    ) -> bool:
        """Return whether an import of JavaScript makes a value of another file known as `name`.

        If a local variable has this name at the position of the use, it is not the imported value.

        The import names the file by a relative path, or by an alias such as "@shop/settings" for
        the file settings.js in the folder `shop`.
        """
        statement = self._find_binding(found, tree, name)
        if self._is_variable(found, tree, at, name):
            return False
        imported = imported_path(found.state.path, statement)
        if imported or not statement:
            return bool(imported) and is_module(path, imported)
        parts = (part.lstrip("@~#") for part in imported_names(statement, name))
        names = [part for part in parts if part]
        return len(names) > 1 and "{" not in statement and is_named(path, names)

    def find_by_full_name(
        self, found: FileOccurrences, tree: SourceTree, receiver: str, full: Sequence[str]
    ) -> FoundDefinition | None:
        """Return the definition in the module that a receiver with this full name refers to.

        In Lua, `shop.cart` is itself the full name of a module, whose file may define `cart`.
        """
        names = NAME.findall(receiver)
        is_renamed = tuple(full) != tuple(names)
        is_lua = tree.language == "lua"
        if is_lua:
            whole = (*full, found.name)
            tables = [
                one for one in self._top if not one.owners and is_named(one.symbol.path, whole)
            ]
            if len(tables) == 1:
                return tables[0]
        if not is_renamed and not (is_lua and len(names) > 1):
            return None
        modules = self._list_named(full)
        if len(modules) > 1:
            statement = self._find_binding(found, tree, names[0])
            imported = imported_path(found.state.path, statement)
            modules = [one for one in modules if is_module(one.symbol.path, imported)]
        return modules[0] if len(modules) == 1 else None

    def _list_named(self, names: Sequence[str]) -> Sequence[FoundDefinition]:
        """Return the definitions in modules whose full name ends with these names."""
        named = self._by_module.get(names[-1], ()) if names else ()
        return [one for one in named if is_named(one.symbol.path, names)]

    @cached_property
    def _by_module(self) -> Mapping[str, Sequence[FoundDefinition]]:
        """The definitions by the last names of their modules."""
        named: defaultdict[str, list[FoundDefinition]] = defaultdict(list)
        for one in self._top:
            named[module_names(one.symbol.path)[0]].append(one)
        return named

    def _modules_named(self, name: str) -> Sequence[FoundDefinition]:
        """Return the definitions in modules with a name."""
        top = self._top
        # In Rust, the crate of a folder such as `shop-core` is written with underscores.
        if len(top) == 1 and name in top[0].symbol.path.replace("-", "_").split("/"):
            return top  # a package may re-export the name
        return [one for one in top if name in module_names(one.symbol.path)]

    def _is_variable(
        self, found: FileOccurrences, tree: SourceTree, at: Position, name: str
    ) -> bool:
        """Return whether the name before a use is that of a local variable or parameter.

        If a variable gets the module, it counts as the module: `local c; c = require("a")`.
        """
        key = found.state.path, name
        if key not in self._variables:
            self._variables[key] = _read_variables(found, tree, name)
        known = self._variables[key]
        if known is None:
            return False
        before = bisect_left(known.positions, at) - 1
        return before >= 0 and known.variables.is_variable(*known.positions[before])

    def _find_binding(self, found: FileOccurrences, tree: SourceTree, name: str) -> str:
        """Return the import in a file that makes a name known; "" if there is none."""
        key = found.state.path, name
        if key not in self._imported:
            places = found.find_other(name)
            bound = (
                import_statement(tree, *at, places.size)
                for at in (places.positions if places is not None else ())
                if places is not None and binds_import(tree, *at, places.size)
            )
            self._imported[key] = next(filter(None, bound), "")
        return self._imported[key]


@dataclass(frozen=True, slots=True)
class _KnownVariables:
    """The places of a name in a file, and the local variables with this name."""

    positions: Sequence[Position]
    variables: LocalVariables


def _read_variables(found: FileOccurrences, tree: SourceTree, name: str) -> _KnownVariables | None:
    """Return the local variables with the name of an import; None if a variable gets its module."""
    places = found.find_other(name)
    if places is None:
        return None
    bound = {at for at in places.positions if binds_import(tree, *at, places.size)}
    declared = [at for at in places.positions if at not in bound]
    variables = LocalVariables(tree, declared, places.size)
    if any(variables.is_variable(*at) for at in bound):
        return None
    return _KnownVariables(places.positions, variables)


def _select_crate(definitions: Sequence[FoundDefinition], path: str) -> Sequence[FoundDefinition]:
    """Return the definitions in the crate of Rust to which a file belongs."""
    folder = crate_folder(path)
    return [one for one in definitions if crate_folder(one.symbol.path) == folder]


def _is_member(definition: FoundDefinition) -> bool:
    scope = definition.symbol.scope
    is_outer = scope.startswith(("namespace ", "module ", "mod ", "package ")) and ">" not in scope
    return bool(definition.owners) and not is_outer and not definition.is_in_module
