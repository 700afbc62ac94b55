"""Recognize names that are parts of the path of a package, as in `import shop.cart.Item`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.uses.use_rules import text_around
from rootle.syntax.source_tree import Position

# In these languages, a package has no definition that `rootle symbol` could show.
_LANGUAGES: Final = frozenset({"csharp", "java", "kotlin", "php", "scala"})
# The kinds of definitions in which an import cannot select another name.
_WITHOUT_MEMBERS: Final = frozenset(
    """constant constructor declaration def delegate event field fun function method property val
    var variable""".split()
)
# The start of the line of an import or of the clause that names the package of a file.
_IMPORT: Final = re.compile(
    r"\s*(?:(?:global[ \t]+)?using|import|use|package|namespace)[ \t]+"
    r"(?:(?:function|const|static)[ \t]+)?[\w.\\]*\Z"
)
_PACKAGE: Final = re.compile(r"\s*(?:package|namespace)\b")


class PackageParts:
    """Recognizes the parts of paths of packages that have the name of some definitions."""

    def __init__(self, definitions: Sequence[FoundDefinition]) -> None:
        kinds = {one.symbol.kind for one in definitions}
        self._can_occur = bool(kinds) and kinds <= _WITHOUT_MEMBERS

    def contain(self, found: FileOccurrences, at: Position) -> bool:
        """Return whether a name is a part of a package and cannot be one of the definitions."""
        if not self._can_occur or found.state.language not in _LANGUAGES:
            return False
        before, after = text_around(found, at)
        if _IMPORT.match(before) is None:
            return False
        return after.startswith((".", "\\")) or _PACKAGE.match(before) is not None
