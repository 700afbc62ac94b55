"""Find the module of Elixir to which a name such as `Type.Object` refers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.blocks.block_titles import owner_names
from rootle.syntax.references import MAX_RECEIVER
from rootle.syntax.source_tree import Position
from rootle.syntax.symbol_outline import Unit

_MODULE: Final = r"[A-Z]\w*(?:\.[A-Z]\w*)*"
# `alias A.B`, `alias A.{B, C.D}` and `alias A.B, as: C`
_ALIAS: Final = re.compile(
    rf"^[ \t]*(?:alias|require)[ \t(]+({_MODULE})(?:\.\{{([^{{}}]*)\}}|,[ \t]*as:[ \t]*(\w+))?",
    re.MULTILINE,
)
_NAME: Final = re.compile(_MODULE)
_THIS: Final = "__MODULE__"
_QUALIFIER: Final = re.compile(rf"(?<![\w.])(?:{_MODULE}|{_THIS})\.\Z")


class ElixirModules:
    """Finds definitions of modules by their full names."""

    def __init__(self, definitions: Sequence[FoundDefinition]) -> None:
        self._by_name: defaultdict[tuple[str, ...], list[FoundDefinition]] = defaultdict(list)
        for one in definitions:
            if one.symbol.language == "elixir" and one.symbol.kind == "module":
                self._by_name[*reversed(one.owners), one.symbol.name].append(one)
        self._aliases: dict[str, Mapping[str, tuple[str, ...]]] = {}  # by path

    def find(
        self, found: FileOccurrences, at: Position, units: Sequence[Unit]
    ) -> FoundDefinition | None:
        """Return the module to which a name at a position refers; None if there is none or several.

        `units` are the definitions around the position.
        """
        if not self._by_name or found.state.language != "elixir":
            return None
        before = _QUALIFIER.search(found.text_around(at, MAX_RECEIVER)[0])
        names = (*before[0].split(".")[:-1], found.name) if before is not None else (found.name,)
        outer = tuple(reversed(owner_names([unit for unit in units if unit.is_box])))
        first = outer if names[0] == _THIS else self._list_aliases(found).get(names[0], names[:1])
        full = (*first, *names[1:])
        # A module may be nested in one of the modules around the use.
        for depth in (0, *range(len(outer), 0, -1)):
            if modules := self._by_name.get((*outer[:depth], *full)):
                return modules[0] if len(modules) == 1 else None
        return None

    def _list_aliases(self, found: FileOccurrences) -> Mapping[str, tuple[str, ...]]:
        """Return the full names of the modules that a file makes known under a short name."""
        path = found.state.path
        if path not in self._aliases:
            self._aliases[path] = _read_aliases(found.text)
        return self._aliases[path]


def _read_aliases(text: str) -> Mapping[str, tuple[str, ...]]:
    aliases: dict[str, tuple[str, ...]] = {}
    for match in _ALIAS.finditer(text):
        module = tuple(match[1].split("."))
        if match[2] is None:
            aliases[match[3] or module[-1]] = module
        else:
            listed = (tuple(name.split(".")) for name in _NAME.findall(match[2]))
            aliases.update((names[-1], (*module, *names)) for names in listed)
    return aliases
