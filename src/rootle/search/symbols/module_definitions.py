"""Find the definitions outside of classes to which the names in a file refer.

Examples are its own definitions, and those in modules that it imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.type_identity import parent_folder
from rootle.search.symbols.import_paths import (
    best_path,
    crate_folder,
    imported_package,
    imported_path,
    is_in_own_crate,
    is_module,
    module_names,
)
from rootle.search.symbols.parsed_files import FileOccurrences, find_occurrences
from rootle.search.symbols.types.code_files import JAVASCRIPT, CodeFiles
from rootle.syntax.references import MAX_RECEIVER, binds_import, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.text.terms import file_stem

# In these languages, files in the same folder can use each other without an import.
_PACKAGES: Final = frozenset({"go", "java", "kotlin", "scala", "csharp", "c"})
# In these languages, "::" or "\\" follows the name of a module, and "." follows only values.
_WITH_PATHS: Final = frozenset({"rust", "cpp", "php"})


class ModuleDefinitions:
    """Finds which of the definitions of one name a file refers to, except members of classes."""

    def __init__(self, definitions: Sequence[FoundDefinition], files: CodeFiles) -> None:
        self._top = [one for one in definitions if not _is_member(one)]
        self._files = files
        # Results that are the same for all uses in a file.
        self._plain: dict[str, FoundDefinition | None] = {}  # by path
        self._modules: dict[str, Sequence[FoundDefinition]] = {}  # by name
        self._imported: dict[tuple[str, str], bool] = {}

    def find_plain(self, found: FileOccurrences, tree: SourceTree) -> FoundDefinition | None:
        """Return the definition to which the name refers in a file if it has no receiver."""
        path = found.state.path
        if path not in self._plain:
            self._plain[path] = self._find_plain(found, tree)
        return self._plain[path]

    def _find_plain(self, found: FileOccurrences, tree: SourceTree) -> FoundDefinition | None:
        path = found.state.path
        local = [one for one in self._top if one.symbol.path == path]
        if local:
            return local[0]
        statement = _find_import(found, tree)
        if statement:
            return self._find_imported(path, tree.language, statement)
        folder = parent_folder(path)
        neighbors = [one for one in self._top if parent_folder(one.symbol.path) == folder]
        if len(neighbors) == 1 and tree.language in _PACKAGES:
            return neighbors[0]
        bodies = [one for one in self._top if one.symbol.kind != "declaration"]
        return bodies[0] if len(bodies) == 1 and tree.language != "python" else None

    def _find_imported(self, path: str, language: str, statement: str) -> FoundDefinition | None:
        """Return the definition that an import in a file names."""
        named = imported_path(path, statement)
        exact = [one for one in self._top if named and is_module(one.symbol.path, named)]
        if len(exact) == 1:
            return exact[0]
        known = self._top
        if language == "rust" and is_in_own_crate(statement):
            known = _in_crate(known, path)
        best = best_path([one.symbol.path for one in known], statement)
        if best is not None:
            return known[best]
        # npm packages re-export names of each other, so an import of any package of the repository
        # may refer to the definition.
        is_only = len(self._top) == 1 and language in JAVASCRIPT
        is_own = is_only and imported_package(statement) in self._files.own_packages
        return self._top[0] if is_own else None

    def find_in_module(
        self, found: FileOccurrences, tree: SourceTree, at: Position, names: Sequence[str]
    ) -> FoundDefinition | None:
        """Return the definition in a module, if the names before a use refer to this module."""
        last = names[-1]
        if last not in self._modules:
            self._modules[last] = self._modules_named(last)
        named = self._modules[last]
        if tree.language == "rust" and is_in_own_crate(names[0]):
            named = _in_crate(named, found.state.path)
        if len(named) != 1:
            return None
        before = found.text_around(at, MAX_RECEIVER)[0].rstrip()
        if before.endswith(("::", "\\")):
            return named[0]
        if tree.language in _WITH_PATHS:
            return None
        parts = {*named[0].symbol.path.split("/"), file_stem(named[0].symbol.path)}
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
            self._imported[key] = places is not None and any(
                binds_import(tree, *at, places.size) for at in places.positions
            )
        return self._imported[key]


def _in_crate(definitions: Sequence[FoundDefinition], path: str) -> Sequence[FoundDefinition]:
    """Return the definitions in the crate of Rust to which a file belongs."""
    folder = crate_folder(path)
    return [one for one in definitions if crate_folder(one.symbol.path) == folder]


def _is_member(definition: FoundDefinition) -> bool:
    scope = definition.symbol.scope
    is_outer = scope.startswith(("namespace ", "module ", "mod ", "package ")) and ">" not in scope
    return bool(definition.owners) and not is_outer


def _find_import(found: FileOccurrences, tree: SourceTree) -> str:
    """Return the first import in a file that contains the name; "" if there is none."""
    statements = (import_statement(tree, *at, found.size) for at in found.positions)
    return next(filter(None, statements), "")
