"""The state of an index, and the callbacks that report its progress and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

# receives the number of processed bytes, or files and texts, and the total number
ProgressCallback = Callable[[int, int], None]
WarningCallback = Callable[[str], None]  # receives a message about a delay or a degradation

Health = Literal["fresh", "behind", "paused", "throttled", "failed", "gone"]


@dataclass(frozen=True, slots=True)
class Staleness:
    """The lag of an index behind its folder."""

    age_seconds: float  # the time since the index last matched the folder
    changed_files: int  # the number of files that were changed, added or deleted since then


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """The part of a folder that was searched while its first index was being built."""

    searched_bytes: int
    total_bytes: int  # the size of all files to index


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The result of indexing the commits of a repository."""

    commits: int  # the number of commits that are indexed
    removed_definitions: int  # the number of definitions that these commits removed
    commits_read: int  # the number of commits that were read in this run
    seconds: float


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of one indexing run."""

    generation: int
    files_indexed: int  # the number of files that this run wrote to the index
    files_removed: int
    files_total: int
    chunks_total: int
    # the number of chunks embedded in this run; the other chunks keep their vectors
    chunks_embedded: int
    bytes_indexed: int
    skipped: Mapping[str, int]  # reason -> number of skipped files in the whole folder
    seconds: float
    # the number of chunks that only full-text search finds, because they are not embedded yet
    chunks_pending: int = 0
    pending_reason: str = ""  # the reason why embedding failed; "" if it succeeded
    history: HistoryReport | None = None  # None if the commits were not indexed


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """The state of a search backend on a server at the last contact."""

    leg: str  # dense or sparse
    backend: str
    server: str
    index: str  # the name of the index on the server; "" until something is written
    # the newest generation of the local index that was copied to the server; -1 for none
    generation: int
    # the number of files that have changed in the local index since that generation
    waiting_files: int
    failing_since: str | None  # ISO 8601, UTC
    next_try: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class IndexUpdated:
    """The event "index-updated": a new generation of the index can be searched."""

    generation: int
    changed: tuple[str, ...]  # paths of files that are new or have changed
    removed: tuple[str, ...]  # paths of files that were deleted or are no longer indexed


@dataclass(frozen=True, slots=True)
class WatcherStatus:
    """The status of the process that keeps an index up to date."""

    health: Health
    pid: int
    last_commit_age_seconds: float | None  # the time since the index last matched the folder
    waiting: int  # the number of files that have changed and are not indexed yet
    waiting_age_seconds: float | None
    # the minimum time between two updates; 0 if updates are not throttled
    min_interval_seconds: float
    last_error: str | None


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file whose end is not indexed."""

    path: str
    limit: str  # the limit that the file exceeds, such as "maxFileBytes"
    missing_share: float  # the share of the text that is not indexed, 0 to 1


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """The status of the index of commits."""

    index_dir: str
    commits: int  # the number of commits that are indexed
    index_bytes: int
    is_complete: bool  # whether all commits that `maxHistoryCommits` allows are indexed
    # why answers from the commits may be incomplete: commits, removed definitions or changed lines
    # are not indexed, or not yet
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageStatus:
    """The status of the vectors of images."""

    model: str  # the name of the model, or the URL of a server that chooses the model
    embedded: int  # the number of images with a vector of this model
    total: int  # the number of images that are known and can be embedded
    reason: str = ""  # why the last attempt to embed images failed; "" if it succeeded


@dataclass(frozen=True, slots=True)
class RevisionStatus:
    """The status of the indexes of earlier versions."""

    index_dir: str
    revisions: int  # the number of earlier versions that are indexed now
    index_bytes: int


@dataclass(frozen=True, slots=True)
class DependencyPackage:
    """A package that a project depends on."""

    name: str
    # the installed version; for a missing package, the version in the lock file, or ""
    version: str
    locked: str = ""  # the version in the lock file; "" if the file names none
    files: int = 0  # the number of indexed files
    remedy: str = ""  # the command that installs a missing package; "" for an installed one


