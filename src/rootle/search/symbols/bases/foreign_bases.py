"""Decide which definitions implementations of a name can refer to.

A class can extend a name from another library, such as `fmt::Display`, although the project also
defines this name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.symbols.definitions import SCOPE_SEPARATOR, FoundDefinition
from rootle.search.symbols.parsed_files import FileOccurrences, ParsedFiles, find_occurrences
from rootle.search.symbols.uses.owner_filter import path_names
from rootle.syntax.references import binds_import, classify, import_statement
from rootle.syntax.source_tree import SourceTree
from rootle.text.terms import WORD
from rootle.types import Symbol, SymbolUse

_JAVASCRIPT: Final = frozenset({"javascript", "tsx", "typescript"})
_LANGUAGES: Final = _JAVASCRIPT | {"python", "rust"}
# The path of the module in an import, in group 1.
_MODULES: Final = {
    "python": re.compile(r"\s*(?:from|import)\s+([\w.]+)"),
    "rust": re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?use\s+(?:::)?([^;]*)", re.DOTALL),
    **dict.fromkeys(_JAVASCRIPT, re.compile(r".*[\"'`]([^\"'`]+)[\"'`]", re.DOTALL)),
}
# Paths that begin with these words or characters are in the project.
_LOCAL: Final = frozenset({"crate", "self", "super", "Self", "this", "cls"})
_STANDARD: Final = frozenset({"alloc", "core", "std"})  # crates of Rust
_NO_BASES: Final = frozenset("attribute column error field key macro property".split())
_VARIABLES: Final = frozenset({"constant", "variable"})
# In these languages, a class can extend the value of a variable.
_WITH_CLASS_VALUES: Final = _JAVASCRIPT | {"lua", "python", "ruby"}


def can_be_base(symbol: Symbol) -> bool:
    """Return whether other definitions can extend, implement or override a definition."""
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
        self._defined = {_fold(part) for one in definitions for part in _names_of(one)}

    def is_foreign(self, use: SymbolUse) -> bool:
        """Return whether an implementation names a definition outside of the project.

        If the code does not show where the definition is, return False.
        """
        state = self._index.file_at(use.path)
        if use.target or state is None or state.language not in _LANGUAGES:
            return False
        text = self._index.text(state.id)
        found, tree = find_occurrences(state, text, self._name), self._parsed.tree_of(state, text)
        if found is None or tree is None:
            return False
        places = [at for at in found.positions if at[0] + 1 == use.line]
        roles = [classify(tree, *at, found.size) for at in places]
        receivers = [role.receiver for role in roles if role.kind == "implementation"]
        modules = [self._module_of(found, tree, receiver) for receiver in receivers]
        return bool(modules) and all(map(self._is_outside, modules))

    def _module_of(self, found: FileOccurrences, tree: SourceTree, receiver: str) -> str:
        """Return the path of the module that a name comes from; "" if it is not known."""
        first, *_ = WORD.findall(receiver) or [self._name]
        named = find_occurrences(found.state, found.text, first)
        if named is None:
            return receiver
        bound = (at for at in named.positions if binds_import(tree, *at, named.size))
        if (at := next(bound, None)) is None:
            return receiver
        match = _MODULES[tree.language].match(import_statement(tree, *at, named.size))
        return match[1].strip() if match is not None else ""

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
        states = self._index.all_files()
        return frozenset(_fold(part) for one in states for part in path_names(one.path))


def _names_of(definition: FoundDefinition) -> Sequence[str]:
    """Return the names of the modules and classes that contain a definition."""
    parts = [*path_names(definition.symbol.path), *definition.owners]
    return [part for part in parts if part != definition.symbol.name]


def _fold(name: str) -> str:
    return name.replace("-", "_").lower()
