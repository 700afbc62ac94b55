"""The lines of a file with its definitions, for answers that show whole definitions."""

from __future__ import annotations

from rootle.errors import SourceError
from rootle.index.reader import IndexReader
from rootle.ingest.chunking.chunker import SCOPE_SEPARATOR
from rootle.ingest.named_ranges import list_named_ranges
from rootle.types import Definition, FileOutline


def read_file_outline(path: str, index: IndexReader, place: str = "") -> FileOutline:
    """Return the indexed lines of a document and its definitions.

    `place` is the part of the path that names the version, if the index is of an earlier version.

    Definitions are found only in languages that have a grammar or headings. Raise SourceError if
    the document is not indexed.
    """
    state = index.file_at(path.removeprefix(place))
    if state is None:
        raise SourceError(f"{path} is not indexed; `rootle status --skipped` may say why")
    text = index.text(state.id)
    definitions = tuple(
        Definition(SCOPE_SEPARATOR.join(found.path), found.first_line, found.last_line)
        for found in list_named_ranges(text, state.language)
    )
    return FileOutline(path, tuple(text.split("\n")), definitions)
