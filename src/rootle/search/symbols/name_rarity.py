"""Tell names of code from ordinary words by the files that contain them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import whole_identifier

# An ordinary word such as "limit" is in more files, or in documents.
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


def is_in_few_files(name: str, index: IndexReader) -> bool:
    """Return whether at most a few files contain a name."""
    return len(_files_with(name, index)) <= _MAX_FILES


def _files_with(name: str, index: IndexReader) -> Sequence[int]:
    """Return the ids of files that contain a name, at most one more than are few."""
    stems = index.sparse.stems(whole_identifier(name))
    return index.sparse.files_with(stems, [], _MAX_FILES + 1, None) if stems else []