@dataclass(frozen=True, slots=True)
class DependencyStatus:
    """The status of the index of the packages that a project depends on."""

    index_dir: str  # shared by all projects, unless the user chose the index directory
    index_bytes: int  # the size for the packages of all projects that share the folder
    projects: int  # the number of projects that share the folder
    age_seconds: float  # the time since the packages of this project were last indexed
    # the packages that can be searched, in the order of the lock files
    packages: tuple[DependencyPackage, ...]
    missing: tuple[DependencyPackage, ...]  # the packages that are not installed
    refused: tuple[str, ...]  # a message for each unread path outside the project
    lock_files: tuple[str, ...]  # the paths of the files that list the packages

    @property
    def other_versions(self) -> tuple[DependencyPackage, ...]:
        """The packages whose installed version differs from the version in the lock file."""
        return tuple(one for one in self.packages if one.locked not in ("", one.version))


@dataclass(frozen=True, slots=True)
class AddedSource:
    """A source of outside knowledge that the user added."""

    name: str
    address: str  # a URL, or an absolute path
    kind: str  # web, folder, sphinx, devdocs, dash, mdn, stack-exchange or llms.txt
    documents: int
    chars: int  # the total length of the documents
    age_seconds: float  # the time since the documents were last read
    weight: float  # the factor by which the scores of the results are multiplied
    note: str = ""  # why the source was not read completely; "" if it was
    trust: Literal["external"] = "external"
    # why `add` or `refresh` could not read the source, so that the documents that were read earlier
    # were kept; "" if the source could be read
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ExternalStatus:
    """The status of the index of the added sources."""

    index_dir: str
    index_bytes: int
    sources: tuple[AddedSource, ...]  # sorted by name


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The status of an index. Reading it does not update the index."""

    root: str
    index_dir: str
    exists: bool
    generation: int
    files: int
    chunks: int
    index_bytes: int
    source_bytes: int
    age_seconds: float | None  # the time since the last successful run
    model: str
    languages: Mapping[str, int]  # language -> number of files
    encodings: Mapping[str, int]  # encoding -> number of files
    skipped: Mapping[str, int]  # reason -> number of files
    skipped_files: tuple[tuple[str, str], ...]  # (path, reason), sorted by path
    pending: int  # the number of files that have changed since the last run
    # the number of chunks that only full-text search finds, because they are not embedded yet
    pending_embeddings: int
    # the share of the text of the indexed files that is not indexed, 0 to 1
    skipped_text_share: float
    unused_settings: tuple[str, ...] = ()  # configured keys that have no effect, with the reasons
    backends: tuple[BackendStatus, ...] = ()  # the states of the search backends on servers
    pending_since: str | None = None  # when the oldest pending chunk was indexed; ISO 8601, UTC
    pending_reason: str = ""  # the reason why embedding failed; "" if it succeeded
    pending_retry_at: str | None = None  # the time of the next attempt; None: at the next update
    model_note: str = ""  # the reason why the configured model is not used; "" if it is used
    watcher: WatcherStatus | None = None  # None if no watcher runs
    plugins: tuple[str, ...] = ()  # kind and name of each loaded plugin
    broken_plugins: tuple[str, ...] = ()  # the reason for each plugin that was not loaded
    partial_files: tuple[PartialFile, ...] = ()  # sorted by path
    # Maps the files and folders at the top of the folder that are not indexed, because of an ignore
    # file or of their names, to the rule that excludes them. Sorted by path.
    excluded: Mapping[str, str] = field(default_factory=dict)
    undated_files: int = 0  # the number of files whose last commit is not known
    undated_reason: str = ""  # the reason why the commits are not known; "" if all are known
    history: HistoryStatus | None = None  # None if no commit is indexed
    revisions: RevisionStatus | None = None  # None if no earlier version is indexed
    dependencies: DependencyStatus | None = None  # None if no packages are indexed
    external: ExternalStatus | None = None  # None if no source was added
    images: ImageStatus | None = None  # None if `imageEmbeddingEndpoint` is empty


def ignore_progress(done: int, total: int) -> None:
    """Do nothing. Callers that show no progress pass this ProgressCallback."""


def ignore_warning(message: str) -> None:
    """Do nothing. Callers that show no warnings pass this WarningCallback."""
