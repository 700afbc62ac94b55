"""BM25 over chunks and over whole files with tantivy, derived from the docstore.

Files and chunks have separate indexes, because their document frequencies and lengths differ. In
each index, the stamp is one additional document that contains the generation. It is written in the
same commit as the other documents, so it always matches them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import tantivy
from numpy.typing import NDArray

from rootle.errors import IndexStorageError
from rootle.index.local.sparse_storage import (
    DAMAGE_ERRORS,
    ID_FIELD,
    LEVELS,
    TantivyErrors,
    open_level,
    read_stamp,
    readable_folder,
    stamp_document,
)
from rootle.index.reader import Level
from rootle.protocols import MAX_MATCH_TERMS, NO_HITS, Ids, Ranked, WeightedTerm
from rootle.storage.permissions import set_file_modes
from rootle.text.stemmer import open_stemmer

_SHOULD: Final = tantivy.Occur.Should
_FEW_IDS: Final = 200
# One thread indexes 30 MB of text per second, and the other cores are used to read files.
_WRITER_THREADS: Final = 1
# Per index. Every segment slows down queries: with two segments instead of four for 100 MB of
# source code, warm queries took 3 to 6% less time, and indexing used 50 MB more memory.
_BULK_HEAP_BYTES: Final = 100_000_000
_SMALL_HEAP_BYTES: Final = 15_000_000


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The stemmed terms of one chunk by field, as returned by `text_terms`."""

    chunk_id: int
    body: str
    symbols: str
    defines: str  # whole normalized names, separated by spaces
    headings: str
    comments: str


@dataclass(frozen=True, slots=True)
class FileTerms:
    """The stemmed terms of one file by field, as returned by `text_terms`."""

    file_id: int
    body: str
    symbols: str
    path: str


