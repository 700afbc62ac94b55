"""Tell names of code from ordinary words by the files that contain them."""

from __future__ import annotations

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
    stems = index.sparse.stems(whole_identifier(name))
    ids = index.sparse.files_with(stems, [], _MAX_FILES + 1, None) if stems else []
    if not 0 < len(ids) <= _MAX_FILES:
        return False
    states = index.files(ids).values()
    documents = sum(state.language not in CODE_EXTENSIONS for state in states)
    return documents <= len(ids) * _MAX_DOCUMENT_SHARE
