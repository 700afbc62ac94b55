"""The state of an index, and the callbacks that report its progress and changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

ProgressCallback = Callable[[int, int], None]  # receives bytes done and bytes in total
WarningCallback = Callable[[str], None]  # receives a message about a delay or a degradation

Health = Literal["fresh", "behind", "paused", "throttled", "failed", "gone"]


@dataclass(frozen=True, slots=True)
class Staleness:
    """The lag of an index behind its folder."""

    age_seconds: float  # since the index last matched the folder
    changed_files: int  # changed, added or deleted since then


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """The part of a folder that was searched while its first index was being built."""

    searched_bytes: int
    total_bytes: int  # of all files to index


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of one indexing run."""

    generation: int
    files_indexed: int  # read and written in this run
    files_removed: int
    files_total: int
    chunks_total: int
    chunks_embedded: int  # in this run; the other chunks keep their vectors
    bytes_indexed: int
    skipped: Mapping[str, int]  # reason -> number of skipped files, not only in this run
    seconds: float
    chunks_pending: int = 0  # searchable by keyword only until they are embedded
    pending_reason: str = ""  # reason why embedding failed; empty if it succeeded


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """The state of a search backend on a server at the last contact."""

    leg: str  # dense or sparse
    backend: str
    server: str
    index: str  # its name on the server; empty until something is written
    generation: int  # newest generation of the local index that was copied there; -1 for none
    waiting_files: int  # files that have changed in the local index since that generation
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
    last_commit_age_seconds: float | None  # since the index last matched the folder
    waiting: int  # files that have changed and are not indexed yet
    waiting_age_seconds: float | None
    min_interval_seconds: float  # between two updates; 0 unless throttled
    last_error: str | None


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file whose end is not indexed."""

    path: str
    limit: str  # the setting that it exceeds
    missing_share: float  # share of its text that is not indexed, 0 to 1


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """The status of the index of commits."""

    index_dir: str
    commits: int  # indexed so far
    index_bytes: int
    is_complete: bool  # whether all commits that `maxHistoryCommits` allows are indexed


@dataclass(frozen=True, slots=True)
class ImageStatus:
    """The status of the vectors of images."""

    model: str  # the name of the model, or the URL of a server that chooses the model
    embedded: int  # images with a vector of this model
    total: int  # images that are known to be suitable
    reason: str = ""  # why the last attempt to embed images failed; empty if it succeeded


@dataclass(frozen=True, slots=True)
class RevisionStatus:
    """The status of the indexes of earlier versions."""

    index_dir: str
    revisions: int  # that are indexed now
    index_bytes: int


@dataclass(frozen=True, slots=True)
class DependencyPackage:
    """A package that a project depends on."""

    name: str
    version: str  # that is installed; of a missing package, that in the lock file, or ""
    locked: str = ""  # the version in the lock file; "" if the file names none
    files: int = 0  # indexed
    remedy: str = ""  # the command that installs a missing package; "" for an installed one


@dataclass(frozen=True, slots=True)
class DependencyStatus:
    """The status of the index of the packages that a project depends on."""

    index_dir: str  # shared by all projects, unless the index directory was chosen
    index_bytes: int  # of the packages of all projects that share it
    projects: int  # that share it
    age_seconds: float  # since the packages of this project were last indexed
    packages: tuple[DependencyPackage, ...]  # that can be searched, in the order of the lock files
    missing: tuple[DependencyPackage, ...]  # that are not installed
    refused: tuple[str, ...]  # a message for each path outside the project that is not read
    lock_files: tuple[str, ...]  # paths of the files that name the packages

    @property
    def other_versions(self) -> tuple[DependencyPackage, ...]:
        """The packages whose installed version is not that in the lock file."""
        return tuple(one for one in self.packages if one.locked not in ("", one.version))


@dataclass(frozen=True, slots=True)
class AddedSource:
    """A source of outside knowledge that the user added."""

    name: str
    address: str  # a URL, or an absolute path
    kind: str  # web, folder, sphinx, devdocs, dash, mdn, stack-exchange or llms.txt
    documents: int
    chars: int  # of their texts
    age_seconds: float  # since they were last read
    weight: float  # factor of the scores of its results
    note: str = ""  # why it was not read completely; empty if it was
    trust: Literal["external"] = "external"


@dataclass(frozen=True, slots=True)
class ExternalStatus:
    """The status of the index of the added sources."""

    index_dir: str
    index_bytes: int
    sources: tuple[AddedSource, ...]  # by name


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
    age_seconds: float | None  # since the last successful run
    model: str
    languages: Mapping[str, int]  # language -> number of files
    encodings: Mapping[str, int]  # encoding -> number of files
    skipped: Mapping[str, int]  # reason -> number of files
    skipped_files: tuple[tuple[str, str], ...]  # (path, reason), sorted by path
    pending: int  # files that have changed since the last run
    pending_embeddings: int  # chunks that are searchable by keyword only for now
    skipped_text_share: float  # share of the text of the indexed files that is not indexed
    unused_settings: tuple[str, ...] = ()  # configured keys that have no effect, with the reasons
    backends: tuple[BackendStatus, ...] = ()  # of the search backends on servers
    pending_since: str | None = None  # when the oldest pending chunk was indexed; ISO 8601, UTC
    pending_reason: str = ""  # reason why embedding failed; empty if it succeeded
    pending_retry_at: str | None = None  # time of the next attempt; None: at the next update
    model_note: str = ""  # reason why the configured model is not used; empty if it is used
    watcher: WatcherStatus | None = None  # None if no watcher runs
    plugins: tuple[str, ...] = ()  # kind and name of each loaded plugin
    broken_plugins: tuple[str, ...] = ()  # for each plugin that was not loaded, the reason
    partial_files: tuple[PartialFile, ...] = ()  # sorted by path
    undated_files: int = 0  # files whose last commit is not known
    undated_reason: str = ""  # reason why it is not known; empty if there are no such files
    history: HistoryStatus | None = None  # None if no commit is indexed
    revisions: RevisionStatus | None = None  # None if no earlier version is indexed
    dependencies: DependencyStatus | None = None  # None if no packages are indexed
    external: ExternalStatus | None = None  # None if no source was added
    images: ImageStatus | None = None  # None if `imageEmbeddingEndpoint` is empty


def ignore_progress(done: int, total: int) -> None:
    """Do nothing. Callers that show no progress pass this ProgressCallback."""


def ignore_warning(message: str) -> None:
    """Do nothing. Callers that show no warnings pass this WarningCallback."""
