"""The lines of a file with its definitions, for answers that show whole definitions."""

from __future__ import annotations

from rootle.ingest.chunking.chunker import SCOPE_SEPARATOR
from rootle.ingest.named_ranges import list_named_ranges
from rootle.ingest.source_refs import DocumentSet, read_source
from rootle.types import Definition, FileOutline


def read_file_outline(path: str, documents: DocumentSet) -> FileOutline:
    """Return a document in its current state.

    Raise SourceError as `read_source` does. Definitions are known in languages with a grammar or
    with headings.
    """
    passage = read_source(path, documents)
    ranges = list_named_ranges("\n".join(passage.lines), passage.language)
    definitions = tuple(
        Definition(SCOPE_SEPARATOR.join(found.path), found.first_line, found.last_line)
        for found in ranges
    )
    return FileOutline(passage, definitions)
