"""Find the names of the classes from which a class gets members."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rootle.index.reader import IndexReader
from rootle.search.symbols.bases.class_heads import base_names
from rootle.search.symbols.bases.lua_bases import lua_bases
from rootle.search.symbols.candidate_files import CandidateFiles
from rootle.search.symbols.parsed_files import FileOccurrences, ParsedFiles, read_occurrences
from rootle.search.symbols.scan_limits import OWNER_SCAN
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.syntax.aliases import aliased_name
from rootle.syntax.base_clauses import used_modules
from rootle.syntax.go_types import embedded_types


def bases_in(found: FileOccurrences) -> Iterator[str]:
    """Yield the names of the bases of the classes with the requested name in a file.

    The types that a Go type embeds count as its bases, because it gets their fields and methods. In
    the same way, the index of the metatable of a Lua table counts as its base.
    """
    if found.state.language == "lua":
        yield from lua_bases(found.text, found.name)
        return
    if found.tree is None:
        return
    for units in found.tree.find_definitions(found.name).values():
        if not units or units[-1].symbol != found.name:
            continue
        if found.tree.language == "go":
            yield from (one.name for one in embedded_types(found.tree, units[-1].node))
        elif found.tree.language == "elixir":
            yield from used_modules(found.tree, units[-1].node)
        elif units[-1].is_box:
            yield from base_names(units[-1])


def aliased_classes(index: IndexReader, parsed: ParsedFiles, name: str) -> Iterator[str]:
    """Yield the names of the definitions that files export under the name `name`.

    For `export { Hono as HonoBase }`, the name HonoBase yields Hono.
    """
    renames = re.compile(rf"\bas\s+{re.escape(name)}\b")
    for state in CandidateFiles(index, SymbolRequest(name), OWNER_SCAN).states:
        found = read_occurrences(index, state, name)
        if found is None or not renames.search(found.text):
            continue
        tree = parsed.parse_tree(state, found.text)
        if tree is None:
            continue
        for at in found.positions:
            alias = aliased_name(tree, *at, found.size)
            if alias is not None:
                yield alias.name
