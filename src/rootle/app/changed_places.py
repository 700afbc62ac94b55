"""Find the definition or file that a question names, and the commits that changed it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.history.names.name_history import MAX_DEFINITIONS
from rootle.history.names.place_changes import ChangedPlace
from rootle.provenance.definition_changes import (
    CurrentLines,
    list_definition_changes,
    list_file_changes,
)
from rootle.text.languages import CODE_EXTENSIONS, UNKNOWN, language_of

if TYPE_CHECKING:
    from rootle.index.reader import IndexReader
    from rootle.types import Symbol

_DECLARATION: Final = "declaration"


def find_changed_place(
    root: Path, name: str, index: IndexReader, find: Callable[[str], Sequence[Symbol]]
) -> ChangedPlace | None:
    """Return the files or the definitions with a name, and the commits that changed them.

    Return None if there are none, or more than three. `find` returns the definitions of a name.
    """
    paths = _find_paths(index, name) if "." in name or "/" in name else []
    if 0 < len(paths) <= MAX_DEFINITIONS:
        return _changed_files(root, paths)
    found = [one for one in find(name) if one.language in CODE_EXTENSIONS]
    symbols = [one for one in found if one.kind != _DECLARATION] or found
    if not symbols and ("/" in name or language_of(name) != UNKNOWN):
        return _changed_files(root, [name])  # the file may have been renamed or removed
    if not 0 < len(symbols) <= MAX_DEFINITIONS:
        return None
    lines = [CurrentLines(os.path.join(os.path.realpath(root), one.path), one.start_line,
                          one.end_line) for one in symbols]  # fmt: skip
    changes = list_definition_changes(lines)
    names = tuple(dict.fromkeys(one.path for one in symbols))
    where = ", ".join(f"{one.path}:{one.start_line}-{one.end_line}" for one in symbols)
    kinds = frozenset(one.kind for one in symbols)
    if changes is None:
        return ChangedPlace(names, where, kinds, None)
    return ChangedPlace(names, where, kinds, changes.commits, changes.merges, changes.note)


def _changed_files(root: Path, paths: Sequence[str]) -> ChangedPlace:
    changes = list_file_changes(root, paths)
    names, where, kinds = tuple(paths), ", ".join(paths), frozenset[str]()
    if changes is None:
        return ChangedPlace(names, where, kinds, None)
    return ChangedPlace(names, where, kinds, changes.commits, changes.merges, changes.note)


def _find_paths(index: IndexReader, name: str) -> list[str]:
    """Return the file or folder at the path `name`, or else the files whose paths end in `name`.

    The path of a folder ends in "/".
    """
    wanted = name.removeprefix("./")
    folder = f"{wanted.rstrip('/')}/"
    paths = {state.path for state in index.all_files()}
    if wanted in paths:
        return [wanted]
    if any(path.startswith(folder) for path in paths):
        return [folder] if "/" in wanted else []
    return sorted(path for path in paths if path.endswith(f"/{wanted}"))
