"""The two tantivy indexes on disk: schemas, stamps and error handling."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

import tantivy

from rootle.errors import IndexStorageError
from rootle.index.reader import Level
from rootle.storage.permissions import make_subfolder

LEVELS: Final[tuple[Level, ...]] = ("chunks", "files")
FIELDS: Final[Mapping[Level, tuple[str, ...]]] = {
    "chunks": ("body", "symbols", "headings", "comments"),
    "files": ("body", "symbols", "path"),
}
ID_FIELD: Final[Mapping[Level, str]] = {"chunks": "chunk", "files": "file"}
_LOCK: Final = ".tantivy-meta.lock"
_STEMMED: Final = "rootle_stemmed"
_PLAIN: Final = "whitespace"


def stored_generations(folder: Path) -> dict[Level, int | None]:
    """Return the generation of each word index; None for an unusable one."""
    return {level: _stored_generation(folder, level) for level in LEVELS}


def _stored_generation(folder: Path, level: Level) -> int | None:
    try:
        index = open_level(folder, level)
        return read_stamp(index.searcher(), index.schema)
    except IndexStorageError:
        return None


def create(folder: Path) -> None:
    """Create empty word indexes, replacing existing ones."""
    make_subfolder(folder)
    for level in LEVELS:
        shutil.rmtree(folder / level, ignore_errors=True)
        make_subfolder(folder / level)
        tantivy.Index(_schema(level), path=str(folder / level))


@contextmanager
def readable_folder(folder: Path) -> Iterator[Path]:
    """Yield the folder or, if it is read-only, a folder of links to its files.

    tantivy creates a lock file even to read.
    """
    if all(_may_lock(folder / level) for level in LEVELS):
        yield folder
        return
    import tempfile  # rarely needed

    with tempfile.TemporaryDirectory(prefix="rootle-") as scratch:
        for level in LEVELS:
            target = Path(scratch, level)
            target.mkdir()
            for file in (folder / level).iterdir():
                if file.suffix != ".lock":
                    (target / file.name).symlink_to(file)
        yield Path(scratch)


def _may_lock(folder: Path) -> bool:
    lock = folder / _LOCK
    if not os.path.isdir(folder):
        return True  # opening it reports that it does not exist
    return os.access(lock if os.path.exists(lock) else folder, os.W_OK)


def open_level(folder: Path, level: Level) -> tantivy.Index:
    """Open one of the two indexes."""
    with DAMAGE_ERRORS:
        index = tantivy.Index.open(str(folder / level))
        index.config_reader("manual")
    # The text is already stemmed, once per distinct word when files are read. Stemming it again
    # here would turn respons into respon.
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_STEMMED, analyzer)
    return index


def _schema(level: Level) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file", indexed=True, fast=True)
    if level == "chunks":
        builder.add_unsigned_field("chunk", indexed=True, fast=True)
        builder.add_text_field("defines", tokenizer_name=_PLAIN, index_option="basic")
    for field in FIELDS[level]:
        builder.add_text_field(field, tokenizer_name=_STEMMED, index_option="freq")
    builder.add_unsigned_field("stamp", indexed=True)
    builder.add_unsigned_field("generation", fast=True)
    return builder.build()


def stamp_document(generation: int) -> tantivy.Document:
    """Return the document that stores the generation."""
    document = tantivy.Document()
    document.add_unsigned("stamp", 1)
    document.add_unsigned("generation", generation)
    return document


def read_stamp(searcher: tantivy.Searcher, schema: tantivy.Schema) -> int:
    """Return the stored generation; -1 if there is none."""
    query = tantivy.Query.term_query(schema, "stamp", 1)
    with DAMAGE_ERRORS:
        hits = searcher.search(query, limit=1, count=False).hits
        if not hits:
            return -1
        return int(searcher.fast_field_values("generation", [hits[0][1]])[0] or 0)


class TantivyErrors:
    """Converts errors of tantivy to IndexStorageError; in `message`, {} is the original error."""

    def __init__(self, message: str) -> None:
        self._message = message

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and _is_tantivy_error(error):
            head, _, tail = self._message.rpartition("{}")
            raise IndexStorageError(f"{head}{error}{tail}") from error


# Opening an index reads little of it, so damage often shows in the first query.
DAMAGE_ERRORS: Final = TantivyErrors("the word index is damaged ({}); run `rootle index --rebuild`")


def _is_tantivy_error(error: BaseException) -> bool:
    """Return whether an error is a ValueError or a panic, which tantivy raises for damage."""
    return isinstance(error, ValueError) or type(error).__name__ == "PanicException"
