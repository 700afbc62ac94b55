"""Keeps the index of one folder: up to date, whole, and out of the way of other processes."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from random import random
from time import time
from typing import TYPE_CHECKING, Final

from rootle.backoff import Rng
from rootle.config import Config
from rootle.errors import IndexMissingError, IndexStorageError
from rootle.index.lock import LOCK_NAME, writer_lock
from rootle.index.manifest import FileState
from rootle.index.snapshot import Snapshot, SnapshotSource
from rootle.ingest.limits import CHUNKER_VERSION, ChunkLimits
from rootle.ingest.plan import Plan, make_plan
from rootle.ingest.skip_rules import UNREADABLE
from rootle.ingest.walker import WalkRules, walk_files
from rootle.servers import Servers
from rootle.types import IndexReport, IndexStatus

if TYPE_CHECKING:
    from rootle.embed.choice import ModelChoice
    from rootle.embedding_turns import EmbeddingTurns
    from rootle.protocols import Embedder

# How texts become terms and rows; a change makes every index foreign.
_CONTENT_FORMAT: Final = 1
_OWN_FILES: Final = ("rootle.db", "rootle.db-wal", "rootle.db-shm")
_OWN_FOLDERS: Final = ("sparse", "dense")
_TAG: Final = "CACHEDIR.TAG"
_MARKS: Final = {".gitignore": "*\n", _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n"}

Progress = Callable[[int, int], None]


class Indexer:
    """Writes the index of one folder and hands out snapshots of it."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        *,
        choose_model: Callable[[], ModelChoice],
        open_embedder: Callable[[], Embedder],
        notice: Callable[[str], None],
        clock: Callable[[], float] = time,
        rng: Rng = random,
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        self._config = config
        self._choose_model = choose_model
        self._open_embedder = open_embedder
        self._notice = notice
        self._clock = clock
        self._rng = rng
        self._source = SnapshotSource(index_dir)
        self.servers = Servers(root, index_dir, config, self.snapshot)

    def snapshot(self) -> Snapshot:
        return self._source.current()

    def close(self) -> None:
        self.servers.close()
        self._source.close()

    def plan(self) -> Plan:
        """The difference between the folder and its index."""
        walk = walk_files(self.root, WalkRules(self._config.max_file_bytes))
        try:
            known = self.snapshot().all_files()
        except IndexStorageError:
            known = []
        return make_plan(walk, self._to_compare(known))

    def _to_compare(self, known: Iterable[FileState]) -> Iterator[FileState]:
        """What is known of files; what could not be read but can be now is to be read again."""
        for state in known:
            if state.skip == UNREADABLE and os.access(self.root / state.path, os.R_OK):
                yield state._replace(digest=None)
            else:
                yield state

    def is_current(self) -> bool:
        """Whether the index is whole and agrees with the folder, told without a lock."""
        from rootle.ingest.last_modified import is_head_known

        try:
            snapshot = self.snapshot()
        except IndexStorageError:
            return False
        return (
            snapshot.value("fingerprint") == self.fingerprint
            and self.plan().is_empty
            and is_head_known(self.root, snapshot.value("head"))
        )

    def has_embeddings_due(self) -> bool:
        """Whether chunks wait for their embedding that may be tried now."""
        if self.model.is_table:
            return False
        backlog = self.snapshot().backlog()
        return backlog.count > 0 and (backlog.retry_at_s or 0.0) <= self._clock()

    def has_whole_index(self) -> bool:
        """Whether there is anything to answer from."""
        try:
            self.snapshot()
        except IndexStorageError:
            return False
        return True

    def bring_up_to_date(
        self,
        progress: Progress,
        *,
        patience_s: float,
        rebuild: bool = False,
        embed_all: bool = False,
    ) -> IndexReport:
        """Index what has changed, waiting `patience_s` for another writer (below 0: for ever).

        Where chunks wait for their embedding some get it, or as many as can with `embed_all`.
        Raises UnavailableError where it did not let go, IndexStorageError where nothing can be
        written, IngestError where there is no folder to index.
        """
        from rootle.index.database import storage_errors

        if not os.path.isdir(self.root):
            walk_files(self.root, WalkRules())  # says what is wrong before anything is made
        _check_place(self.index_dir)
        # Whoever waits for a whole index waits for the servers too.
        waits = patience_s < 0 or not self.has_whole_index()
        with writer_lock(self.index_dir, patience_s, self._say_waiting):
            with storage_errors(self.index_dir):
                if rebuild:
                    self._drop_from_servers()
                    self._delete_content()
                _mark_as_cache(self.index_dir)
            report = self._run(progress, embed_all=embed_all)
        if embed_all and not self.model.is_table:
            report = self._embedding_turns().rest(report, self._say_waiting)
        if waits:
            for remark in self.servers.feed_now():
                self._notice(remark)
        else:
            self.servers.wake()
        return report

    def clear(self) -> bool:
        """Delete the index; False where there was none."""
        from rootle.index.database import storage_errors

        if not _is_index(self.index_dir):
            return False
        with (
            writer_lock(self.index_dir, -1, self._say_waiting),
            storage_errors(self.index_dir),
        ):
            self._drop_from_servers()
            self._delete_content()
            for lock in self.index_dir.glob("feed-*.lock"):
                lock.unlink()
            for name, text in _MARKS.items():
                mark = self.index_dir / name
                if mark.exists() and mark.read_bytes() == text.encode():
                    mark.unlink()
            # Under the lock: whoever waits for it finds that this file is gone and makes another.
            (self.index_dir / LOCK_NAME).unlink()
        with suppress(OSError):  # something else lies there, or another process begins anew
            self.index_dir.rmdir()
        return True

    def _run(self, progress: Progress, *, embed_all: bool) -> IndexReport:
        from rootle.index.database import open_database, storage_errors, write_transaction
        from rootle.index.manifest import Manifest
        from rootle.ingest.last_modified import update_last_modified
        from rootle.ingest.pipeline import IngestSetup, Pipeline

        setup = IngestSetup(
            self.root,
            self.index_dir,
            self._limits,
            self.model,
            self._open_embedder,
            self.fingerprint,
        )
        connection = open_database(self.index_dir, create=True)
        try:
            with storage_errors(self.index_dir):
                manifest = Manifest(connection)
                pipeline = Pipeline(setup, connection)
                if manifest.value("fingerprint") is None:
                    # A new database counts its generations from the start: what an earlier one
                    # left might carry the same number.
                    self._delete_derived()
                if manifest.value("fingerprint") != self.fingerprint:
                    self._open_embedder()  # a model that is not there must not cost the old index
                pipeline.start_over_if_foreign()
                walk = walk_files(self.root, WalkRules(self._config.max_file_bytes))
                plan = make_plan(walk, self._to_compare(manifest.files()))
                report = pipeline.run(plan, progress)
                if not self.model.is_table:
                    turns = self._embedding_turns()
                    report = turns.first(connection, report, embed_all=embed_all)
                with write_transaction(connection):
                    changed = not plan.is_empty
                    update_last_modified(self.root, manifest, content_changed=changed)
                return report
        finally:
            connection.close()

    def _embedding_turns(self) -> EmbeddingTurns:
        from rootle.embedding_turns import EmbeddingTurns

        return EmbeddingTurns(
            self.index_dir,
            self.model.model,
            self._open_embedder,
            self._config.dense_timeout_ms / 1000,
            self._notice,
            self._clock,
            self._rng,
        )

    @property
    def model(self) -> ModelChoice:
        """The model that embeds."""
        return self._choose_model()

    @cached_property
    def _limits(self) -> ChunkLimits:
        config = self._config
        return ChunkLimits(
            config.max_chunk_chars, config.chunk_overlap_chars, config.max_file_chars
        )

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that the content of the index depends on, beside the files."""
        limits = self._limits
        parts = (
            _CONTENT_FORMAT,
            CHUNKER_VERSION,
            limits.max_chars,
            limits.overlap_chars,
            limits.max_file_chars,
            self.model.fingerprint,
        )
        return "/".join(map(str, parts))

    def _delete_content(self) -> None:
        self._source.close()
        for name in _OWN_FILES:
            (self.index_dir / name).unlink(missing_ok=True)
        self._delete_derived()

    def _drop_from_servers(self) -> None:
        if self.has_whole_index():
            for remark in self.servers.drop():
                self._notice(remark)

    def _delete_derived(self) -> None:
        for name in _OWN_FOLDERS:
            shutil.rmtree(self.index_dir / name, ignore_errors=True)

    def _say_waiting(self) -> None:
        self._notice("waiting for another rootle process that is indexing this folder")


def status_of(indexer: Indexer) -> IndexStatus:
    """The index as it stands; nothing is written."""
    try:
        snapshot = indexer.snapshot()
    except IndexMissingError:
        return _missing(indexer)
    files = snapshot.all_files()
    indexed = [state for state in files if state.skip is None]
    backlog = snapshot.backlog()
    chars = sum(state.chars for state in indexed)
    updated = snapshot.value("updated_at")
    plan = indexer.plan()
    return IndexStatus(
        root=str(indexer.root),
        index_dir=str(indexer.index_dir),
        exists=True,
        generation=snapshot.generation,
        files=len(indexed),
        chunks=snapshot.chunk_count(),
        index_bytes=_folder_bytes(indexer.index_dir),
        source_bytes=sum(state.size for state in indexed),
        age_seconds=round(max(0.0, time() - float(updated)), 1) if updated else None,
        model=snapshot.value("model"),
        languages=dict(Counter(state.language for state in indexed).most_common()),
        encodings=dict(Counter(state.encoding for state in indexed).most_common()),
        skipped=dict(Counter(state.skip for state in files if state.skip).most_common()),
        skipped_files=tuple(
            sorted((state.path, state.skip) for state in files if state.skip is not None)
        ),
        pending=len(plan.read) + len(plan.remove),
        pending_embeddings=backlog.count,
        skipped_text_share=sum(s.skipped_chars for s in indexed) / chars if chars else 0.0,
        backends=indexer.servers.status(snapshot),
        pending_since=_utc(backlog.since_s),
        pending_reason=backlog.reason,
        pending_retry_at=_utc(backlog.retry_at_s),
        model_remark=indexer.model.remark,
    )


def _missing(indexer: Indexer) -> IndexStatus:
    return IndexStatus(
        root=str(indexer.root),
        index_dir=str(indexer.index_dir),
        exists=False,
        generation=0,
        files=0,
        chunks=0,
        index_bytes=0,
        source_bytes=0,
        age_seconds=None,
        model="",
        languages={},
        encodings={},
        skipped={},
        skipped_files=(),
        pending=len(indexer.plan().read),
        pending_embeddings=0,
        skipped_text_share=0.0,
        model_remark=indexer.model.remark,
    )


def _utc(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    stamp = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return stamp.replace("+00:00", "Z")


def _folder_bytes(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except FileNotFoundError:
                continue  # a writer is replacing it
    return total


def _is_index(folder: Path) -> bool:
    """Whether a folder holds an index or what is left of one."""
    return any(os.path.lexists(folder / name) for name in (*_OWN_FILES, _TAG))


def _check_place(folder: Path) -> None:
    """Raise IndexStorageError for a folder that holds other things: they might be deleted."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return  # there is none yet, or the lock will say what is wrong with it
    if names - {LOCK_NAME, *_MARKS} and not _is_index(folder):
        raise IndexStorageError(
            f"{folder} holds other files and no index; choose an empty or new --index-dir"
        )


def _mark_as_cache(folder: Path) -> None:
    """Keep the index out of git, also where it lies inside the repository, and out of backups."""
    for name, text in _MARKS.items():
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="ascii")