class EmbeddedSparse:
    """A reader of both word indexes at one generation."""

    def __init__(self, folder: Path) -> None:
        with readable_folder(folder) as readable:
            indexes = {level: open_level(readable, level) for level in LEVELS}
            self._searchers = {level: index.searcher() for level, index in indexes.items()}
        self._schemas = {level: index.schema for level, index in indexes.items()}
        self._stem = open_stemmer()
        stamps = {
            level: read_stamp(self._searchers[level], self._schemas[level]) for level in LEVELS
        }
        if len(set(stamps.values())) != 1:
            raise IndexStorageError(
                f"the word indexes in {folder} have different generations: {stamps}"
            )
        self.generation = stamps["chunks"]

    def stems(self, terms: str) -> list[str]:
        """Return the stems of space-separated terms, in order."""
        return self._stem(terms)

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> Ranked:
        """Return at most k chunk ids by BM25 of their text, best first."""
        return self.field_scores("chunks", ["body"], terms, k, files=files)

    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> Ranked:
        """Return chunk or file ids by BM25 over the given fields, best first.

        If `files` is given, only those files and their chunks are searched.
        """
        query = self._any_of(level, fields, terms)
        if files is not None:
            query = self._restrict(level, query, "file", files)
        return self._run(level, query, k)

    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the chunks that contain any of at most 20 terms, and which terms each contains.

        Only the given chunks are searched, or the chunks of the given files, depending on `among`.
        The result has at most k chunk ids, and for each a mask in which bit i is set if the chunk
        contains term i. If more chunks match, those that contain the last terms are preferred.
        """
        if len(terms) > MAX_MATCH_TERMS:
            raise ValueError(f"{len(terms)} terms, at most {MAX_MATCH_TERMS} fit into one mask")
        if not len(ids) or not terms:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        # One query for all terms: each term scores a power of two, so that the sum is the mask.
        # Scores are float32, which is exact for integers up to 2^24.
        clauses = [
            (
                tantivy.Occur.Should,
                tantivy.Query.const_score_query(
                    self._term("chunks", "body", term), float(1 << bit)
                ),
            )
            for bit, term in enumerate(terms)
        ]
        query = self._restrict("chunks", tantivy.Query.boolean_query(clauses), among, ids)
        found = self._run("chunks", query, k)
        return found.ids, found.scores.astype(np.int64)

    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        """Return the number of files, and the document frequency of each term."""
        with DAMAGE_ERRORS:
            searcher = self._searchers["files"]
            return searcher.num_docs, [searcher.doc_freq("body", term) for term in terms]

    def definers(self, names: Sequence[str], k: int = 1_000) -> dict[str, list[int]]:
        """Return for each normalized name at most k chunks that define it."""
        return {
            name: self._run("chunks", self._term("chunks", "defines", name), k).ids.tolist()
            for name in names
        }

    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> list[int]:
        """Return at most k files by BM25 of the terms, best first.

        A file must contain each of `terms`, and for each of `parts` a term of which the part is a
        substring.
        """
        schema = self._schemas["files"]
        containing = [tantivy.Query.regex_query(schema, "body", f".*{part}.*") for part in parts]
        needed = [
            *(self._term("files", "body", term) for term in terms),
            *(tantivy.Query.const_score_query(query, 0.0) for query in containing),
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, one) for one in needed])
        if files is not None:
            query = self._restrict("files", query, "file", files)
        return list(map(int, self._run("files", query, k).ids))

    def near_definers(self, name: str, distance: int, k: int) -> list[int]:
        """Return at most k chunks that define a name at most `distance` edits from `name`."""
        schema = self._schemas["chunks"]
        query = tantivy.Query.fuzzy_term_query(schema, "defines", name, distance=distance)
        return list(map(int, self._run("chunks", query, k).ids))

    def is_known(self, name: str) -> bool:
        """Return whether a normalized name is defined or occurs in any chunk."""
        with DAMAGE_ERRORS:
            searcher = self._searchers["chunks"]
            return bool(
                searcher.doc_freq("defines", name)
                or any(searcher.doc_freq("body", stem) for stem in self.stems(name))
            )

    def _any_of(
        self, level: Level, fields: Sequence[str], terms: Sequence[WeightedTerm]
    ) -> tantivy.Query:
        clauses = [
            (_SHOULD, self._weight_term(level, field, term)) for field in fields for term in terms
        ]
        return tantivy.Query.boolean_query(clauses) if clauses else tantivy.Query.empty_query()

    def _weight_term(self, level: Level, field: str, term: WeightedTerm) -> tantivy.Query:
        query = self._term(level, field, term.text)
        return query if term.weight == 1 else tantivy.Query.boost_query(query, term.weight)

    def _term(self, level: Level, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schemas[level], field, term, index_option="freq")

    def _restrict(
        self, level: Level, query: tantivy.Query, name: str, ids: Collection[int]
    ) -> tantivy.Query:
        # For few ids, a union of term queries is faster than a term set query.
        schema = self._schemas[level]
        if len(ids) <= _FEW_IDS:
            wanted = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Should, tantivy.Query.term_query(schema, name, int(item)))
                    for item in ids
                ]
            )
        else:
            wanted = tantivy.Query.term_set_query(schema, name, [int(item) for item in ids])
        return tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, query),
                (tantivy.Occur.Must, tantivy.Query.const_score_query(wanted, 0.0)),
            ]
        )

    def _run(self, level: Level, query: tantivy.Query, k: int) -> Ranked:
        if k <= 0:
            return NO_HITS
        searcher = self._searchers[level]
        with DAMAGE_ERRORS:
            hits = searcher.search(query, k, False).hits
            if not hits:
                return NO_HITS
            found, addresses = zip(*hits, strict=True)
            values = searcher.fast_field_values(ID_FIELD[level], list(addresses))
        ids = np.fromiter(values, np.int64, len(values))
        scores = np.fromiter(found, np.float32, len(found))
        # Equal scores are in the order of writing, which is mostly the order of the ids.
        if not ((scores[1:] == scores[:-1]) & (ids[1:] < ids[:-1])).any():
            return Ranked(ids, scores)
        order = np.lexsort((ids, -scores))
        return Ranked(ids[order], scores[order])


def _join_all(threads: Iterable[threading.Thread]) -> None:
    """Join threads, and raise KeyboardInterrupt only after all have ended."""
    interrupted: KeyboardInterrupt | None = None
    for thread in threads:
        while thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
    if interrupted is not None:
        raise interrupted


class SparseWriter:
    """Writes one batch, which readers do not see before `commit`."""

    def __init__(self, folder: Path, *, bulk: bool) -> None:
        self._folder = folder
        heap = _BULK_HEAP_BYTES if bulk else _SMALL_HEAP_BYTES
        with self._errors():
            self._indexes = {level: open_level(folder, level) for level in LEVELS}
            self._writers = {
                level: index.writer(heap_size=heap, num_threads=_WRITER_THREADS)
                for level, index in self._indexes.items()
            }

    def remove_file(self, file_id: int, levels: Collection[Level] = LEVELS) -> None:
        """Delete a file and its chunks."""
        with self._errors():
            for level in levels:
                # Deletion by term treats every number as signed and would find nothing.
                query = tantivy.Query.term_query(self._indexes[level].schema, "file", file_id)
                self._writers[level].delete_documents_by_query(query)

    def add_file(
        self,
        file: FileTerms,
        chunks: Iterable[ChunkTerms],
        levels: Collection[Level] = LEVELS,
    ) -> None:
        with self._errors():
            if "chunks" in levels:
                self._add_chunks(file.file_id, chunks)
            if "files" in levels:
                document = tantivy.Document(body=file.body, symbols=file.symbols, path=file.path)
                document.add_unsigned("file", file.file_id)
                self._writers["files"].add_document(document)

    def _add_chunks(self, file_id: int, chunks: Iterable[ChunkTerms]) -> None:
        add = self._writers["chunks"].add_document
        for chunk in chunks:
            document = tantivy.Document(
                body=chunk.body,
                symbols=chunk.symbols,
                defines=chunk.defines,
                headings=chunk.headings,
                comments=chunk.comments,
            )
            document.add_unsigned("chunk", chunk.chunk_id)
            document.add_unsigned("file", file_id)
            add(document)

    def commit(self, generation: int, levels: Collection[Level] = LEVELS) -> None:
        """Make the batch visible as `generation`, in both indexes in parallel.

        After a crash, one index may be outdated. Its stamp then has an earlier generation.
        """
        failures: list[BaseException] = []

        def commit(level: Level) -> None:
            try:
                writer, schema = self._writers[level], self._indexes[level].schema
                writer.delete_documents_by_query(tantivy.Query.term_query(schema, "stamp", 1))
                writer.add_document(stamp_document(generation))
                writer.commit()
                set_file_modes(self._folder / level)
            except BaseException as error:  # raised again in the waiting thread
                failures.append(error)

        threads = [threading.Thread(target=commit, args=(level,)) for level in levels]
        for thread in threads:
            thread.start()
        _join_all(threads)
        with self._errors():
            del failures[1:]
            if failures:
                # Drop every reference to the error: its traceback keeps the writer's lock.
                raise failures.pop()

    def _errors(self) -> AbstractContextManager[None]:
        """Return a context manager that converts errors: on a full disk, any call may raise one."""
        return TantivyErrors(
            f"cannot write the word index in {self._folder}: {{}}; free space, use "
            "--index-dir, or run `rootle index --rebuild`"
        )

    def close(self) -> None:
        """Wait until all running merges have ended, then close the writers.

        A merge that outlives its writer could restore documents that the next writer deletes.
        """
        for writer in self._writers.values():
            with self._errors():
                writer.wait_merging_threads()
        self._writers.clear()
        for level in LEVELS:
            set_file_modes(self._folder / level)

    def abandon(self) -> None:
        """Discard uncommitted changes. No merge is running, because only a commit starts one."""
        self._writers.clear()
