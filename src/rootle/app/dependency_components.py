"""Create the components that search the packages of a project, on first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rootle.app.configured_models import ComponentSetup
from rootle.config.fields import DEFAULT_MODEL
from rootle.errors import IndexMissingError, IndexStorageError, SourceError
from rootle.index.local.index_dir import DEPENDENCIES_DIR
from rootle.storage.paths import default_index_dir, package_catalog_path, shared_cache_dir
from rootle.types import PACKAGE_URI, ResultKind, SearchQuery, SearchResponse

if TYPE_CHECKING:
    from rootle.federation.collection import Position
    from rootle.federation.dependency_collection import DependencyCollection, KnownPackages
    from rootle.index.local.snapshot_source import SnapshotSource
    from rootle.index.reader import IndexReader
    from rootle.indexing.dependencies.dependency_index import DependencyIndex
    from rootle.ingest.source_refs import DocumentSet
    from rootle.search.agent import SearchAgent
    from rootle.search.query.operators import ParsedQuery

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class InstalledPackages:
    """The collection of packages, loaded only if packages are indexed or a query needs it."""

    components: DependencyComponents

    @property
    def kind(self) -> ResultKind:
        """The value of `in:` that names the collection."""
        return "deps"

    def find_position(self, question: ParsedQuery) -> Position | None:
        """Return where to show results of packages for a question; None to show none."""
        if not os.path.exists(self.components.catalog_path):
            return None
        return self.components.collection().find_position(question)

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Return one page of the packages that are installed now."""
        return self.components.collection().search(query, explain=explain)


