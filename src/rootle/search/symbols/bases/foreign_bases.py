"""Find out whether a class extends a definition of the project or one from another library.

A class can extend a name from another library, such as `fmt::Display`, although the project also
defines this name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.parsed_files import FileOccurrences, ParsedFiles, find_occurrences
from rootle.search.symbols.types.code_files import list_path_names
from rootle.search.symbols.uses.owner_filter import path_names
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.syntax.references import binds_import, classify, import_statement
from rootle.syntax.source_tree import SourceTree
from rootle.text.languages import JAVASCRIPT
from rootle.text.terms import WORD
from rootle.types import Symbol, SymbolUse

_LANGUAGES: Final = JAVASCRIPT | {"python", "rust"}
# The path of the module in an import, in group 1.
_MODULES: Final = {
    "python": re.compile(r"\s*(?:from|import)\s+([\w.]+)"),
    "rust": re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?use\s+(?:::)?([^;]*)", re.DOTALL),
    **dict.fromkeys(JAVASCRIPT, re.compile(r".*[\"'`]([^\"'`]+)[\"'`]", re.DOTALL)),
}
# Module paths that begin with these words are in the project.
_LOCAL: Final = frozenset({"crate", "self", "super", "Self", "this", "cls"})
_STANDARD: Final = frozenset({"alloc", "core", "std"})  # crates of Rust
_NO_BASES: Final = frozenset("attribute column error field key macro property".split())
_VARIABLES: Final = frozenset({"constant", "variable"})
_FUNCTIONS: Final = frozenset(
    "constructor declaration def fn fun func function macro method".split()
)
_INTERFACES: Final = frozenset({"interface", "protocol", "trait"})
_GO_INTERFACE: Final = re.compile(r"\binterface\b")
# In these languages, a class can extend the value of a variable.
_WITH_CLASS_VALUES: Final = JAVASCRIPT | {"lua", "python", "ruby"}


def select_bases(
    definitions: Sequence[FoundDefinition], uses: Sequence[SymbolUse]
) -> list[FoundDefinition]:
    """Return the definitions that other definitions extend, implement or override.

    `uses` are the implementations. If it is known what each of them extends, the other definitions
    are left out, except interfaces. If there are types, functions with their name are left out: a
    method of Go such as `func (p *Pool) Reader() Reader` is no interface.
    """
    found = [one for one in definitions if _can_be_base(one.symbol)]
    bases = [one for one in found if one.symbol.kind not in _FUNCTIONS] or found
    targets = {use.target for use in uses}
    has_go_interface = any(
        one.symbol.language == "go" and _is_interface(one.symbol) for one in bases
    )
    kept = [
        one
        for one in bases
        if one.place in targets
        or _is_interface(one.symbol)
        or ("" in targets and not (has_go_interface and one.symbol.language == "go"))
    ]
    return kept or bases


def _is_interface(symbol: Symbol) -> bool:
    if symbol.language == "go":
        return _GO_INTERFACE.search(symbol.signature) is not None
    return symbol.kind in _INTERFACES


def _can_be_base(symbol: Symbol) -> bool:
    if symbol.kind not in _VARIABLES:
        return symbol.kind not in _NO_BASES
    outer = symbol.scope.rpartition(SCOPE_SEPARATOR)[2].partition(" ")[0]
    return symbol.language in _WITH_CLASS_VALUES and outer != "enum"


class ForeignBases:
    """Recognizes implementations of a name that the project does not define."""

    def __init__(
        self,
        index: IndexReader,
        parsed: ParsedFiles,
        name: str,
        definitions: Sequence[FoundDefinition],
    ) -> None:
        self._index = index
        self._parsed = parsed
        self._name = name
        self._defined = {_fold(part) for one in definitions for part in _list_names(one)}
        self._files: dict[str, _ParsedNames | None] = {}  # by path

    def is_foreign(self, use: SymbolUse) -> bool:
        """Return whether an implementation names a definition outside of the project.

        If the code does not show where the definition is, return False.
        """
        if use.target:
            return False
        if use.path not in self._files:
            self._files[use.path] = self._read(use.path)
        file = self._files[use.path]
        if file is None:
            return False
        found, tree = file.found, file.tree
        first = bisect_left(found.positions, (use.line - 1, 0))
        end = bisect_left(found.positions, (use.line, 0))
        roles = [classify(tree, *at, found.size) for at in found.positions[first:end]]
        receivers = [role.receiver for role in roles if role.kind == "implementation"]
        modules = [self._find_module(file, receiver) for receiver in receivers]
        return bool(modules) and all(map(self._is_outside, modules))

    def _read(self, path: str) -> _ParsedNames | None:
        """Return a file with the places of the name; None if the file cannot be analyzed."""
        state = self._index.file_at(path)
        if state is None or state.language not in _LANGUAGES:
            return None
        text = self._index.text(state.id)
        found, tree = (
            find_occurrences(state, text, self._name),
            self._parsed.parse_tree(state, text),
        )
        return _ParsedNames(found, tree, {}) if found is not None and tree is not None else None

    def _find_module(self, file: _ParsedNames, receiver: str) -> str:
        """Return the path of the module that a name comes from; "" if it is not known."""
        first, *_ = WORD.findall(receiver) or [self._name]
        if first not in file.modules:
            file.modules[first] = _imported_module(file, first)
        module = file.modules[first]
        return receiver if module is None else module

    def _is_outside(self, module: str) -> bool:
        words = [_fold(word) for word in WORD.findall(module) if word != self._name]
        if not words or module.startswith((".", "/", "@/", "~", "#")) or words[0] in _LOCAL:
            return False
        if not self._defined.isdisjoint(words):
            return False
        return words[0] in _STANDARD or words[0] not in self._project

    @cached_property
    def _project(self) -> frozenset[str]:
        """The names of all files and folders of the project."""
        return frozenset(map(_fold, list_path_names(self._index)))


@dataclass(frozen=True, slots=True)
class _ParsedNames:
    """A parsed file, the places of a name in it, and the modules of the names it imports.

    The module of a name is None if no import binds the name.
    """

    found: FileOccurrences
    tree: SourceTree
    modules: dict[str, str | None]


def _imported_module(file: _ParsedNames, name: str) -> str | None:
    named = find_occurrences(file.found.state, file.found.text, name)
    if named is None:
        return None
    bound = (at for at in named.positions if binds_import(file.tree, *at, named.size))
    if (at := next(bound, None)) is None:
        return None
    match = _MODULES[file.tree.language].match(import_statement(file.tree, *at, named.size))
    return match[1].strip() if match is not None else ""


def _list_names(definition: FoundDefinition) -> Sequence[str]:
    """Return the names of the modules and classes that contain a definition."""
    parts = [*path_names(definition.symbol.path), *definition.owners]
    return [part for part in parts if part != definition.symbol.name]


def _fold(name: str) -> str:
    return name.replace("-", "_").lower()
