"""Find where names are defined, for documents that mention these names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rootle.index.reader import ChunkRow, IndexReader
from rootle.text.terms import whole_identifier


def find_definition_places(index: IndexReader, names: Sequence[str]) -> dict[str, str]:
    """Return "path:line" for each name that exactly one chunk of the index defines."""
    normalized = {name: whole_identifier(name) for name in names}
    definers = index.sparse.definers(list(dict.fromkeys(normalized.values())), 2)
    only = {name: ids[0] for name, ids in definers.items() if len(ids) == 1}
    rows = index.chunks(list(only.values()))
    states = index.files({row.file_id for row in rows.values()})
    places = {}
    for name, key in normalized.items():
        row = rows.get(only.get(key, -1))
        if row is not None and row.file_id in states:
            places[name] = f"{states[row.file_id].path}:{_find_line(index, row, name)}"
    return places


def _find_line(index: IndexReader, row: ChunkRow, name: str) -> int:
    """Return the line of the first occurrence of a name in a chunk, or its first line."""
    text = index.excerpts([(row.file_id, row.start, row.end)])[0]
    found = re.search(rf"\b{re.escape(name)}\b", text)
    return row.start_line + (text.count("\n", 0, found.start()) if found else 0)
