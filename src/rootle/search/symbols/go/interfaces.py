"""Find the Go types that have all methods of an interface.

A Go type does not name the interfaces that it implements. Methods are compared by their names and
by the types of their parameters and results.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.go.package_files import (
    MAX_DEPTH,
    GoFiles,
    Methods,
    Package,
    ReadGoFile,
    is_imported,
)
from rootle.search.symbols.go.type_identity import (
    GoMethod,
    GoTypeIdentity,
    has_folder,
    parent_folder,
)
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.scan_limits import ScanLimits
from rootle.syntax.go_types import EmbeddedType, GoType
from rootle.text.terms import whole_identifier
from rootle.types import SymbolUse

_MAX_INTERFACES: Final = 10  # interfaces with the requested name
_MAX_METHODS: Final = 6  # how many of the rarest methods a folder must define to be searched
_MAX_ROUNDS: Final = 3  # how often to search for types that embed the types found so far
_MAX_COMPARISONS: Final = 1_000_000  # of methods with those of an interface
# A line that declares a method.
_METHOD: Final = re.compile(r"^func[ \t]{0,9}\([^()\n]{0,300}\)[ \t]{0,9}(\w+)", re.MULTILINE)
# A line that embeds a type of another package, perhaps with a tag.
_EMBEDDED: Final = re.compile(
    r"^[ \t]{1,9}\*?\w+\.(\w+)[ \t]{0,99}(?:`[^`\n]*`[ \t]{0,99})?(?://.*)?$", re.MULTILINE
)
_MAX_EMBEDDING: Final = 1_000  # files with the name of an embedded type
# A line that may declare or embed a type.
_TYPE: Final = re.compile(r"^(?:type[ \t]{1,9}|[ \t]{1,9}\*?)(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GoImplementation:
    """A type with all methods of an interface."""

    state: FileState
    name: str
    row: int
    line: str
    is_certain: bool  # whether the types in the methods certainly agree with the interface
    interface: str = ""  # the place of the interface, as in `SymbolUse.target`


class GoInterfaces:
    """Finds implementations, within the limits of a scan."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles, limits: ScanLimits) -> None:
        self._index = index
        self._files = GoFiles(index, parsed, limits)
        self._definers = self._files.definers
        self._identity = GoTypeIdentity(index, self._definers)
        self._is_complete = True
        self._comparisons = _MAX_COMPARISONS

    @property
    def is_complete(self) -> bool:
        """Whether no implementation can be missing because of a limit."""
        return self._is_complete and self._files.is_complete and self._definers.is_complete

    def implementations(
        self, definitions: Sequence[FoundDefinition], uses: Sequence[SymbolUse]
    ) -> list[GoImplementation]:
        """Return the types that implement the interfaces among these definitions.

        `uses` are embedded types with the name. A type that embeds a struct with the name of the
        interface is an implementation only if it has the methods.
        """
        found: dict[tuple[str, int], GoImplementation] = {}
        others = self.list_other_types(definitions)
        embedding = [file for use in uses if use.target in others for file in self._type_at(use)]
        for one, file, methods in self._interfaces(definitions):
            new = list(self._types(methods, (file.package, one.symbol.name)))
            new += self._embedding(new, methods)
            known = {(each.state.id, each.name) for each in new}
            for outer, name, kind in embedding:
                if (outer.state.id, name) not in known:
                    sources = self._files.method_sources(outer, name)
                    has_methods, is_certain = self._compare(sources, methods)
                    line = outer.lines[kind.row]
                    if has_methods:
                        new.append(GoImplementation(outer.state, name, kind.row, line, is_certain))
            for each in new:
                place = each.state.path, each.row
                found.setdefault(
                    place, replace(each, interface=one.place if each.is_certain else "")
                )
        return list(found.values())

    def list_other_types(self, definitions: Sequence[FoundDefinition]) -> Collection[str]:
        """Return the places of the definitions that are no interfaces.

        Return none if no interface is among the definitions.
        """
        places = {one.place for one, *_ in self._interfaces(definitions)}
        go = {one.place for one in definitions if one.symbol.language == "go"}
        return go - places if places else set()

    def _interfaces(
        self, definitions: Sequence[FoundDefinition]
    ) -> list[tuple[FoundDefinition, ReadGoFile, Methods]]:
        """Return the interfaces that have methods, up to a maximum."""
        found = [
            (one, file, methods)
            for one in definitions
            if one.symbol.language == "go" and not one.owners
            for file, kind in self._files.types_at(one.symbol.path, one.symbol.name)
            if kind.is_interface and (methods := self._files.interface_methods(file, kind))
        ]
        if len(found) > _MAX_INTERFACES:
            self._is_complete = False
        return found[:_MAX_INTERFACES]

    def _type_at(self, use: SymbolUse) -> Iterator[tuple[ReadGoFile, str, GoType]]:
        """Yield the type whose declaration contains a use, unless it is an interface."""
        file = self._files.read_path(use.path)
        types = file.content.types.items() if file is not None else ()
        above = [(kind.row, name) for name, kind in types if kind.row < use.line]
        if file is not None and above:
            name = max(above)[1]
            kind = file.content.types[name]
            if not kind.is_interface:
                yield file, name, kind

    def is_embedded_foreign(
        self, use: SymbolUse, name: str, definitions: Sequence[FoundDefinition]
    ) -> bool:
        """Return whether a use embeds a type with the same name from another package."""
        match = re.search(rf"\b(\w+)\.{re.escape(name)}\b", use.text)
        file = (
            self._files.read_path(use.path)
            if match is not None and use.path.endswith(".go")
            else None
        )
        imported = file.content.imports.get(match[1]) if file is not None and match else None
        if imported is None:
            return False
        defining = (self._files.read_path(one.symbol.path) for one in definitions)
        return not any(one is None or is_imported(one, imported) for one in defining)

    def _types(self, methods: Methods, target: tuple[Package, str]) -> Iterator[GoImplementation]:
        """Yield the types with these methods, except those that embed the interface itself."""
        packages: defaultdict[Package, list[ReadGoFile]] = defaultdict(list)
        for file in self._read_packages(methods, target[0]):
            packages[file.package].append(file)
        for package, files in packages.items():
            types = {name: (one, kind) for one in files for name, kind in one.content.types.items()}
            owned: defaultdict[str, dict[str, GoMethod]] = defaultdict(dict)
            for one in files:
                for owner, own in one.content.methods.items():
                    owned[owner].update(one.locate(own))
            declared = {name: one.locate(kind.methods) for name, (one, kind) in types.items()}
            # Maps a list of method sources to the result of `_compare`, so that it is computed only
            # once.
            known: dict[tuple[int, ...], tuple[bool, bool]] = {}
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
                    known[key] = self._compare(sources, methods)
                has_methods, is_certain = known[key]
                if has_methods:
                    line = file.lines[kind.row]
                    yield GoImplementation(file.state, name, kind.row, line, is_certain)

    def _embedding(
        self, found: Sequence[GoImplementation], methods: Methods
    ) -> Iterator[GoImplementation]:
        """Yield the types that embed an exported type with these methods from another package."""
        known = {(one.state.id, one.name) for one in found}
        level = list(found)
        for _ in range(_MAX_ROUNDS):
            inner: defaultdict[str, list[ReadGoFile]] = defaultdict(list)
            for one in level:
                if one.name[0].isupper() and (file := self._files.read(one.state)) is not None:
                    inner[one.name].append(file)
            is_certain = all(one.is_certain for one in level)
            level = []
            for file in self._read_embedding(inner):
                for name, kind in file.content.types.items():
                    if (file.state.id, name) in known or kind.is_interface:
                        continue
                    own = file.locate(file.content.methods.get(name, {}))
                    if self._embeds_any(kind, file, inner) and self._can_have(own, methods):
                        known.add((file.state.id, name))
                        line = file.lines[kind.row]
                        found_type = GoImplementation(file.state, name, kind.row, line, is_certain)
                        level.append(found_type)
            yield from level

    def _read_embedding(self, inner: Mapping[str, object]) -> list[ReadGoFile]:
        """Return the files that embed a type with one of these names from another package."""
        sparse = self._index.sparse
        ids: dict[int, None] = {}
        for name in inner:
            stems = sparse.stems(whole_identifier(name))
            having = sparse.files_with(stems, [], _MAX_EMBEDDING, None)
            self._is_complete = self._is_complete and len(having) < _MAX_EMBEDDING
            ids |= dict.fromkeys(having)
        states = [state for state in self._files.states if state.id in ids]
        return list(self._files.read_with(states, _EMBEDDED, set(inner)))

    def _embeds_any(
        self, kind: GoType, file: ReadGoFile, inner: Mapping[str, Sequence[ReadGoFile]]
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
                if parent_folder(other.state.path) == longest and is_imported(other, imported):
                    return True
        return False

    def _can_have(self, own: Methods, methods: Methods) -> bool:
        """Return whether no method of a type hides an embedded method with another signature."""
        return all(
            self._identity.can_be_same(one, methods[name])
            for name, one in own.items()
            if name in methods
        )

    def _compare(self, sources: Sequence[Methods], methods: Methods) -> tuple[bool, bool]:
        """Return whether `sources` contain `methods`, and whether all types certainly agree."""
        guesses = self._identity.guesses
        return self._has_methods(sources, methods), self._identity.guesses == guesses

    def _has_methods(self, sources: Sequence[Methods], methods: Methods) -> bool:
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

    def _read_packages(self, methods: Methods, first: Package) -> list[ReadGoFile]:
        """Return the files with types that may have these methods; files in `first` come first.

        Only folders that define the rarest methods are searched, because all methods of a type are
        in its folder, unless it embeds a type of another package.
        """
        names = sorted(methods, key=lambda name: len(self._definers.find(name)))[:_MAX_METHODS]
        folders = set.intersection(
            *({parent_folder(state.path) for state in self._definers.find(name)} for name in names)
        )
        states = [state for state in self._files.states if parent_folder(state.path) in folders]
        states.sort(key=lambda state: parent_folder(state.path) != first[0])
        pattern, wanted = _METHOD, set(methods)
        files: list[ReadGoFile] = []
        for _ in range(1 + _MAX_ROUNDS):
            new = list(self._files.read_with(states, pattern, wanted))
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


def _walk_embedded(name: str, types: Mapping[str, tuple[ReadGoFile, GoType]]) -> Iterator[str]:
    """Yield a type and the types that it embeds from its own package, the outermost first."""
    level, known = [name], {name}
    for _ in range(MAX_DEPTH):
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


def _embeds(kind: GoType, package: Package, target: tuple[Package, str]) -> bool:
    """Return whether a type embeds the target, which is given by its package and its name."""
    inside = (
        EmbeddedType(target[1]) if package == target[0] else EmbeddedType(target[1], target[0][1])
    )
    return inside in kind.embedded
