"""Read the Go files of a repository, and find the methods of their types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import is_test_place
from rootle.search.symbols.go.type_identity import (
    GoDefiners,
    GoMethod,
    has_folder,
    parent_folder,
)
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.scan_limits import ScanLimits
from rootle.syntax.go_signatures import NAMED, GoTypeUse, Signature
from rootle.syntax.go_types import EmbeddedType, GoFile, GoType, package_name, read_go_file

MAX_DEPTH: Final = 5  # levels of embedded types
# The methods of the predeclared type `error`.
_ERROR: Final = {"Error": GoMethod("", Signature(results=(GoTypeUse(NAMED, "string"),)))}

Methods = Mapping[str, GoMethod]
Package = tuple[str, str]  # the folder and the name of a package


@dataclass(frozen=True)
class ReadGoFile:
    state: FileState
    text: str
    content: GoFile

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.split("\n")

    @property
    def package(self) -> Package:
        return parent_folder(self.state.path), self.content.package

    def locate(self, methods: Mapping[str, Signature]) -> Methods:
        """Map the names of the methods to GoMethod objects with the folder of this file."""
        folder = parent_folder(self.state.path)
        return {name: GoMethod(folder, one) for name, one in methods.items()}


class GoFiles:
    """Reads and parses Go files, each once, within the limits of a scan."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles, limits: ScanLimits) -> None:
        self._index = index
        self._parsed = parsed
        self._left = limits.parsed_chars
        self._left_to_read = limits.read_chars
        self._files: dict[int, ReadGoFile | None] = {}
        self.definers = GoDefiners(index)
        self.is_complete = True  # whether no file was left out because of a limit

    def types_at(self, path: str, name: str) -> Iterator[tuple[ReadGoFile, GoType]]:
        file = self.read_path(path)
        if file is not None and name in file.content.types:
            yield file, file.content.types[name]

    def interface_methods(self, file: ReadGoFile, kind: GoType) -> Methods | None:
        """Return the methods of an interface; None if it is a constraint for type parameters.

        The methods of embedded interfaces are included if the interfaces are in this repository.
        """
        methods: dict[str, GoMethod] = {}
        level = [(file, kind)]
        known = {(file.state.id, kind.row)}
        for _ in range(MAX_DEPTH):
            inner = []
            for outer, one in level:
                if one.is_constraint:
                    return None
                methods |= outer.locate(one.methods)
                methods |= _ERROR if EmbeddedType("error") in one.embedded else {}
                inner += [found for name in one.embedded for found in self.resolve(outer, name)]
            places = [(outer.state.id, one.row) for outer, one in inner]
            level = [found for found, at in zip(inner, places, strict=True) if at not in known]
            known.update(places)
        return methods

    def resolve(self, file: ReadGoFile, name: EmbeddedType) -> Iterator[tuple[ReadGoFile, GoType]]:
        """Yield the type that a name in a file refers to, if it is in this repository."""
        imported = file.content.imports.get(name.qualifier)
        if name.qualifier and imported is None:
            return
        folder = parent_folder(file.state.path)
        for state in self.definers.find(name.name):
            path = parent_folder(state.path)
            if path != folder if imported is None else not has_folder(imported, path):
                continue
            other = self.read(state)
            kind = other.content.types.get(name.name) if other is not None else None
            is_same = imported is None or (other is not None and is_imported(other, imported))
            if other is not None and kind is not None and is_same:
                yield other, kind
                return

    def method_sources(self, file: ReadGoFile, name: str) -> list[Methods]:
        """Return the methods of a type and of the types that it embeds, the outermost first.

        Methods of embedded types in other packages of this repository are included.
        """
        sources: list[Methods] = []
        level, known = [(file, name)], set[tuple[Package, str]]()
        for _ in range(MAX_DEPTH):
            inner: list[tuple[ReadGoFile, str]] = []
            for outer, one in level:
                if (outer.package, one) in known:
                    continue
                known.add((outer.package, one))
                package = [
                    other for other in self._read_folder(outer) if outer.package == other.package
                ]
                sources += [other.locate(other.content.methods.get(one, {})) for other in package]
                kinds = [
                    (other, other.content.types[one])
                    for other in package
                    if one in other.content.types
                ]
                sources += [other.locate(kind.methods) for other, kind in kinds]
                inner += [
                    (found, embedded.name)
                    for other, kind in kinds
                    for embedded in kind.embedded
                    for found, _ in self.resolve(other, embedded)
                ]
            level = inner
        return sources

    def _read_folder(self, file: ReadGoFile) -> Iterator[ReadGoFile]:
        """Yield the Go files in the folder of a file."""
        folder = parent_folder(file.state.path)
        for state in self.states:
            if parent_folder(state.path) == folder and (one := self.read(state)) is not None:
                yield one

    def read_with(
        self, states: Iterable[FileState], pattern: re.Pattern[str], wanted: set[str]
    ) -> Iterator[ReadGoFile]:
        """Yield the files in which the pattern matches one of the wanted names."""
        for state in states:
            if self._left <= 0 or self._left_to_read <= 0:
                self.is_complete = False
                return
            text = self._index.text(state.id)
            self._left_to_read -= len(text)
            if not wanted.isdisjoint(pattern.findall(text)):
                file = self.read(state)
                if file is not None:
                    yield file

    @cached_property
    def states(self) -> list[FileState]:
        """The Go files; test files come last."""
        states = [one for one in self._index.files_with_endings([".go"]) if one.skip is None]
        return sorted(states, key=lambda state: (is_test_place(state.path, ""), state.path))

    def read_path(self, path: str) -> ReadGoFile | None:
        state = self._index.file_at(path)
        return self.read(state) if state is not None else None

    def read(self, state: FileState) -> ReadGoFile | None:
        if state.id in self._files:
            return self._files[state.id]
        if self._left <= 0:
            self.is_complete = False
            return None
        text = self._index.text(state.id)
        self._left -= len(text)
        tree = self._parsed.parse_tree(state, text)
        file = ReadGoFile(state, text, read_go_file(tree)) if tree is not None else None
        self._files[state.id] = file
        return file


def is_imported(file: ReadGoFile, imported: str) -> bool:
    """Return whether a file can belong to the package that an import path names."""
    folder = parent_folder(file.state.path)
    is_named = bool(folder) or package_name(imported) == file.content.package
    return is_named and has_folder(imported, folder)
