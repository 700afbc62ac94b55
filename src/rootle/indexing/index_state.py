"""What there is of one folder's index, and what it lacks: looked at, never written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.config.fields import Config
from rootle.errors import IndexStorageError
from rootle.index.local.manifest import BYTES_EXPECTED
from rootle.index.local.snapshot import Snapshot, SnapshotSource, is_read_only
from rootle.ingest.plan import Plan, PlannedRead, PlannedSkip, plan_sources
from rootle.sources.source import DocumentEntry, DocumentReader, SkippedDocument, Source

if TYPE_CHECKING:
    from rootle.index.local.manifest import Manifest


@dataclass(frozen=True, slots=True)
class IndexWork:
    """What an index lacks of its folder."""

    changed_files: int
    changed_bytes: int
    updated_at: float  # of the index, in seconds since 1970; 0 if unknown


class IndexState:
    """Reads the index of one folder."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        sources: Sequence[Source],
        *,
        shows_unfinished: bool = False,
    ) -> None:
        """`shows_unfinished`: snapshots are taken of an index too whose first run goes on."""
        self._root = root
        self._index_dir = index_dir
        self._config = config
        self._sources = sources
        self._read_digests: dict[tuple[str, DocumentEntry], bytes] = {}
        self._snapshots = SnapshotSource(
            index_dir, read_only=not config.enable_indexing, unfinished=shows_unfinished
        )

    def snapshot(self) -> Snapshot:
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
        """Return the same, with documents that are skipped for their content among the skips."""
        plan, readers = self.plan_work(), self._readers()
        read: list[PlannedRead] = []
        skip = list(plan.skip)
        for planned in plan.read:
            entry = planned.entry
            found = readers[planned.source].read(entry.uri)
            if isinstance(found, str):
                skipped = SkippedDocument(entry.uri, found, entry.size)
                skip.append(PlannedSkip(planned.source, skipped, planned.state))
            else:
                read.append(planned)
        skip.sort(key=lambda planned: planned.skip.uri)
        return replace(plan, read=tuple(read), skip=tuple(skip))

    def find_work(self) -> IndexWork | None:
        """What the index lacks, told without a lock; None where it agrees with the folder.

        Raises IndexStorageError where there is no whole index, or one of another kind.
        """
        from rootle.indexing.commit_times import is_head_known

        snapshot = self.snapshot()
        plan = self.plan_work()
        if not self._config.enable_indexing:
            # No run will ever note their new times: a fresh checkout would look changed for good.
            readers = self._readers()
            read = [p for p in plan.read if not self._is_same(p, readers[p.source])]
            plan = replace(plan, read=tuple(read))
        if plan.is_empty and is_head_known(self._root, snapshot.value("head")):
            return None
        return IndexWork(
            len(plan.read) + len(plan.skip) + len(plan.remove),
            plan.bytes_to_read,
            float(snapshot.value("updated_at") or 0),
        )

    def _readers(self) -> dict[str, DocumentReader]:
        return {source.name: source.reader() for source in self._sources}

    def _is_same(self, planned: PlannedRead, reader: DocumentReader) -> bool:
        """Return whether a document has the content that is indexed, by reading it once."""
        source, entry, state = planned
        if state is None or state.digest is None or entry.size != state.size:
            return False
        if (source, entry) not in self._read_digests:
            found = reader.read(entry.uri)
            self._read_digests[source, entry] = b"" if isinstance(found, str) else found.digest
        return self._read_digests[source, entry] == state.digest

    def has_complete_index(self) -> bool:
        """Whether there is anything to answer from, be it of another model."""
        try:
            return bool(self.snapshot().value("updated_at"))
        except IndexStorageError:
            return False

    def read_progress(self) -> tuple[int, int] | None:
        """The bytes that the first run has read, of how many in all; None once it has ended well.

        Whoever does it: this process or another one.
        """
        try:
            with self._manifest() as manifest:
                if manifest.value("updated_at"):
                    return None
                return manifest.bytes_read(), int(manifest.value(BYTES_EXPECTED) or 0)
        except IndexStorageError:
            return 0, 0

    def is_unfinished(self) -> bool:
        """Whether the first run is under way still, or was cut short."""
        with self._manifest() as manifest:
            return not manifest.value("updated_at")

    def count_files(self) -> int:
        """How many files the index knows of, those that were left out included."""
        return self.snapshot().file_count()

    def list_paths(self) -> list[str]:
        """The files that the index knows of, told without opening more than the manifest."""
        with self._manifest() as manifest:
            return manifest.paths()

    @contextmanager
    def _manifest(self) -> Iterator[Manifest]:
        """The manifest, to be read, without the rest of a snapshot."""
        from rootle.index.local.database import open_database, storage_errors
        from rootle.index.local.manifest import Manifest

        read_only = not self._config.enable_indexing or is_read_only(self._index_dir)
        connection = open_database(self._index_dir, create=False, read_only=read_only)
        with closing(connection), storage_errors(self._index_dir):
            yield Manifest(connection)
