"""Read-only view of one index: its snapshot, its progress and the work that remains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.config.fields import Config
from rootle.errors import IndexStorageError
from rootle.index.local.commit_dates import is_reading_history
from rootle.index.local.content_dir import content_dir
from rootle.index.local.manifest import BYTES_EXPECTED
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import SnapshotSource, is_read_only
from rootle.index.local.update_notice import unused_generation
from rootle.index.reader import FileState
from rootle.ingest.plan import Plan, PlannedRead, PlannedSkip, plan_sources
from rootle.sources.secret_masking_reader import open_readers
from rootle.sources.source import Document, DocumentEntry, DocumentReader, SkippedDocument, Source
from rootle.types import EXTRACTED, PartialFile

if TYPE_CHECKING:
    from rootle.index.local.manifest import Manifest


@dataclass(frozen=True, slots=True)
class IndexWork:
    """The size of the difference between an index and its folder."""

    changed_files: int
    changed_bytes: int
    updated_at: float  # when the index was last updated, as a Unix time; 0 if unknown


class IndexState:
    """Reads the index of one folder without locking it."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        sources: Sequence[Source],
        *,
        shows_unfinished: bool = False,
    ) -> None:
        """`shows_unfinished` allows searches before the first run has ended."""
        self._root = root
        self._index_dir = index_dir
        self._config = config
        self._sources = sources
        self._digests: dict[tuple[str, DocumentEntry], bytes] = {}
        self._snapshots = SnapshotSource(
            index_dir, read_only=not config.enable_indexing, unfinished=shows_unfinished
        )

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot. Raise IndexStorageError if there is none."""
        return self._snapshots.current()

    def close(self) -> None:
        self._snapshots.close()

    def plan_work(self) -> Plan:
        """Return the difference between the sources and the index."""
        try:
            snapshot = self.snapshot()
        except IndexStorageError:
            return plan_sources(self._sources, (), lambda _: None)
        return plan_sources(self._sources, snapshot.all_files(), snapshot.value)

    def preview_work(self) -> Plan:
        """Return the result of `plan_work`, but read the documents to find all that are skipped."""
        plan, readers = self.plan_work(), self._open_readers()
        read: list[PlannedRead] = []
        skip = list(plan.skip)
        partial: list[PartialFile] = []
        for planned in plan.read:
            entry = planned.entry
            found = readers[planned.source].read(entry.uri)
            if isinstance(found, str):
                skipped = SkippedDocument(entry.uri, found, entry.size)
                skip.append(PlannedSkip(planned.source, skipped, planned.state))
            else:
                read.append(planned)
                cut = _find_missing_text(found, entry.size, self._config)
                partial += () if cut is None else (cut,)
        skip.sort(key=lambda planned: planned.skip.uri)
        partial.sort(key=attrgetter("path"))
        return replace(plan, read=tuple(read), skip=tuple(skip), partial=tuple(partial))

    def find_work(self) -> IndexWork | None:
        """Return the size of the difference between the index and its folder; None if they match.

        Raises IndexStorageError if there is no complete index, or if another version wrote it.
        """
        from rootle.indexing.git_history.commit_date_update import is_history_current

        snapshot = self.snapshot()
        plan = self.plan_work()
        if not self._config.enable_indexing:
            # Read-only mode never records new modification times, so all files of a fresh checkout
            # seem to be changed. Their contents are compared instead.
            readers = self._open_readers()
            read = [p for p in plan.read if not self._is_same(p, readers[p.source])]
            plan = replace(plan, read=tuple(read))
        if plan.is_empty and is_history_current(self._root, snapshot.value):
            return None
        return IndexWork(
            len(plan.read) + len(plan.skip) + len(plan.remove),
            plan.bytes_to_read,
            float(snapshot.value("updated_at") or 0),
        )

    def _open_readers(self) -> dict[str, DocumentReader]:
        return open_readers(self._sources, self._config.secret_exceptions)

    def _is_same(self, planned: PlannedRead, reader: DocumentReader) -> bool:
        """Return whether a document has the indexed content. Each document is read only once."""
        source, entry, state = planned
        if state is None or state.digest is None or entry.size != state.size:
            return False
        if (source, entry) not in self._digests:
            found = reader.read(entry.uri)
            self._digests[source, entry] = b"" if isinstance(found, str) else found.digest
        return self._digests[source, entry] == state.digest

    def has_complete_index(self) -> bool:
        """Return whether there is a complete index, possibly built with other settings."""
        try:
            return bool(self.snapshot().value("updated_at"))
        except IndexStorageError:
            return False

    def has_index_to_search(self) -> bool:
        """Return whether there is a complete index, or an unfinished one that may be searched."""
        try:
            self.snapshot()
        except IndexStorageError:
            return False
        return True

    def read_progress(self) -> tuple[int, int] | None:
        """Return the number of bytes that the first run has read, and the expected total.

        The run may be in any process. Returns None if it has completed.
        """
        try:
            with self._open_manifest() as manifest:
                if manifest.value("updated_at"):
                    return None
                return manifest.bytes_read(), int(manifest.value(BYTES_EXPECTED) or 0)
        except IndexStorageError:
            return 0, 0

    def has_other_settings(self, fingerprint: str) -> bool:
        """Return whether there is a complete index with another fingerprint."""
        try:
            with self._open_manifest() as manifest:
                is_complete = bool(manifest.value("updated_at"))
                return is_complete and manifest.value("fingerprint") != fingerprint
        except IndexStorageError:
            return False

    def read_generation(self) -> int:
        """Return the generation of the database, or a higher one if the database is unreadable."""
        try:
            with self._open_manifest() as manifest:
                return manifest.generation()
        except IndexStorageError:
            return unused_generation(self._index_dir)

    def is_unfinished(self) -> bool:
        """Return whether the first run is still active or was interrupted."""
        with self._open_manifest() as manifest:
            return not manifest.value("updated_at")

    def has_history_to_read(self) -> bool:
        """Return whether a part of a git history, on which dates depend, remains to be read."""
        with self._open_manifest() as manifest:
            return is_reading_history(manifest.value)

    def count_files(self) -> int:
        """Return the number of known files, including those that are skipped."""
        return self.snapshot().file_count()

    def list_paths(self) -> list[str]:
        """Return the paths of the known files of the folder."""
        with self._open_manifest() as manifest:
            return manifest.paths()

    def count_documents_of_others(self) -> dict[str, int]:
        """Return how many documents belong to each source that is unknown to this process."""
        own = {source.name for source in self._sources}
        with self._open_manifest() as manifest:
            counts = manifest.documents_by_source()
        return {name: count for name, count in counts.items() if name not in own}

    @contextmanager
    def _open_manifest(self) -> Iterator[Manifest]:
        """Open the manifest for reading, which takes less time than opening a snapshot."""
        from rootle.index.local.database import open_database, storage_errors
        from rootle.index.local.manifest import Manifest

        read_only = not self._config.enable_indexing or is_read_only(self._index_dir)
        content = content_dir(self._index_dir)
        connection = open_database(content, create=False, read_only=read_only)
        with closing(connection), storage_errors(self._index_dir):
            yield Manifest(connection)


def describe_limit(file: FileState | Document, size: int, max_file_bytes: int) -> str:
    """Return what limits the indexed text of a file of `size` bytes."""
    if file.encoding == EXTRACTED:
        return "the limits for documents, or after damage"
    if size > max_file_bytes:
        return "maxFileBytes"
    return "the first rows" if file.language == "csv" else "maxChunksPerFile"


def _find_missing_text(document: Document, size: int, config: Config) -> PartialFile | None:
    """Estimate how much of a document will not be indexed; return None if all of it will be."""
    chars = len(document.text.rstrip())
    missing = document.omitted_chars
    if config.max_file_chars:  # the text is not divided into chunks here
        missing += max(0, chars - config.max_file_chars)
    if not missing:
        return None
    share = missing / (len(document.text) + document.omitted_chars)
    limit = describe_limit(document, size, config.max_file_bytes)
    return PartialFile(document.uri, limit, round(share, 4))
