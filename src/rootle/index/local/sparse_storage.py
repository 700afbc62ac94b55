"""The two tantivy indexes on disk: their fields, their stamps, and what goes wrong with them."""

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
    """The generation that each word index was derived from; None for one that is unusable."""
    return {level: _stored_generation(folder, level) for level in LEVELS}


def _stored_generation(folder: Path, level: Level) -> int | None:
    try:
        index = open_level(folder, level)
        return stamp_of(index.searcher(), index.schema)
    except IndexStorageError:
        return None


def create(folder: Path) -> None:
    """Make empty word indexes in the place of whatever is there."""
    for level in LEVELS:
        shutil.rmtree(folder / level, ignore_errors=True)
        (folder / level).mkdir(parents=True)
        tantivy.Index(_schema(level), path=str(folder / level))


@contextmanager
def readable_folder(folder: Path) -> Iterator[Path]:
    """The folder, or links to its files: tantivy writes a lock file even to read."""
    if all(_may_lock(folder / level) for level in LEVELS):
        yield folder
        return
    import tempfile  # seldom needed

    with tempfile.TemporaryDirectory(prefix="rootle-") as scratch:
        for level in LEVELS:
            place = Path(scratch, level)
            place.mkdir()
            for file in (folder / level).iterdir():
                if file.suffix != ".lock":
                    (place / file.name).symlink_to(file)
        yield Path(scratch)


def _may_lock(folder: Path) -> bool:
    lock = folder / _LOCK
    if not os.path.isdir(folder):
        return True  # opening it will tell that it is not there
    return os.access(lock if os.path.exists(lock) else folder, os.W_OK)


def open_level(folder: Path, level: Level) -> tantivy.Index:
    with DAMAGE_ERRORS:
        index = tantivy.Index.open(str(folder / level))
        index.config_reader("manual")
    # What it is given is stemmed: each word once by those who read files, not wherever it stands.
    # To stem here too, as the name suggests that every index has, would make respon of respons.
    given = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(_STEMMED, given)
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
    document = tantivy.Document()
    document.add_unsigned("stamp", 1)
    document.add_unsigned("generation", generation)
    return document


def stamp_of(searcher: tantivy.Searcher, schema: tantivy.Schema) -> int:
    query = tantivy.Query.term_query(schema, "stamp", 1)
    with DAMAGE_ERRORS:
        hits = searcher.search(query, limit=1, count=False).hits
        if not hits:
            return -1
        return int(searcher.fast_field_values("generation", [hits[0][1]])[0] or 0)


class TantivyErrors:
    """Turns what tantivy raises into an IndexStorageError; it stands where `message` has {}."""

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
        if error is not None and _is_of_tantivy(error):
            head, _, tail = self._message.rpartition("{}")
            raise IndexStorageError(f"{head}{error}{tail}") from error


# Opening an index reads little of it: what is wrong inside shows when it is asked.
DAMAGE_ERRORS: Final = TantivyErrors("the word index is damaged ({}); run `rootle index --rebuild`")


def _is_of_tantivy(error: BaseException) -> bool:
    """It raises ValueError for whatever goes wrong; where it stumbles over damage it panics."""
    return isinstance(error, ValueError) or type(error).__name__ == "PanicException"