class DependencyComponents:
    """The components of one app that search packages. Thread-safe."""

    def __init__(self, setup: ComponentSetup, open_project: Callable[[], IndexReader]) -> None:
        """`open_project` returns the index of the files."""
        self._root = setup.root
        self._index_dir = setup.index_dir
        self._config = setup.config
        self._models = setup.models
        self._on_warning = setup.on_warning
        self._open_project = open_project
        self._lock = threading.Lock()  # never held for long
        # Held while packages are indexed. Questions about the project do not need it.
        self._open_lock = threading.RLock()
        self._index: DependencyIndex | None = None
        self._opened: tuple[Path, SnapshotSource, SearchAgent] | None = None
        self._known: tuple[object, KnownPackages | None] | None = None

    def close(self) -> None:
        """Close all components; they are created again when they are needed."""
        with self._open_lock:
            opened, self._opened = self._opened, None
            if opened is not None:
                opened[2].close()
                opened[1].close()

    def index(self) -> DependencyIndex:
        """Return the index of the packages."""
        from rootle.indexing.dependencies.dependency_index import (
            DependencyIndex,
            DependencySetup,
            dependency_config,
        )

        with self._lock:
            if self._index is None:
                config = dependency_config(self._config)
                self._index = DependencyIndex(
                    DependencySetup(
                        self._root,
                        self._folder,
                        config,
                        choose_model=self._models.shipped_choice,
                        open_embedder=self._models.shipped_embedder,
                        on_warning=self._on_warning,
                    )
                )
            return self._index

    def existing_index(self) -> DependencyIndex | None:
        """Return the index of the packages; None if its folder does not exist."""
        return self.index() if os.path.isdir(self._folder) else None

    def collection(self) -> DependencyCollection:
        """Return the collection of the packages."""
        from rootle.federation.dependency_collection import DependencyCollection

        def search(query: SearchQuery, explain: bool) -> SearchResponse:
            return self._open(lambda _, agent: agent.search(query, explain=explain))

        return DependencyCollection(self.read_known, search, self._count_mentions)

    def read_installed(self, read: Callable[[IndexReader], _T]) -> _T:
        """Return the result of `read` for the index of the packages that are installed now."""
        return self._open(lambda source, _: read(source.current()))

    def read_index(self, read: Callable[[IndexReader], _T]) -> _T:
        """Return the result of `read` for the index that the last search used.

        If there was a search, the installed packages are not checked again, because a caller reads
        the lines of a result right after the search.
        """
        opened = self._opened
        if opened is not None:
            with suppress(IndexStorageError):
                return read(opened[1].current())
        return self.read_installed(read)

    def documents(self) -> DocumentSet:
        """Return the files of packages that `App.read` can read.

        Raise SourceError if no packages are indexed.
        """
        from rootle.indexing.fingerprint import walk_rules
        from rootle.ingest.source_refs import DocumentSet

        if self.read_known() is None:
            raise SourceError(
                f"no packages are indexed, so nothing that begins with {PACKAGE_URI} can be read; "
                "search with in:deps first"
            )
        return DocumentSet(
            self._root,
            walk_rules(self._config),
            lambda: self.read_index(lambda index: index),
        )

    def read_known(self) -> KnownPackages | None:
        """Return the packages that were last indexed; None if no packages are indexed.

        This reads a small file, and only if it has changed.
        """
        path = self.catalog_path
        try:
            info = os.stat(path)
        except OSError:
            return None
        state = info.st_mtime_ns, info.st_size, info.st_ino
        with self._lock:
            if self._known is None or self._known[0] != state:
                self._known = state, _read_known(path)
            return self._known[1]

    @cached_property
    def catalog_path(self) -> Path:
        """The file that lists the indexed packages, if there are any."""
        return package_catalog_path(self._folder, os.path.realpath(self._root))

    @cached_property
    def _folder(self) -> Path:
        """The folder of the indexes.

        All projects share this folder. If the user chose an index directory, the folder is inside
        it.
        """
        if self._index_dir != default_index_dir(self._root):
            return self._index_dir / DEPENDENCIES_DIR
        return shared_cache_dir(DEPENDENCIES_DIR)

    def _open(self, use: Callable[[SnapshotSource, SearchAgent], _T]) -> _T:
        """Call `use` with the index; if it was damaged or deleted, recreate it and retry once."""
        try:
            return use(*self._open_current())
        except IndexStorageError as error:
            if isinstance(error.__cause__, OSError) or not self._config.enable_indexing:
                raise
            self.close()
            if not isinstance(error, IndexMissingError):
                self.index().discard()
        return use(*self._open_current())

    def _open_current(self) -> tuple[SnapshotSource, SearchAgent]:
        from rootle.federation.dependency_collection import NamedPackageScope
        from rootle.index.local.snapshot_source import SnapshotSource
        from rootle.indexing.dependencies.dependency_index import dependency_config
        from rootle.rank.rankers.registry import configured_ranker
        from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent

        with self._open_lock:
            view = self.index().prepare()
            if self._opened is not None and self._opened[0] == view:
                return self._opened[1], self._opened[2]
            self.close()
            source = SnapshotSource(view, read_only=not self._config.enable_indexing)
            agent = open_agent(
                SearchedIndex(
                    source.current,
                    self._models.shipped_embedder,
                    model=DEFAULT_MODEL,
                    narrow=NamedPackageScope(self.read_known),
                ),
                dependency_config(self._config),
                SearchFeatures(ranker=configured_ranker(self._config)),
            )
            self._opened = view, source, agent
            return source, agent

    def _count_mentions(self, name: str) -> int:
        """Return how many files of the project contain a name; 1,000 if the number is unknown."""
        try:
            sparse = self._open_project().sparse
        except IndexStorageError:
            return 1_000
        terms = sparse.stems(name)
        counts = sparse.file_frequencies(terms)[1] if terms else ()
        return min(counts, default=0)


def _read_known(path: Path) -> KnownPackages | None:
    from rootle.federation.dependency_collection import KnownPackages
    from rootle.indexing.dependencies.package_catalog import read_catalog

    found = read_catalog(path)
    if found is None:
        return None
    return KnownPackages(
        found.aliases, found.packages, found.missing, found.refused, found.unsearched
    )
