"""Find the imports in a file that make a name known."""

from __future__ import annotations

import re
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.import_paths import imported_root, is_load
from rootle.search.symbols.parsed_files import FileOccurrences, classify_line
from rootle.search.symbols.uses.receiver_text import COMPANION
from rootle.syntax.references import binds_import, import_statement
from rootle.syntax.source_tree import Position, SourceTree
from rootle.text.whole_names import find_word

# The import of a name, or of names in braces, in Java, Kotlin and Scala.
_JVM_IMPORT: Final = re.compile(r"\s*import\s+(?:static\s+)?([\w.]+)")
_NAME: Final = re.compile(r"\w+")


def find_import(found: FileOccurrences) -> str:
    """Return the first import in a file that contains the name; "" if there is none.

    In a file that was not parsed, this is the line of the import.
    """
    return _find_line(found) if found.tree is None else _find_statement(found, found.tree)


def is_of_other_package(definition: FoundDefinition, statement: str) -> bool:
    """Return whether an import certainly does not name a definition of Java.

    The folder of a file of Java ends with the parts of its package. If only a part of a project is
    indexed, the package ends with the parts of the folder.
    """
    found = _JVM_IMPORT.match(statement)
    if found is None or definition.symbol.language != "java":
        return False
    parts = found[1].split(".")
    count = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    package = "/".join(parts[:count])
    folder = definition.symbol.path.rpartition("/")[0]
    is_outer = f"/{folder}".endswith(f"/{package}") or f"/{package}".endswith(f"/{folder}")
    return bool(package and folder) and not is_outer


def imported_owner(statement: str, name: str) -> str:
    """Return the class whose member an import names; "" if it names none.

    It is Cart for `import shop.Cart.fill` and for `import shop.Cart.{fill, drop}`.
    """
    path, brace, _ = statement.partition("{")
    if not brace:
        path = next((statement[:at] for at in find_word(statement, name)), "")
    names = _NAME.findall(path.removesuffix(".").removesuffix(COMPANION))
    return names[-1] if len(names) > 1 else ""


def _find_line(found: FileOccurrences) -> str:
    size, language = len(found.token), found.state.language
    lines = (found.line_around(at) for at in found.positions)
    imports = (line for line, at in lines if classify_line(line, at, size, language) == "import")
    return next(imports, "")


def _find_statement(found: FileOccurrences, tree: SourceTree) -> str:
    """Return the first import in a parsed file.

    The name in `require("a.name")` is only that of the module, which may have another name here.
    """
    for at in found.positions:
        statement = import_statement(tree, *at, found.size)
        if statement and not is_load(statement) and not _has_other_name(found, at):
            return statement
    return ""


def _has_other_name(found: FileOccurrences, at: Position) -> bool:
    """Return whether an import gives the name at a position another name in its file."""
    alias = found.alias_at(at)
    return alias is not None and not alias.is_module


def may_name_definition(
    found: FileOccurrences, tree: SourceTree, at: Position, statement: str
) -> bool:
    """Return whether a name in an import can be that of a definition rather than of a module.

    In the path of a module, it can only be the last name, because `require("a.b")` may return b.
    """
    if is_load(statement) or "string" in tree.node_at(*at, found.size).type:
        return found.ends_path_at(at)
    if tree.language != "python":
        return True
    return imported_root(statement) != "" and binds_import(tree, *at, found.size)
