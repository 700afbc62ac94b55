"""Find the Go types that have all methods of an interface.

A Go type does not name the interfaces that it implements. Methods are compared by their names and
by the types of their parameters and results.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import FoundDefinition, is_test_place
from rootle.search.symbols.go.type_identity import (
    GoDefiners,
    GoMethod,
    GoTypeIdentity,
    has_folder,
    parent_folder,
)
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.scan_limits import ScanLimits
from rootle.syntax.go_signatures import NAMED, GoTypeUse, Signature
from rootle.syntax.go_types import EmbeddedType, GoFile, GoType, package_name, read_go_file
from rootle.text.terms import whole_identifier
from rootle.types import SymbolUse

_MAX_INTERFACES: Final = 10  # interfaces with the requested name
_MAX_METHODS: Final = 6  # how many of the rarest methods a folder must define to be searched
_MAX_DEPTH: Final = 5  # levels of embedded types
_MAX_ROUNDS: Final = 3  # how often to search for types that embed the types found so far
_MAX_COMPARISONS: Final = 1_000_000  # of methods with those of an interface
# The methods of the predeclared type `error`.
_ERROR: Final = {"Error": GoMethod("", Signature(results=(GoTypeUse(NAMED, "string"),)))}
# A line that declares a method.
_METHOD: Final = re.compile(r"^func[ \t]{0,9}\([^()\n]{0,300}\)[ \t]{0,9}(\w+)", re.MULTILINE)
# A line that embeds a type of another package, perhaps with a tag.
_EMBEDDED: Final = re.compile(
    r"^[ \t]{1,9}\*?\w+\.(\w+)[ \t]{0,99}(?:`[^`\n]*`[ \t]{0,99})?(?://.*)?$", re.MULTILINE
)
_MAX_EMBEDDING: Final = 1_000  # files with the name of an embedded type
# A line that may declare or embed a type.
_TYPE: Final = re.compile(r"^(?:type[ \t]{1,9}|[ \t]{1,9}\*?)(\w+)", re.MULTILINE)

_Methods = Mapping[str, GoMethod]
_Package = tuple[str, str]  # the folder and the name of a package


@dataclass(frozen=True, slots=True)
class GoImplementation:
    """A type with all methods of an interface."""

    state: FileState
    name: str
    row: int
    line: str


@dataclass(frozen=True)
class _ReadFile:
    state: FileState
    text: str
    content: GoFile

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.split("\n")

    @property
    def package(self) -> _Package:
        return parent_folder(self.state.path), self.content.package

    def locate(self, methods: Mapping[str, Signature]) -> _Methods:
        """Map the names of the methods to GoMethod objects with the folder of this file."""
        folder = parent_folder(self.state.path)
        return {name: GoMethod(folder, one) for name, one in methods.items()}


class GoInterfaces:
    """Finds implementations, within the limits of a scan."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles, limits: ScanLimits) -> None:
        self._index = index
        self._parsed = parsed
        self._left = limits.parsed_chars
        self._left_to_read = limits.read_chars
        self._files: dict[int, _ReadFile | None] = {}
        self._definers = GoDefiners(index)
        self._identity = GoTypeIdentity(index, self._definers)
        self._is_complete = True
        self._comparisons = _MAX_COMPARISONS

    @property
    def is_complete(self) -> bool:
        """Whether no implementation can be missing because of a limit."""
        return self._is_complete and self._definers.is_complete

    def implementations(self, definitions: Sequence[FoundDefinition]) -> list[GoImplementation]:
        """Return the types that implement the interfaces among these definitions."""
        found: dict[tuple[str, int], GoImplementation] = {}
        interfaces = [
            (file, kind, one.symbol.name)
            for one in definitions
            if one.symbol.language == "go" and not one.owners
            for file, kind in self._types_at(one.symbol.path, one.symbol.name)
            if kind.is_interface
        ]
        if len(interfaces) > _MAX_INTERFACES:
            self._is_complete = False
        for file, kind, name in interfaces[:_MAX_INTERFACES]:
            methods = self._interface_methods(file, kind)
            if methods:
                target = file.package, name
                new = list(self._types(methods, target))
                new += self._embedding(new, methods)
                found |= {(one.state.path, one.row): one for one in new}
        return list(found.values())

    def is_embedded_foreign(
        self, use: SymbolUse, name: str, definitions: Sequence[FoundDefinition]
    ) -> bool:
        """Return whether a use embeds a type with the same name from another package."""
        match = re.search(rf"\b(\w+)\.{re.escape(name)}\b", use.text)
        file = self._read_path(use.path) if match is not None and use.path.endswith(".go") else None
        imported = file.content.imports.get(match[1]) if file is not None and match else None
        if imported is None:
            return False
        defining = (self._read_path(one.symbol.path) for one in definitions)
        return not any(one is None or _is_imported(one, imported) for one in defining)

    def _types_at(self, path: str, name: str) -> Iterator[tuple[_ReadFile, GoType]]:
        file = self._read_path(path)
        if file is not None and name in file.content.types:
            yield file, file.content.types[name]

    def _interface_methods(self, file: _ReadFile, kind: GoType) -> _Methods | None:
        """Return the methods of an interface; None if it is a constraint for type parameters.

        The methods of embedded interfaces are included if the interfaces are in this repository.
        """
        methods: dict[str, GoMethod] = {}
        level = [(file, kind)]
        known = {(file.state.id, kind.row)}
        for _ in range(_MAX_DEPTH):
            inner = []
            for outer, one in level:
                if one.is_constraint:
                    return None
                methods |= outer.locate(one.methods)
                methods |= _ERROR if EmbeddedType("error") in one.embedded else {}
                inner += [found for name in one.embedded for found in self._resolve(outer, name)]
            places = [(outer.state.id, one.row) for outer, one in inner]
            level = [found for found, at in zip(inner, places, strict=True) if at not in known]
            known.update(places)
        return methods

    def _resolve(self, file: _ReadFile, name: EmbeddedType) -> Iterator[tuple[_ReadFile, GoType]]:
        """Yield the type that a name in a file refers to, if it is in this repository."""
        imported = file.content.imports.get(name.qualifier)
        if name.qualifier and imported is None:
            return
        folder = parent_folder(file.state.path)
        for state in self._definers.find(name.name):
            path = parent_folder(state.path)
            if path != folder if imported is None else not has_folder(imported, path):
                continue
            other = self._read(state)
            kind = other.content.types.get(name.name) if other is not None else None
            is_same = imported is None or (other is not None and _is_imported(other, imported))
            if other is not None and kind is not None and is_same:
                yield other, kind
                return

    def _types(self, methods: _Methods, target: tuple[_Package, str]) -> Iterator[GoImplementation]:
        """Yield the types with these methods, except those that embed the interface itself."""
        packages: defaultdict[_Package, list[_ReadFile]] = defaultdict(list)
        for file in self._read_packages(methods, target[0]):
            packages[file.package].append(file)
        for package, files in packages.items():
            types = {name: (one, kind) for one in files for name, kind in one.content.types.items()}
            owned: defaultdict[str, dict[str, GoMethod]] = defaultdict(dict)
            for one in files:
                for owner, own in one.content.methods.items():
                    owned[owner].update(one.locate(own))
            declared = {name: one.locate(kind.methods) for name, (one, kind) in types.items()}
            known: dict[tuple[int, ...], bool] = {}  # for types with the same lists of methods
            for name, (file, kind) in types.items():
                if kind.is_interface or _embeds(kind, package, target):
                    continue
                sources = [
                    some
                    for one in _walk_embedded(name, types)
                    for some in (owned.get(one), declared.get(one))
                    if some
                ]
                key = tuple(map(id, sources))
                if key not in known:
                    known[key] = self._has_methods(sources, methods)
                if known[key]:
                    yield GoImplementation(file.state, name, kind.row, file.lines[kind.row])

    def _embedding(
        self, found: Sequence[GoImplementation], methods: _Methods
    ) -> Iterator[GoImplementation]:
        """Yield the types that embed an exported type of another package that has these methods."""
        known = {(one.state.id, one.name) for one in found}
        level = list(found)
        for _ in range(_MAX_ROUNDS):
            inner: defaultdict[str, list[_ReadFile]] = defaultdict(list)
            for one in level:
                if one.name[0].isupper() and (file := self._read(one.state)) is not None:
                    inner[one.name].append(file)
            level = []
            for file in self._read_embedding(inner):
                for name, kind in file.content.types.items():
                    if (file.state.id, name) in known or kind.is_interface:
                        continue
                    own = file.locate(file.content.methods.get(name, {}))
                    if self._embeds_any(kind, file, inner) and self._can_have(own, methods):
                        known.add((file.state.id, name))
                        line = file.lines[kind.row]
                        level.append(GoImplementation(file.state, name, kind.row, line))
            yield from level

    def _read_embedding(self, inner: Mapping[str, object]) -> list[_ReadFile]:
        """Return the files that embed a type with one of these names from another package."""
        sparse = self._index.sparse
        ids: dict[int, None] = {}
        for name in inner:
            stems = sparse.stems(whole_identifier(name))
            having = sparse.files_with(stems, [], _MAX_EMBEDDING, None)
            self._is_complete = self._is_complete and len(having) < _MAX_EMBEDDING
            ids |= dict.fromkeys(having)
        states = [state for state in self._go_files if state.id in ids]
        return list(self._read_with(states, _EMBEDDED, set(inner)))

    def _embeds_any(
        self, kind: GoType, file: _ReadFile, inner: Mapping[str, Sequence[_ReadFile]]
    ) -> bool:
        """Return whether a type embeds a type of another package. `inner` maps its name to files.

        The import path ends with the folder of the package. The longest such folder counts.
        """
        for one in kind.embedded:
            imported = file.content.imports.get(one.qualifier) if one.qualifier else None
            if imported is None or one.name not in inner:
                continue
            folders = {parent_folder(state.path) for state in self._definers.find(one.name)}
            longest = max((at for at in folders if has_folder(imported, at)), key=len, default="")
            for other in inner[one.name]:
                if parent_folder(other.state.path) == longest and _is_imported(other, imported):
                    return True
        return False

    def _can_have(self, own: _Methods, methods: _Methods) -> bool:
        """Return whether no method of a type hides an embedded method with another signature."""
        return all(
            self._identity.can_be_same(one, methods[name])
            for name, one in own.items()
            if name in methods
        )

    def _has_methods(self, sources: Sequence[_Methods], methods: _Methods) -> bool:
        """Return whether `sources` contain `methods`. For each name, the first source counts."""
        for name, one in methods.items():
            self._comparisons -= 1 + len(sources)
            if self._comparisons < 0:
                self._is_complete = False
                return False
            having = next((some[name] for some in sources if name in some), None)
            if having is None or not self._identity.can_be_same(having, one):
                return False
        return True

    def _read_packages(self, methods: _Methods, first: _Package) -> list[_ReadFile]:
        """Return the files with types that may have these methods; files in `first` come first.

        Only folders that define the rarest methods are searched, because all methods of a type are
        in its folder, unless it embeds a type of another package.
        """
        names = sorted(methods, key=lambda name: len(self._definers.find(name)))[:_MAX_METHODS]
        folders = set.intersection(
            *({parent_folder(state.path) for state in self._definers.find(name)} for name in names)
        )
        states = [state for state in self._go_files if parent_folder(state.path) in folders]
        states.sort(key=lambda state: parent_folder(state.path) != first[0])
        pattern, wanted = _METHOD, set(methods)
        files: list[_ReadFile] = []
        for _ in range(1 + _MAX_ROUNDS):
            new = list(self._read_with(states, pattern, wanted))
            if not new:
                break
            files += new
            # Next, read the declarations of types with these methods, and of types that embed them.
            types = {
                owner
                for file in files
                for owner, own in file.content.methods.items()
                if not methods.keys().isdisjoint(own)
            }
            embedding = {
                name
                for file in files
                for name, kind in file.content.types.items()
                if any(one.name in types for one in kind.embedded)
            }
            read = {file.state.id for file in files}
            states = [state for state in states if state.id not in read]
            if not types or not states:
                break
            pattern, wanted = _TYPE, types | embedding
        return files

    def _read_with(
        self, states: Iterable[FileState], pattern: re.Pattern[str], wanted: set[str]
    ) -> Iterator[_ReadFile]:
        """Yield the files in which the pattern matches one of the wanted names."""
        for state in states:
            if self._left <= 0 or self._left_to_read <= 0:
                self._is_complete = False
                return
            text = self._index.text(state.id)
            self._left_to_read -= len(text)
            if not wanted.isdisjoint(pattern.findall(text)):
                file = self._read(state)
                if file is not None:
                    yield file

    @cached_property
    def _go_files(self) -> list[FileState]:
        """The Go files; test files come last."""
        states = [one for one in self._index.files_with_endings([".go"]) if one.skip is None]
        return sorted(states, key=lambda state: (is_test_place(state.path, ""), state.path))

    def _read_path(self, path: str) -> _ReadFile | None:
        state = self._index.file_at(path)
        return self._read(state) if state is not None else None

    def _read(self, state: FileState) -> _ReadFile | None:
        if state.id in self._files:
            return self._files[state.id]
        if self._left <= 0:
            self._is_complete = False
            return None
        text = self._index.text(state.id)
        self._left -= len(text)
        tree = self._parsed.parse_tree(state, text)
        file = _ReadFile(state, text, read_go_file(tree)) if tree is not None else None
        self._files[state.id] = file
        return file


def _walk_embedded(name: str, types: Mapping[str, tuple[_ReadFile, GoType]]) -> Iterator[str]:
    """Yield a type and the types that it embeds from its own package, the outermost first."""
    level, known = [name], {name}
    for _ in range(_MAX_DEPTH):
        yield from level
        inner = [
            embedded.name
            for one in level
            if one in types
            for embedded in types[one][1].embedded
            if not embedded.qualifier
        ]
        level = [one for one in dict.fromkeys(inner) if one not in known]
        known.update(level)


def _embeds(kind: GoType, package: _Package, target: tuple[_Package, str]) -> bool:
    """Return whether a type embeds the target, which is given by its package and its name."""
    inside = (
        EmbeddedType(target[1]) if package == target[0] else EmbeddedType(target[1], target[0][1])
    )
    return inside in kind.embedded


def _is_imported(file: _ReadFile, imported: str) -> bool:
    """Return whether a file can belong to the package that an import path names."""
    folder = parent_folder(file.state.path)
    is_named = bool(folder) or package_name(imported) == file.content.package
    return is_named and has_folder(imported, folder)
