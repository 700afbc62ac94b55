"""Find where a file uses a name under the other name that an import gives it.

Examples are c in `from a import b as c`, and in `local c = require("a.b")`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rootle.search.symbols.parsed_files import FileOccurrences, find_occurrences
from rootle.syntax.aliases import module_value
from rootle.syntax.declared.local_variables import LocalVariables, is_key
from rootle.syntax.references import OccurrenceRole, binds_import, classify, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.types import SymbolUse


@dataclass(frozen=True, slots=True)
class AliasPlace:
    """A place where a file uses a name under an alias."""

    found: FileOccurrences  # the file, with the places of the alias
    at: Position
    role: OccurrenceRole


def find_alias_places(
    found: FileOccurrences, at: Position, use: SymbolUse, read_text: Callable[[str], str]
) -> Iterator[AliasPlace]:
    """Yield the places where a file uses the alias that the import at a position introduces.

    `use` is that import, and `read_text` returns the text of the file with a definition, which may
    be "". A variable with the name of the alias is left out.
    """
    tree, alias = found.tree, found.alias_at(at)
    if tree is None or alias is None or (use.kind == "export" and tree.language != "rust"):
        return
    is_module = alias.is_module or _imports_module(found, tree, at)
    if is_module and use.target and not _is_value(found, use.target, read_text):
        return
    places = find_occurrences(found.state, found.text, alias.name)
    renamed = places.with_tree(tree) if places is not None else None
    if renamed is None or renamed.tree is None:
        return
    size = renamed.size
    declared = [one for one in renamed.positions if not binds_import(tree, *one, size)]
    variables = LocalVariables(tree, declared, size)
    for one in declared:
        role = classify(tree, *one, size)
        is_other = role.receiver or role.kind in ("comment", "string", "import", "export")
        if not (is_other or is_key(tree, *one, size) or variables.is_variable(*one)):
            yield AliasPlace(renamed, one, role)


def _imports_module(found: FileOccurrences, tree: SourceTree, at: Position) -> bool:
    """Return whether an import of Python names only a module, as in `import a.b as c`."""
    is_python = tree.language == "python"
    return is_python and import_statement(tree, *at, found.size).startswith("import")


def _is_value(found: FileOccurrences, target: str, read_text: Callable[[str], str]) -> bool:
    """Return whether a definition is the value of its module."""
    text = read_text(target.rpartition(":")[0])
    return module_value(text, found.state.language) == found.name
