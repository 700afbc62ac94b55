"""Find where names are defined, for documents that mention these names."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.index.reader import ChunkRow, FileState, IndexReader
from rootle.search.symbols.definitions import find_definitions_in
from rootle.search.symbols.parsed_files import find_occurrences
from rootle.text.terms import compose, whole_identifier


def find_definition_places(
    index: IndexReader, names: Sequence[str], *, in_any_spelling: bool = False
) -> dict[str, str]:
    """Return "path:line" for each name that exactly one chunk of the index defines.

    If `in_any_spelling`, a definition may differ from the name in case and underscores.
    """
    normalized = {name: whole_identifier(name) for name in names}
    definers = index.sparse.definers(list(dict.fromkeys(normalized.values())), 2)
    only = {name: ids[0] for name, ids in definers.items() if len(ids) == 1}
    rows = index.chunks(list(only.values()))
    states = index.files({row.file_id for row in rows.values()})
    places = {}
    for name, key in normalized.items():
        row = rows.get(only.get(key, -1))
        if row is None or row.file_id not in states:
            continue
        spellings = [one for one in index.list_symbols([row.id]) if whole_identifier(one) == key]
        if name in spellings or (in_any_spelling and spellings):
            defined = name if name in spellings else spellings[0]
            state = states[row.file_id]
            places[name] = f"{state.path}:{_find_line(index, state, row, defined)}"
    return places


def _find_line(index: IndexReader, state: FileState, row: ChunkRow, name: str) -> int:
    """Return the line in a chunk that probably defines a name, or else the chunk's first line."""
    text = compose(index.excerpts([(row.file_id, row.start, row.end)])[0])
    found = find_occurrences(state, text, name)
    chunk = row._replace(start_line=1, end_line=text.count("\n") + 1)
    places = find_definitions_in(found, [chunk]) if found is not None else {}
    return row.start_line + next((at[0] for at in places), 0)
