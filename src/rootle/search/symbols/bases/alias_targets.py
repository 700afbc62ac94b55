"""Find the definitions to which exported aliases refer."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import ALIAS_KINDS, FoundDefinition
from rootle.search.symbols.name_scan import NameScan
from rootle.search.symbols.parsed_files import ParsedFiles, read_occurrences
from rootle.search.symbols.scan_limits import OWNER_SCAN
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.syntax.aliases import DEFAULT, Alias, aliased_name, default_export
from rootle.syntax.files.file_symbols import read_file_symbol
from rootle.syntax.source_tree import SourceTree
from rootle.text.languages import file_language
from rootle.text.similarity.common_start import common_length
from rootle.text.terms import file_stem

# The endings that are tried, in this order, to complete the path of a JavaScript module.
_MODULE_ENDS: Final = tuple(
    f"{folder}{extension}"
    for folder in ("", "/index")
    for extension in (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cjs")
)
_MAX_ALIASES: Final = 50  # whose definitions are looked up
# A module whose file has one of these names has the name of its folder.
_PLAIN_STEMS: Final = frozenset({"index", "mod", "lib", "main", "__init__"})


@dataclass(frozen=True, slots=True)
class AliasTarget:
    """An alias, and the definition for which it is another name."""

    alias: FoundDefinition
    definition: FoundDefinition
    file_id: int  # of the definition


class AliasTargets:
    """Finds definitions by their aliases."""

    def __init__(self, index: IndexReader, parsed: ParsedFiles) -> None:
        self._index = index
        self._parsed = parsed
        self._defined: dict[str, Sequence[FoundDefinition]] = {}  # by name
        self.is_complete = True  # whether no alias was left out because of the limit

    def find(self, definitions: Sequence[FoundDefinition]) -> Sequence[AliasTarget]:
        """Return the aliases among `definitions`, each with the definition to which it refers.

        An alias is left out if the code does not show which definition it refers to.
        """
        found = []
        aliases = [one for one in definitions if one.symbol.kind in ALIAS_KINDS]
        self.is_complete = len(aliases) <= _MAX_ALIASES
        for one in aliases[:_MAX_ALIASES]:
            if (alias := self._find_alias(one)) is not None:
                target = self._target(alias, one.symbol.path)
                state = self._index.file_at(target.symbol.path) if target is not None else None
                if target is not None and state is not None:
                    found.append(AliasTarget(one, target, state.id))
        return found

    def _find_alias(self, definition: FoundDefinition) -> Alias | None:
        symbol = definition.symbol
        state = self._index.file_at(symbol.path)
        places = read_occurrences(self._index, state, symbol.name) if state is not None else None
        tree = self._parsed.parse_tree(state, places.text) if state and places else None
        if places is None or tree is None:
            return None
        rows = (at for at in places.positions if at[0] + 1 == symbol.line)
        found = (aliased_name(tree, *at, places.size) for at in rows)
        return next((alias for alias in found if alias is not None), None)

    def _target(self, alias: Alias, path: str) -> FoundDefinition | None:
        if alias.name == DEFAULT:
            module = self._module_file(alias, path)
            tree = self._parsed.parse_tree(module, self._index.text(module.id)) if module else None
            name = _default_name(tree, module.path) if tree is not None and module else ""
            if not name or module is None:
                return None
            alias, path = Alias(name), module.path
        found = self._list_definitions(alias.name)
        if not alias.module:
            return next((one for one in found if one.symbol.path == path), None)
        found = [one for one in found if one.symbol.path != path]
        return found[0] if len(found) == 1 else _nearest(found, alias, path)

    def _list_definitions(self, name: str) -> Sequence[FoundDefinition]:
        """Return the definitions of a name, without aliases.

        They are cached, because many modules may export the same definition under other names.
        """
        if name not in self._defined:
            scan = NameScan(self._index, self._parsed, SymbolRequest(name), OWNER_SCAN)
            found = scan.definitions()
            self._defined[name] = [one for one in found if one.symbol.kind not in ALIAS_KINDS]
        return self._defined[name]

    def _module_file(self, alias: Alias, path: str) -> FileState | None:
        """Return the file of the JavaScript module that the alias is imported from."""
        if not alias.source:
            return self._index.file_at(path)
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), alias.source))
        stem, extension = posixpath.splitext(whole)
        names = [whole, *(f"{whole}{end}" for end in _MODULE_ENDS)]
        if extension in _MODULE_ENDS:
            names += [f"{stem}{end}" for end in _MODULE_ENDS]
        states = (self._index.file_at(name) for name in names)
        return next((state for state in states if state is not None), None)


def _default_name(tree: SourceTree, path: str) -> str:
    """Return the name of the default export of a JavaScript module; "" if there is none."""
    if name := default_export(tree):
        return name
    symbol = read_file_symbol(path, file_language(path), "", tree.outline)
    return symbol.names[0] if symbol is not None else ""


def _nearest(
    definitions: Sequence[FoundDefinition], alias: Alias, path: str
) -> FoundDefinition | None:
    """Return the definition whose path ends like the module of an alias, or None if none does.

    Of several, the one whose path begins like the path of the alias is returned.
    """
    scores = {
        one: common_length(_module_parts(one.symbol.path)[::-1], alias.module[::-1])
        for one in definitions
    }
    best = max(scores.values(), default=0)
    nearest = [one for one in definitions if best and scores[one] == best]
    return max(
        nearest,
        key=lambda one: common_length(one.symbol.path.split("/"), path.split("/")),
        default=None,
    )


def _module_parts(path: str) -> list[str]:
    folders = path.split("/")[:-1]
    stem = file_stem(path)
    return folders if stem in _PLAIN_STEMS else [*folders, stem]
