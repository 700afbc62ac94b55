"""Find the names of the classes whose members a class also has."""

from __future__ import annotations

from collections.abc import Iterator

from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.search.symbols.resolution import base_names
from rootle.syntax.go_types import embedded_names


def bases_in(found: FileOccurrences) -> Iterator[str]:
    """Yield the names of the bases of the classes with the requested name in a file.

    A type of Go has the fields and methods of the types that it embeds, so these count as bases.
    """
    if found.tree is None:
        return
    for units in found.tree.definitions_of(found.name).values():
        if not units or units[-1].symbol != found.name:
            continue
        if found.tree.language == "go":
            yield from embedded_names(found.tree, units[-1].node)
        elif units[-1].is_box:
            yield from base_names(units[-1])
