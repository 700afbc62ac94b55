"""The status of an index: its content, its lag and its watcher."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from time import time

from rootle.errors import IndexMissingError, IndexStorageError, IndexUnfinishedError
from rootle.index.local.commit_dates import parse_records
from rootle.index.local.index_dir import INNER_DIRS
from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.indexing.index_state import describe_limit
from rootle.indexing.indexer import Indexer
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.indexing.watch.watcher_state import WatcherState
from rootle.serialization.timestamps import format_timestamp
from rootle.sources.files.exclusion_reasons import explain_exclusions
from rootle.types import Health, IndexCoverage, IndexStatus, PartialFile, WatcherStatus


def read_status(indexer: Indexer) -> IndexStatus:
    """Return the status of an index without updating it."""
    try:
        snapshot = indexer.snapshot()
    except IndexMissingError:
        return _describe_missing(indexer)
    except IndexStorageError:
        if indexer.state.is_unfinished():
            return _describe_missing(indexer)
        raise
    return _describe_index(indexer, snapshot)


def measure_coverage(indexer: Indexer) -> IndexCoverage | None:
    """Return how much of an unfinished first index can be searched.

    Return None if there is a complete index, which is searched until its replacement is built.
    Raises IndexUnfinishedError if nothing can be searched yet.
    """
    if indexer.state.has_complete_index():
        return None
    read, total = indexer.state.read_progress() or (0, 0)
    try:
        snapshot = indexer.snapshot()
    except IndexStorageError as error:
        raise IndexUnfinishedError(
            f"the first index of {indexer.root} is being built: {read / 1e6:.1f} of "
            f"{total / 1e6:.1f} MB have been read; try again in a moment"
        ) from error
    return IndexCoverage(snapshot.bytes_indexed(), total)


def _describe_index(indexer: Indexer, snapshot: Snapshot) -> IndexStatus:
    files = snapshot.all_files()
    indexed = [state for state in files if state.skip is None]
    backlog = snapshot.backlog()
    chars = sum(state.chars for state in indexed)
    updated = snapshot.value("updated_at")
    plan = indexer.state.plan_work()
    remote = indexer.remote_indexes
    return IndexStatus(
        root=str(indexer.root),
        index_dir=str(indexer.index_dir),
        exists=True,
        generation=snapshot.generation,
        files=len(indexed),
        chunks=snapshot.chunk_count(),
        index_bytes=measure_folder(indexer.index_dir, INNER_DIRS),
        source_bytes=sum(state.size for state in indexed),
        age_seconds=_age(float(updated)) if updated else None,
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
        backends=remote.status(snapshot) if remote is not None else (),
        pending_since=_format_optional(backlog.since_s),
        pending_reason=backlog.reason,
        pending_retry_at=_format_optional(backlog.retry_at_s),
        model_note=indexer.model.note,
        watcher=_watcher_status(indexer.index_dir),
        plugins=tuple(f"{f.plugin.kind} {f.plugin.name}" for f in indexer.plugins.found),
        broken_plugins=tuple(indexer.plugins.broken.values()),
        partial_files=_list_partial_files(indexed, indexer.max_file_bytes),
        excluded=explain_exclusions(os.path.realpath(indexer.root)),
        undated_files=(undated := sum(state.last_modified_s is None for state in indexed)),
        undated_reason=_explain_undated(snapshot) if undated else "",
    )


def _explain_undated(snapshot: Snapshot) -> str:
    """Return why the last commits of some files are not known."""
    records = parse_records(snapshot.value).values()
    walking = [record for record in records if record.is_walking]
    if walking:
        commits = sum(record.walk_position for record in walking)
        return (
            f"the git history has not been read completely yet ({commits:,} commits so far); "
            "`rootle index` reads the rest now"
        )
    if any(record.is_cut_short for record in records):
        return (
            "the clone is shallow or partial and lacks a part of the git history; "
            "for a shallow clone, run git fetch --unshallow"
        )
    if any(not record.head for record in records):
        return "git cannot read this repository"
    return "the git history does not contain them"


def _list_partial_files(
    indexed: Iterable[FileState], max_file_bytes: int
) -> tuple[PartialFile, ...]:
    return tuple(
        PartialFile(
            state.path,
            describe_limit(state, state.size, max_file_bytes),
            round(state.missing_share, 4),
        )
        for state in sorted(indexed, key=attrgetter("path"))
        if state.skipped_chars
    )


def _describe_missing(indexer: Indexer) -> IndexStatus:
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
        pending=len(indexer.state.plan_work().read),
        pending_embeddings=0,
        skipped_text_share=0.0,
        model_note=indexer.model.note,
        watcher=_watcher_status(indexer.index_dir),
    )


def _watcher_status(index_dir: Path) -> WatcherStatus | None:
    channel = WatcherChannel(index_dir)
    state = channel.read_state()
    if state is None:
        return None
    is_alive = channel.is_watched()
    error = state.error
    if not is_alive:
        error = error or f"process {state.pid} ended unexpectedly"
    return WatcherStatus(
        health=_health(state, is_alive=is_alive),
        pid=state.pid,
        last_commit_age_seconds=_age(state.committed_at),
        waiting=state.waiting,
        waiting_age_seconds=_age(state.waiting_since),
        min_interval_seconds=state.min_interval_s,
        last_error=error,
    )


def _health(state: WatcherState, *, is_alive: bool) -> Health:
    if not is_alive:
        return "gone"
    if state.error is not None:
        return "failed"
    if state.is_throttled:
        return "paused" if state.is_paused else "throttled"
    return "fresh" if state.is_ready and not state.waiting else "behind"


def _age(moment: float | None) -> float | None:
    return None if moment is None else round(max(0.0, time() - moment), 1)


def _format_optional(seconds: float | None) -> str | None:
    return None if seconds is None else format_timestamp(seconds)


def measure_folder(folder: Path, exclude: Collection[str] = ()) -> int:
    """Return the total size in bytes of the files in a folder, without counting hard links twice.

    The subfolders in `exclude` are not counted.
    """
    sizes: dict[tuple[int, int], int] = {}
    for parent, folders, names in os.walk(folder):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in exclude]
        for name in names:
            with suppress(OSError):
                info = os.lstat(os.path.join(parent, name))
                sizes[info.st_dev, info.st_ino] = info.st_size
    return sum(sizes.values())
