"""Classify files by their paths: code, documents, tests, templates and copies."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntEnum
from typing import Final

from rootle.index.reader import IndexReader
from rootle.rank.path_features import KINDS, path_parts
from rootle.text.terms import WORD, word_terms
from rootle.text.whole_names import name_pattern

# Example projects, and the projects that a generator writes. Other folders that are named
# "templates" may contain the pages of a program.
_EXAMPLE_PROJECT: Final = re.compile(
    r"(?:^|/)(?:(?:project|app|site|plugin|starter)[-_]?templates?|skeletons?|scaffold(?:s|ing)?"
    r"|boilerplates?|cookiecutter[\w.-]*|\{\{[^/]*\}\}|generators?/(?:.+/)?templates?|examples?"
    r"|samples?|demos?)/",
    re.IGNORECASE,
)
_MAX_FILES: Final = 500  # files that are read to find a name


class PlaceKind(IntEnum):
    """The kinds of files; those that explain a name best come first."""

    CODE = 0  # including configuration
    DOCUMENT = 1
    OTHER = 2  # tests, example projects, copies of other projects and generated files


def kind_of_place(path: str) -> PlaceKind:
    """Return the kind of the file at a path."""
    kinds = path_parts(path).kinds

    def is_any(*names: str) -> bool:
        return any(kinds & (1 << KINDS.index(name)) for name in names)

    if is_any("is_test", "is_copied", "is_generated") or _EXAMPLE_PROJECT.search(path):
        return PlaceKind.OTHER
    return PlaceKind.DOCUMENT if is_any("is_prose", "is_record") else PlaceKind.CODE


def has_place(index: IndexReader, name: str, kinds: Collection[PlaceKind]) -> bool:
    """Return whether one of the first 500 indexed files with the words of a name contains it.

    Only files of these kinds count.
    """
    sparse, pattern = index.sparse, name_pattern(name)
    terms = [term for part in WORD.findall(name) for term in word_terms(part)]
    stems = sparse.stems(" ".join(terms))
    states = index.files(sparse.files_with(stems, [], _MAX_FILES, None)) if stems else {}
    return any(
        state.skip is None
        and kind_of_place(state.path) in kinds
        and pattern.search(index.text(state.id)) is not None
        for state in states.values()
    )
