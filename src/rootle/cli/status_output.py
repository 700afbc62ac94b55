"""The output of `rootle status`."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Final

from rootle.cli.terminal import count_text, format_counts, write_line
from rootle.serialization.timestamps import format_age
from rootle.serialization.unread_documents import describe_unread, describe_unread_images
from rootle.types import (
    NEEDS_EXTRA,
    NEEDS_OCR,
    BackendStatus,
    DependencyStatus,
    ExternalStatus,
    HistoryStatus,
    ImageStatus,
    IndexStatus,
    PartialFile,
    WatcherStatus,
)

PARTLY_INDEXED: Final = "partly indexed"
_LABEL_CHARS: Final = 12  # the label of a line with the spaces after it
_LISTS: Final = frozenset({"languages", "encodings", "plugins", "skipped", "excluded"})
_MAX_PACKAGES: Final = 5  # the maximum number of packages to list per reason
_MAX_EXCLUDED: Final = 5
# If the files are smaller, no ratio is shown, because the parts of the index with a fixed size
# would dominate the ratio.
_MIN_RATIO_BYTES: Final = 100_000


def print_status(
    status: IndexStatus,
    *,
    with_skipped_files: bool,
    telemetry_problem: str | None = None,
    progress: tuple[int, int] | None = None,
) -> None:
    """Print one labeled line per property; continuation lines have an empty label.

    `telemetry_problem` is the reason why requested telemetry is not exported. `progress` contains
    the number of bytes that the first indexing run has read, and the total number, if the first
    index is not complete.
    """
    rows = [*_location_rows(status), *_state_rows(status, *(progress or (0, 0)))]
    rows += _index_rows(status) if status.exists else ()
    rows += _version_rows(status)
    rows += _dependency_rows(status.dependencies) if status.dependencies is not None else ()
    rows += _external_rows(status.external) if status.external is not None else ()
    rows += [("telemetry", telemetry_problem)] if telemetry_problem is not None else ()
    columns = max(shutil.get_terminal_size().columns - _LABEL_CHARS, _LABEL_CHARS)
    for label, text in rows:
        parts = [text]
        if sys.stdout.isatty() and label in _LISTS:
            parts = textwrap.wrap(text, columns, break_long_words=False, break_on_hyphens=False)
        for number, part in enumerate(parts or [text]):
            write_line(f"{label if not number else '':{_LABEL_CHARS - 2}}  {part}")
    if with_skipped_files and status.exists:
        for path, reason in _unindexed_files(status):
            write_line(f"  {reason:{len(NEEDS_EXTRA)}} {path}")
        for path, rule in status.excluded.items():
            write_line(f"  {'excluded':{len(NEEDS_EXTRA)}} {path} by {rule}")


def _unindexed_files(status: IndexStatus) -> Iterator[tuple[str, str]]:
    """Yield each file that is skipped or partly indexed, with the reason."""
    for partial in status.partial_files:
        yield describe_partial(partial), PARTLY_INDEXED
    yield from status.skipped_files


def describe_partial(file: PartialFile) -> str:
    """Return the path of a partly indexed file and the share of its text that is missing."""
    share = max(file.missing_share, 0.0001)
    return f"{file.path} (the last {share:.2%}, beyond {file.limit})"


def _describe_excluded(status: IndexStatus) -> str:
    shown = [*status.excluded][:_MAX_EXCLUDED]
    more = ", …" if len(status.excluded) > len(shown) else ""
    return f"{', '.join(shown)}{more} (`rootle status --skipped` lists the reasons)"


def _location_rows(status: IndexStatus) -> Iterator[tuple[str, str]]:
    yield "folder", status.root
    yield "index", status.index_dir
    for setting in status.unused_settings:
        yield "unused", setting


def _state_rows(status: IndexStatus, read: int, total: int) -> Iterator[tuple[str, str]]:
    if total:
        parts = f"{read / 1e6:.1f} of {total / 1e6:.1f} MB have been read"
        yield "state", f"the first index is not complete yet: {parts}"
    elif not status.exists:
        yield "state", "no index yet; run `rootle index`, or search the folder, to create it"


def _index_rows(status: IndexStatus) -> Iterator[tuple[str, str]]:
    ratio = ""
    if status.source_bytes >= _MIN_RATIO_BYTES:
        ratio = f", {status.index_bytes / status.source_bytes:.2f} times the size of the files"
    yield "generation", f"{status.generation}, written {format_age(status.age_seconds)} ago"
    yield "files", f"{status.files}, {status.source_bytes / 1e6:.1f} MB"
    yield "chunks", f"{status.chunks}"
    yield "disk", f"{status.index_bytes / 1e6:.1f} MB{ratio}"
    yield "model", status.model
    if status.model_note:
        yield "", status.model_note
    yield "languages", format_counts(status.languages)
    yield "encodings", format_counts(status.encodings)
    yield "changed", f"{count_text(status.pending, 'file')} since the last update"
    if status.pending_embeddings:
        yield "pending", _describe_pending(status)
    for backend in status.backends:
        yield from _backend_rows(backend, status.generation)
    yield (
        "cut off",
        f"{status.skipped_text_share:.1%} of the text, in "
        f"{count_text(len(status.partial_files), 'file')}",
    )
    if status.undated_files:
        yield "dates", _describe_undated(status)
    if status.images is not None:
        yield "images", _describe_images(status.images)
    if status.history is not None:
        yield "commits", _describe_history(status.history)
        for note in status.history.notes:
            yield "", note
    yield "skipped", format_counts(status.skipped) or "nothing"
    if status.excluded:
        yield "excluded", _describe_excluded(status)
    unread = status.skipped.get(NEEDS_EXTRA)
    if unread:
        yield "", describe_unread(unread)
    if images := status.skipped.get(NEEDS_OCR):
        yield "", describe_unread_images(images)
    if status.plugins:
        yield "plugins", ", ".join(status.plugins)
    for reason in status.broken_plugins:
        yield "", reason
    if status.watcher is not None:
        yield "watcher", _describe_watcher(status.watcher)


def _version_rows(status: IndexStatus) -> Iterator[tuple[str, str]]:
    if status.revisions is not None:
        count, size = status.revisions.revisions, status.revisions.index_bytes / 1e6
        yield "versions", f"{count_text(count, 'earlier version')}, {size:.1f} MB"


def _dependency_rows(found: DependencyStatus) -> Iterator[tuple[str, str]]:
    count, files = len(found.packages), sum(one.files for one in found.packages)
    shared = f" shared by {found.projects} folders" if found.projects > 1 else ""
    age = format_age(found.age_seconds)
    size = found.index_bytes / 1e6
    yield "packages", f"{count:,}, {files:,} files, {size:.1f} MB{shared}, indexed {age} ago"
    for one in found.other_versions[:_MAX_PACKAGES]:
        yield "", f"{one.name}: {one.version} is installed, and the lock file names {one.locked}"
    for one in found.missing[:_MAX_PACKAGES]:
        yield "", f"{one.name} {one.version}".rstrip() + f" is not installed: run `{one.remedy}`"
    for group in (found.other_versions, found.missing):
        if len(group) > _MAX_PACKAGES:
            yield "", f"and {len(group) - _MAX_PACKAGES:,} more; see --json"
    for message in found.refused[:_MAX_PACKAGES]:
        yield "", message


def _external_rows(external: ExternalStatus) -> Iterator[tuple[str, str]]:
    size = f"{external.index_bytes / 1e6:.1f} MB"
    yield "added", f"{count_text(len(external.sources), 'source')}, {size}; see `rootle sources`"
    for source in external.sources:
        age = format_age(source.age_seconds)
        yield "", f"{source.name}: {count_text(source.documents, 'document')}, read {age} ago"


def _describe_images(images: ImageStatus) -> str:
    reason = f"; {images.reason}" if images.reason else ""
    return f"{images.embedded:,} of {images.total:,} embedded with {images.model}{reason}"


def _describe_history(history: HistoryStatus) -> str:
    return f"{history.commits:,}, {history.index_bytes / 1e6:.1f} MB"


def _describe_pending(status: IndexStatus) -> str:
    text = f"{count_text(status.pending_embeddings, 'chunk')} without an embedding"
    text += f" since {status.pending_since}" if status.pending_since else ""
    text += f"; next attempt after {status.pending_retry_at}" if status.pending_retry_at else ""
    return text + (f": {status.pending_reason}" if status.pending_reason else "")


def _describe_undated(status: IndexStatus) -> str:
    count = f"{status.undated_files:,} of {status.files:,}"
    return f"not known for {count} files: {status.undated_reason}"


def _backend_rows(backend: BackendStatus, generation: int) -> Iterator[tuple[str, str]]:
    state = "up to date"
    if backend.generation < generation:
        state = f"{count_text(backend.waiting_files, 'file')} behind"
    yield backend.leg, f"{backend.server}, {state}"
    if backend.failing_since is not None:
        yield "", f"failing since {backend.failing_since}: {backend.reason}"
        yield "", f"next attempt {backend.next_try}"


def _describe_watcher(watcher: WatcherStatus) -> str:
    parts = [f"{watcher.health}, process {watcher.pid}"]
    parts.append(f"last update {format_age(watcher.last_commit_age_seconds)} ago")
    if watcher.waiting:
        age = format_age(watcher.waiting_age_seconds)
        parts.append(f"changed files waiting: {watcher.waiting}, the oldest for {age}")
    if watcher.min_interval_seconds:
        parts.append(f"at most one update every {watcher.min_interval_seconds:g} s")
    if watcher.last_error is not None:
        parts.append(watcher.last_error)
    return "; ".join(parts)
