"""Find where a file uses a name under the other name that an import gives it.

Examples are c in `from a import b as c`, and in `local c = require("a.b")`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rootle.search.symbols.parsed_files import FileOccurrences, find_occurrences
from rootle.syntax.aliases import module_value
from rootle.syntax.declared.local_variables import LocalVariables, is_key
from rootle.syntax.references import OccurrenceRole, binds_import, classify, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.types import SymbolUse

_MAX_ALIASES: Final = 100  # of a name in a file
_MAX_SPACE: Final = 80  # characters that are searched after a name
_ASSIGNED: Final = re.compile(r"[ \t]*=(?![=>~])")


@dataclass(frozen=True, slots=True)
class AliasPlace:
    """A place where a file uses a name under an alias."""

    found: FileOccurrences  # the file, with the places of the alias
    at: Position
    role: OccurrenceRole


def find_alias_places(
    found: FileOccurrences,
    imports: Iterable[tuple[Position, SymbolUse]],
    read_text: Callable[[str], str],
    files: Collection[str],
) -> Iterator[tuple[AliasPlace, SymbolUse]]:
    """Yield each place where a file uses an alias, with the import that introduces the alias.

    `read_text` returns the text of the file that contains a definition; the text may be "". If
    several imports introduce the same alias, the first of them counts. `files` are the places of
    the definitions that have the name of their file, and are therefore its value.
    """
    aliases: dict[str, SymbolUse] = {}
    for at, use in imports:
        name = _find_alias(found, at, use, read_text, files)
        if name and name not in aliases:
            aliases[name] = use
            if len(aliases) == _MAX_ALIASES:
                break
    for name, use in aliases.items():
        for place in _find_places(found, name):
            yield place, use


def _find_alias(
    found: FileOccurrences,
    at: Position,
    use: SymbolUse,
    read_text: Callable[[str], str],
    files: Collection[str],
) -> str:
    """Return the alias that the import at a position introduces for the name; "" if none."""
    tree, alias = found.tree, found.alias_at(at)
    if tree is None or alias is None or (use.kind == "export" and tree.language != "rust"):
        return ""
    is_module = alias.is_module or _imports_module(found, tree, at)
    is_known = is_module and use.target and use.target not in files
    is_other = is_known and not _is_value(found, use.target, read_text)
    return "" if is_other else alias.name


def _find_places(found: FileOccurrences, alias: str) -> Iterator[AliasPlace]:
    """Yield the places where a file uses an alias.

    Variables and definitions with the name of the alias are left out, as are assignments to it.
    """
    places = find_occurrences(found.state, found.text, alias)
    renamed = places.with_tree(found.tree) if places is not None else None
    if renamed is None or renamed.tree is None:
        return
    tree, size = renamed.tree, renamed.size
    defined: Collection[Position] = tree.find_definitions(alias).keys()
    declared = [
        one
        for one in renamed.positions
        if one not in defined and not binds_import(tree, *one, size)
    ]
    variables = LocalVariables(tree, declared, size)
    for one in declared:
        role = classify(tree, *one, size)
        is_other = role.receiver or role.kind in ("comment", "string", "import", "export")
        is_set = _ASSIGNED.match(renamed.text_around(one, _MAX_SPACE)[1]) is not None
        if not (is_other or is_set or is_key(tree, *one, size) or variables.is_variable(*one)):
            yield AliasPlace(renamed, one, role)


def _imports_module(found: FileOccurrences, tree: SourceTree, at: Position) -> bool:
    """Return whether an import of Python names only a module, as in `import a.b as c`."""
    is_python = tree.language == "python"
    return is_python and import_statement(tree, *at, found.size).startswith("import")


def _is_value(found: FileOccurrences, target: str, read_text: Callable[[str], str]) -> bool:
    """Return whether a definition is the value that loading its module returns."""
    text = read_text(target.rpartition(":")[0])
    return module_value(text, found.state.language) == found.name
