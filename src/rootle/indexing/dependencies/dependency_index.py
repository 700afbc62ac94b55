"""The index of the packages that a project depends on. Projects share equal contents."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, Config
from rootle.errors import IndexStorageError, QueryError
from rootle.index.local.database import storage_errors
from rootle.index.local.index_dir import delete_cache_markers, make_cache_folder
from rootle.index.local.writer_lock import LOCK_NAME, writer_lock
from rootle.index.reader import FileState
from rootle.indexing.dependencies.package_catalog import (
    PackageCatalog,
    read_catalog,
    write_catalog,
)
from rootle.indexing.shared.shared_store import SharedStore, StoreSetup, ViewContent
from rootle.indexing.shared.view_folders import (
    STORE_NAME,
    delete_all,
    delete_leftovers,
    delete_unused,
    delete_view,
    list_views,
    note_use,
    settings_dir,
    short_digest,
)
from rootle.indexing.status import measure_folder
from rootle.sources.packages.content_hashes import ContentHashes, hashes_path
from rootle.sources.packages.dependency_listing import (
    DependencyListing,
    Extent,
    list_dependencies,
    make_environment,
)
from rootle.sources.packages.package_source import HashedFiles, PackageSource
from rootle.sources.source import Source
from rootle.storage.paths import package_catalog_path, project_key
from rootle.storage.permissions import make_subfolder
from rootle.types import (
    DependencyPackage,
    DependencyStatus,
    ProgressCallback,
    WarningCallback,
    ignore_progress,
)

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder

# The maximum number of indexed projects. Projects share contents, so each further project takes
# only the space of the contents that no other project has.
_MAX_PROJECTS: Final = 24
_VIEW: Final = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
_SOURCE: Final = "deps"  # the source name of all documents in a view
# Names of top-level folders in packages that are not the names of modules.
_PLAIN_FOLDERS: Final = frozenset(
    "src lib dist docs doc examples bin types scripts esm cjs".split()
)
_MAX_ALIASES: Final = 20
_MAX_NAMED: Final = 3  # packages in an error message


@dataclass(frozen=True, slots=True)
class DependencySetup:
    """The project, the location of the indexes, and how they are built."""

    root: Path
    folder: Path  # contains the indexes of all projects
    config: Config  # the result of `dependency_config`
    choose_model: Callable[[], ModelChoice]
    open_embedder: Callable[[], Embedder]
    on_warning: WarningCallback


def dependency_config(config: Config) -> Config:
    """Return the configuration for indexing packages, without search and embedding servers.

    All projects use the same model, so that they can share contents.
    """
    return replace(
        config,
        embedding_model_id=DEFAULT_MODEL,
        embedding_endpoint="",
        dense_backend=EMBEDDED,
        sparse_backend=EMBEDDED,
        plugins=(),
        max_chunks_per_file=0,
        ocr="off",  # images in packages are not read
    )


class DependencyIndex:
    """Indexes the packages of one project. Thread-safe and process-safe."""

    def __init__(self, setup: DependencySetup) -> None:
        self._setup = setup
        self._root = os.path.realpath(setup.root)
        self._hashes: ContentHashes | None = None  # loaded by the first call of `prepare`
        self._lock = threading.Lock()
        self._store_setup = StoreSetup(setup.config, setup.choose_model, setup.open_embedder)
        self._catalog_path = package_catalog_path(setup.folder, self._root)

    @property
    def catalog(self) -> PackageCatalog | None:
        """The packages as of the last update; None if none were indexed."""
        return read_catalog(self._catalog_path)

    def prepare(
        self, on_progress: ProgressCallback = ignore_progress, *, is_search: bool = True
    ) -> Path:
        """Return the folder with the index of the packages that are installed now.

        Packages are listed again, and only changed files are read. Raise QueryError if the project
        names no packages or none is installed, and IndexStorageError if the index cannot be
        written. If `is_search`, error messages suggest how to change the search.
        """
        config = self._setup.config
        if config.dependencies == "off":
            raise QueryError("dependencies is off; set it to direct or all to search packages")
        if not config.enable_indexing:
            return self._find_latest()
        extent: Extent = "all" if config.dependencies == "all" else "direct"
        environment = make_environment(self._root, config.dependency_folders, os.environ)
        listing = list_dependencies(environment, extent)
        _check_not_empty(listing, is_search=is_search)
        if not self._setup.folder.is_dir():
            make_cache_folder(self._setup.folder)
        with self._lock:
            hashes = self._open_hashes()
            files = hashes.add_to(listing.packages)
            view = self._view_path(files)
            if not view.is_dir():
                self._create(view, files, on_progress)
            with storage_errors(self._setup.folder):
                hashes.save()
                self._save_catalog(view, listing)
        note_use(view)
        return view

    def discard(self) -> None:
        """Delete the indexes of all projects, because they are damaged."""
        with self._hold_lock(), storage_errors(self._setup.folder):
            delete_all(self._setup.folder)

    def clear(self) -> bool:
        """Delete the index of this project; return False if there was none.

        Contents that other projects use are kept. If no other project is left, the folder is
        deleted.
        """
        folder = self._setup.folder
        if not os.path.isdir(folder):
            return False
        self._hashes = None
        with self._hold_lock(), storage_errors(folder):
            had_catalog = self._catalog_path.exists()
            for view in self._own_views():
                delete_view(view)
            self._catalog_path.unlink(missing_ok=True)
            hashes_path(folder, self._root).unlink(missing_ok=True)
            delete_leftovers(folder, _is_view)
            if any(path.is_dir() for path in folder.iterdir()):
                return had_catalog
            for path in folder.glob("*.json"):
                path.unlink()
            delete_cache_markers(folder)
            # Delete the lock file while it is locked: a waiting process then creates a new one.
            (folder / LOCK_NAME).unlink()
        with suppress(OSError):  # another process starts a new index
            folder.rmdir()
        return had_catalog

    def status(self) -> DependencyStatus | None:
        """Return the packages as of the last update; None if none are indexed."""
        catalog, folder = self.catalog, self._setup.folder
        if catalog is None or not (folder / catalog.view).is_dir():
            return None
        projects = {view.name.partition("-")[0] for view in list_views(folder, _is_view)}
        return DependencyStatus(
            str(folder),
            measure_folder(folder),
            len(projects),
            max(0.0, time.time() - catalog.indexed_s),
            catalog.packages,
            catalog.missing,
            catalog.refused,
            catalog.lock_files,
        )

    def _open_hashes(self) -> ContentHashes:
        if self._hashes is None:
            path = hashes_path(self._setup.folder, self._root)
            self._hashes = ContentHashes(path, self._setup.config.max_file_bytes)
        return self._hashes

    def _find_latest(self) -> Path:
        catalog = self.catalog
        if catalog is not None and (self._setup.folder / catalog.view).is_dir():
            return self._setup.folder / catalog.view
        raise IndexStorageError(
            "no packages are indexed, and enableIndexing is false; set it to true to index them"
        )

    def _view_path(self, files: HashedFiles) -> Path:
        settings = settings_dir(self._setup.folder, self._store_setup.fingerprint)
        state = short_digest(
            "\n".join(f"{uri} {digest}" for uri, (_, digest) in sorted(files.files.items())), 8
        )
        return settings / f"{project_key(self._root)}-{state}"

    def _own_views(self) -> list[Path]:
        key = project_key(self._root)
        views = list_views(self._setup.folder, _is_view)
        return [view for view in views if view.name.startswith(f"{key}-")]

    def _create(self, view: Path, files: HashedFiles, on_progress: ProgressCallback) -> None:
        with self._hold_lock(), storage_errors(self._setup.folder):
            if view.is_dir():  # another process has just created it
                return
            delete_unused(self._setup.folder, view, _is_view, _MAX_PROJECTS)
            make_subfolder(view.parent)
            store = SharedStore(self._store_setup, view.parent / STORE_NAME)

            def open_source(uris: Collection[str]) -> nullcontext[Source]:
                chosen = HashedFiles({uri: files.files[uri] for uri in uris})
                max_bytes = self._setup.config.max_file_bytes
                return nullcontext(PackageSource(view.name, chosen, max_bytes))

            views = list_views(self._setup.folder, _is_view)
            others = [path for path in views if path.parent == view.parent]
            content = ViewContent(view.name, files.entries(), open_source)
            states = store.add(content, others, on_progress)
            store.publish(view, map(_as_package_file, states), (), lambda _: None)
            for other in self._own_views():
                if other != view:
                    delete_view(other)

    def _save_catalog(self, view: Path, listing: DependencyListing) -> None:
        """Store the list of packages, if it has changed."""
        found = PackageCatalog(
            view.relative_to(self._setup.folder).as_posix(),
            tuple(
                DependencyPackage(one.name, one.version, one.locked, len(one.files))
                for one in listing.packages
            ),
            tuple(
                DependencyPackage(one.name, one.version, one.version, remedy=one.remedy)
                for one in listing.missing
            ),
            listing.refused,
            listing.locks,
            dict(_list_aliases(listing)),
            listing.unsearched,
        )
        known = self.catalog
        if known is None or replace(known, indexed_s=0.0) != found:
            write_catalog(self._catalog_path, found)

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        def on_wait() -> None:
            self._setup.on_warning("waiting for another rootle process that is indexing packages")

        make_cache_folder(self._setup.folder)
        with writer_lock(self._setup.folder, -1, on_wait):
            yield


def _check_not_empty(listing: DependencyListing, *, is_search: bool) -> None:
    if listing.packages:
        return
    if not listing.locks:
        instead = "leave out in:deps" if is_search else "name the folder that has one"
        raise QueryError(
            "this folder has no lock file or list of dependencies, so there are no packages to "
            f"search; {instead}"
        )
    by_remedy: dict[str, list[str]] = {}
    for one in listing.missing:
        by_remedy.setdefault(one.remedy, []).append(one.name)
    remedies = [f"run `{remedy}` for {_name_some(names)}" for remedy, names in by_remedy.items()]
    if not remedies and is_search:
        remedies = ["leave out in:deps"]
    remedies.append("set dependencyFolders to the environment that contains them")
    verb = "names" if len(listing.locks) == 1 else "name"
    refused = f"; {listing.refused[0]}" if listing.refused else ""
    raise QueryError(
        f"none of the packages that {' and '.join(listing.locks)} {verb} is installed; "
        f"{', or '.join(remedies)}{refused}"
    )


def _name_some(names: Sequence[str]) -> str:
    """Return the first names of a list, followed by "and others" if there are more."""
    shown = ", ".join(names[:_MAX_NAMED])
    return f"{shown} and others" if len(names) > _MAX_NAMED else shown


def _list_aliases(listing: DependencyListing) -> Iterator[tuple[str, str]]:
    """Yield pairs of a lowercase name that a question may use for a package, and the package."""
    for package in listing.packages:
        tops = {file.path.partition("/")[0] for file in package.files if "/" in file.path}
        names = sorted(top for top in tops if top.lower() not in _PLAIN_FOLDERS)[:_MAX_ALIASES]
        is_folder = any(file.root.endswith("site-packages") for file in package.files)
        for alias in names if is_folder else ():
            yield alias.lower().lstrip("_"), package.name
        scope, _, last = package.name.rpartition("/")
        # The last part is not used if it is the version of a Go module, or if the scope is
        # "@types", because a package such as "@types/node" contains only types.
        if scope != "@types" and not re.fullmatch(r"v\d+", last):
            yield last.lower().replace("_", "-"), package.name
    for package in listing.packages:
        yield package.name.lower(), package.name


def _is_view(name: str) -> bool:
    return _VIEW.fullmatch(name) is not None


def _as_package_file(state: FileState) -> FileState:
    """Return the state of a stored document in a view, without dates.

    The dates of package files say only when the package was installed.
    """
    return state._replace(source=_SOURCE, mtime_ns=0, ctime_ns=0, committed_s=None, is_dirty=False)
