"""The interface for reading an index, and the records that it returns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from rootle.protocols import Ids, Matrix, RankedIds, Scores, Vector, WeightedTerm
from rootle.storage.change_time import CHANGE_TICK_NS
from rootle.types import FILES, DocumentSection

# Upper bounds on one tick of the file system's clock. A file that is written again within one tick
# may keep its size and modification time. On Linux, a tick takes a few milliseconds. A time in
# whole seconds indicates a coarser clock.
_TICK_NS: Final = 100_000_000
_COARSE_TICK_NS: Final = 2_000_000_000

Level = Literal["chunks", "files"]  # the levels of the word index
TextRange = tuple[int, int, int]  # file id, first character, end character


# If a file was skipped for one of these reasons, it contains no text.
TEXTLESS: Final = frozenset(
    {"binary", "image without text", "not a regular file", "symlink", "vanished"}
)
# If a file was skipped for one of these reasons, it may define names, and it is not secret.
SKIPPED_CODE: Final = frozenset({"generated", "too large"})


class FileState(NamedTuple):
    """The state of a file when it was indexed.

    A named tuple, because a query reads dozens of them and a frozen dataclass takes three times as
    long to create.
    """

    id: int
    path: str  # relative to the root; for documents of other sources, the URI
    size: int
    mtime_ns: int
    seen_ns: int  # when it was read; a later write in the same tick cannot be detected
    digest: bytes | None
    skip: str | None  # the reason why it was skipped, None for an indexed file
    language: str
    encoding: str
    chars: int
    skipped_chars: int  # the number of characters beyond the limit for one file
    committed_s: int | None  # time of the last commit that changed it, if known
    # True if the file differs from the last commit or is not committed. If False, the modification
    # time may be the time of the clone.
    is_dirty: bool
    generation: int  # the generation of its last change
    author: str = ""  # the author of the last commit that changed it, as "Name <address>"
    source: str = FILES  # the name of the source that lists it
    kind: str = "file"  # as in sources.source.Document
    title: str = ""
    ctime_ns: int = 0  # 0 if the source does not know it
    masked: int = 0  # number of masked secrets; if any, the file differs from the indexed text

    @property
    def is_settled(self) -> bool:
        """Whether any write since the file was read would have changed one of its times."""
        tick = _TICK_NS if self.mtime_ns % 1_000_000_000 else _COARSE_TICK_NS
        return max(self.mtime_ns + tick, self.ctime_ns + CHANGE_TICK_NS) < self.seen_ns

    @property
    def missing_share(self) -> float:
        """The share of the text that is not indexed, from 0 to 1."""
        if self.skip is not None:
            return 1.0
        return self.skipped_chars / self.chars if self.chars else 0.0

    @property
    def last_modified_s(self) -> float | None:
        """The Unix time of the last change of the content.

        None for a committed file whose last commit has not been read, or is not in the clone.
        """
        if self.is_dirty:
            return self.mtime_ns / 1e9
        return None if self.committed_s is None else float(self.committed_s)


class ImageMatch(NamedTuple):
    """An image whose vector is near the vector of a question or of another image."""

    path: str  # relative to the root
    size: int  # in bytes; `size` and `mtime_ns` are from the time when the image was read
    mtime_ns: int
    width: int  # in pixels
    height: int
    similarity: float  # cosine, -1 to 1


class ChunkRow(NamedTuple):
    """A stored chunk without its text and symbols; a named tuple for speed, like FileState."""

    id: int
    file_id: int
    seq: int
    start_line: int
    end_line: int
    start: int  # in characters of the file's text
    end: int
    scope: str


@dataclass(frozen=True, slots=True)
class FileChunks:
    """All chunks of several files, grouped by file, in ascending order of file ids."""

    chunk_ids: Ids
    file_ids: Ids  # the file of each chunk
    cosines: Scores | None = None  # the cosine of each chunk and the query; None if not requested


@dataclass(frozen=True, slots=True)
class Neighbors:
    """The result of a nearest-neighbor search."""

    hits: RankedIds
    vector: Vector
    scan: Scores | None = None  # cosines by row if the index scanned all vectors; opaque to callers


class SparseReader(Protocol):
    """The word index: BM25 over the fields of chunks and of whole files."""

    def stems(self, terms: str) -> list[str]:
        """Return the indexed forms of space-separated terms, in order."""

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        """Return at most k chunk ids by BM25 of their text, only from `files` if given."""

    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> RankedIds:
        """Return at most k chunk or file ids by BM25 of `fields`, only from `files` if given.

        Results with equal scores are in the order of paths and lines.
        """

    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, Ids]:
        """Return the ids of at most k chunks, and for each a bit mask of the terms in the chunk.

        Bit i represents term i. `ids` are the chunks or files to search, depending on `among`.
        """

    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, Sequence[int]]:
        """Return the number of files, and for each term the number of files that contain it."""

    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> Sequence[int]:
        """Return at most k files by BM25 of the terms, best first.

        A file must contain each of `terms`, and for each of `parts` a term that contains this part.
        """

    def definers(self, names: Sequence[str], k: int = ...) -> dict[str, list[int]]:
        """Return for each normalized name at most k chunks that define it."""

    def near_definers(self, name: str, distance: int, k: int) -> list[int]:
        """Return at most k chunks that define a name at most `distance` edits from `name`."""

    def is_known(self, name: str) -> bool:
        """Return whether a normalized name is defined or occurs anywhere."""


class DenseReader(Protocol):
    """The vectors of all chunks."""

    @property
    def dimensions(self) -> int: ...
    @property
    def count(self) -> int:
        """The number of chunks, including those whose embedding is pending."""

    @property
    def pending(self) -> int:
        """The number of chunks whose embedding is pending."""

    def nearest(
        self,
        vector: Vector,
        k: int,
        files: Collection[int] | None = None,
        *,
        is_alone: bool = True,
    ) -> Neighbors:
        """Return at most k chunks by cosine similarity, only from `files` if given.

        If `is_alone`, no other query is running and all cores may be used.
        """

    def cosines(self, neighbors: Neighbors, file_ids: Ids) -> FileChunks:
        """Return all chunks of the given files with their cosines; `file_ids` must be ascending."""

    def list_chunks(self, file_ids: Ids) -> FileChunks:
        """Return all chunks of the given files; `file_ids` must be ascending."""

    def find_files(self, chunk_ids: Ids) -> Ids:
        """Return the file of each chunk, -1 for an unknown chunk."""

    def similarities(self, chunk_ids: Ids) -> Matrix:
        """Return the cosine of each pair of chunks, 0 for a chunk without a vector."""


class IndexReader(Protocol):
    """A read-only view of one generation of an index. It never changes. Thread-safe.

    The local index implements it with a snapshot. Search, ranking and memory depend only on this
    interface, so an index on a server can be used instead.
    """

    @property
    def generation(self) -> int:
        """The version number of the index, which every committed batch increments."""

    @property
    def sparse(self) -> SparseReader: ...
    @property
    def dense(self) -> DenseReader: ...

    def embedding_model(self) -> str:
        """Return the fingerprint of the model that computed the vectors."""

    def state_id(self) -> str:
        """Return an identifier that changes whenever the results of a query may change."""

    def preload(self) -> None:
        """Prepare for several queries. For a single query, this would take too long."""

    def files(self, ids: Iterable[int]) -> Mapping[int, FileState]:
        """Return the states of files, keyed by id. Raise IndexStorageError for an unknown id."""

    def file_count(self) -> int:
        """Return the number of files, skipped ones included."""

    def all_files(self) -> Sequence[FileState]:
        """Return the state of every file, including skipped ones."""

    def file_at(self, path: str) -> FileState | None:
        """Return the indexed document with this path or URI, None if there is none."""

    def files_with_endings(self, endings: Sequence[str]) -> Sequence[FileState]:
        """Return the files whose names end in one of `endings`, including skipped ones."""

    def unindexed_files(self) -> Sequence[FileState]:
        """Return the files whose text is not indexed, or only up to a limit."""

    def paths_with_encoding(self, encoding: str) -> Sequence[tuple[int, str]]:
        """Return the ids and the paths of the files that were read with an encoding."""

    def authors(self) -> Sequence[tuple[int, str]]:
        """Return the ids and the authors of the indexed documents that have an author."""

    def path_positions(self, file_ids: Ids) -> Ids:
        """Return a sort key for each file. A file with a later path has a greater key."""

    def files_with_digests(self, digests: Collection[bytes]) -> Sequence[FileState]:
        """Return the files whose content has one of these digests. This scans all files."""

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the chunks with these ids, keyed by id; unknown ids are left out."""

    def list_chunks(self, file_id: int) -> Sequence[ChunkRow]:
        """Return the chunks of a file in order."""

    def list_symbols(self, chunk_ids: Sequence[int]) -> Sequence[str]:
        """Return the names that these chunks define, as written in the source."""

    def text(self, file_id: int) -> str:
        """Return the indexed text of a file in NFC, to compare it with names and questions.

        It has the same lines as the file, but its characters may be at different positions.
        """

    def text_as_written(self, file_id: int) -> str:
        """Return the indexed text of a file, to show it, and to use positions in it."""

    def read_sections(self, file_id: int) -> Sequence[DocumentSection]:
        """Return the sections of a document in order, none for a file that is cited by lines."""

    def sections_with(self, label: str, limit: int) -> Sequence[tuple[int, DocumentSection]]:
        """Return at most `limit` sections with this label, each with the id of its document.

        Sections of the documents with the newest dates come first. In an index of commits, these
        are the changes of a file.
        """

    def section_labels(self) -> Mapping[int, Sequence[str]]:
        """Return the labels of the sections of each document. This reads all sections."""

    def sections_titled(self, prefix: str) -> Sequence[tuple[int, DocumentSection]]:
        """Return all sections whose titles begin with a prefix, with the ids of their documents.

        This reads all sections.
        """

    def documents_below(self, folder: str) -> Collection[int]:
        """Return the documents with a section whose label begins with `folder` (ending in "/").

        In an index of commits, these are the commits that changed files below the folder.
        """

    def excerpts(self, ranges: Sequence[TextRange]) -> Sequence[str]:
        """Return the text of each range of characters."""
