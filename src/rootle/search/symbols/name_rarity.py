"""Distinguish names of code from ordinary words by the files that contain them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import whole_identifier

# An ordinary word such as "limit" is in more files than this, or in documents.
_MAX_FILES: Final = 20
_MAX_DOCUMENT_SHARE: Final = 0.25


def is_rare_name(name: str, index: IndexReader) -> bool:
    """Return whether few files contain a name, and most of them are code.

    Such a name is no ordinary word even if it is written like one, as `pbytes` is.
    """
    ids = _files_with(name, index)
    if not 0 < len(ids) <= _MAX_FILES:
        return False
    states = index.files(ids).values()
    documents = sum(state.language not in CODE_EXTENSIONS for state in states)
    return documents <= len(ids) * _MAX_DOCUMENT_SHARE


def names_in_few_files(names: Iterable[str], index: IndexReader) -> list[str]:
    """Return those of the names that at most a few files contain, in order."""
    stems = {name: index.sparse.stems(whole_identifier(name)) for name in names}
    distinct = list(dict.fromkeys(stem for own in stems.values() for stem in own))
    # Unlike `files_with`, `file_frequencies` counts the files without ranking them.
    counts = dict(zip(distinct, index.sparse.file_frequencies(distinct)[1], strict=True))
    return [
        name
        for name, own in stems.items()
        if min((counts[stem] for stem in own), default=0) <= _MAX_FILES
        or (len(own) > 1 and len(_files_with(name, index)) <= _MAX_FILES)
    ]


def _files_with(name: str, index: IndexReader) -> Sequence[int]:
    """Return the ids of files that contain a name, at most _MAX_FILES + 1 of them."""
    stems = index.sparse.stems(whole_identifier(name))
    return index.sparse.files_with(stems, [], _MAX_FILES + 1, None) if stems else []
