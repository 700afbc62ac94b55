"""The lines of a file with its definitions, for answers that show whole definitions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from rootle.errors import SourceError
from rootle.index.reader import FileState, IndexReader
from rootle.ingest.named_ranges import list_named_ranges
from rootle.syntax.blocks.block_titles import SCOPE_SEPARATOR
from rootle.types import Definition, FileOutline

# The maximum number of cached definitions, which take up to 25 MB. The answers to several questions
# of a session often show the same files, and finding the definitions of a large file takes longer
# than a search.
_MAX_CACHED_DEFINITIONS: Final = 50_000


class FileOutlines:
    """Reads the outlines of documents, and caches the definitions by content. Thread-safe."""

    def __init__(self) -> None:
        self._definitions: OrderedDict[tuple[bytes, str], tuple[Definition, ...]] = OrderedDict()
        self._count = 0
        self._lock = threading.Lock()

    def read(self, path: str, index: IndexReader, place: str = "") -> FileOutline:
        """Return the indexed lines of a document and its definitions.

        If the index is that of an earlier version, `place` is the part of `path` that names this
        version. Definitions are found only in languages that have a grammar or headings. Raise
        SourceError if the document is not indexed.
        """
        state = index.file_at(path.removeprefix(place))
        if state is None:
            raise SourceError(f"{path} is not indexed; `rootle status --skipped` may say why")
        text = index.text_as_written(state.id)
        return FileOutline(path, tuple(text.split("\n")), self._list_definitions(state, text))

    def _list_definitions(self, state: FileState, text: str) -> tuple[Definition, ...]:
        if not state.digest:
            return _find_definitions(text, state.language)
        key = state.digest, state.language
        with self._lock:
            if key in self._definitions:
                self._definitions.move_to_end(key)
                return self._definitions[key]
        found = _find_definitions(text, state.language)
        if len(found) > _MAX_CACHED_DEFINITIONS // 4:
            return found  # not cached: such a large file would displace all others
        with self._lock:
            if key not in self._definitions:
                self._definitions[key] = found
                self._count += len(found) + 1
            while self._count > _MAX_CACHED_DEFINITIONS:
                _, dropped = self._definitions.popitem(last=False)
                self._count -= len(dropped) + 1
        return found


def _find_definitions(text: str, language: str) -> tuple[Definition, ...]:
    return tuple(
        Definition(SCOPE_SEPARATOR.join(found.path), found.first_line, found.last_line)
        for found in list_named_ranges(text, language)
    )
