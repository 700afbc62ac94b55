"""The part of the public API that indexes the packages that a project depends on."""

from __future__ import annotations

from rootle.app.base import AppBase
from rootle.errors import IndexStorageError
from rootle.types import DependencyStatus, ProgressCallback, ignore_progress


class DependencyApi(AppBase):
    """Indexes installed packages."""

    def index_dependencies(self, on_progress: ProgressCallback | None = None) -> DependencyStatus:
        """Index the installed packages that the lock files of the folder name.

        A search with `in:deps` does this too, without reporting progress. Only changed files are
        read. Raises QueryError if `dependencies` is off, or if no package is named or installed,
        and IndexStorageError if the index cannot be written.
        """
        self._check_may_write()
        index = self._container.dependencies().index()
        index.prepare(on_progress or ignore_progress)
        status = index.status()
        if status is None:
            raise IndexStorageError("the index of the packages was deleted just now; try again")
        return status
