"""The part of the public API that compares documents with the code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from rootle.app.base import AppBase
from rootle.errors import RootleError
from rootle.serialization.json import check_text, check_texts
from rootle.types import DriftAnswer, Memory, PlaceLinks, ProgressCallback, ignore_progress


class LinksApi(AppBase):
    """Links documents and code, and finds documents that no longer match the code."""

    def links(self, place: str) -> PlaceLinks:
        """Return the documents, tests, uses and last commits of a piece of code.

        For a section of a document, return its last commits and the definitions that it names.
        `place` is "path:120", "path:10-20" or "path#name". The index is updated first if a check
        for changes is due. The commits are those that git lists; the files that a commit changed
        are named only if the commit is indexed. Raises SourceError if there is no such place.
        """
        check_text("place", place)
        from rootle.links.place_links import LinkSources, find_links
        from rootle.provenance.explain import list_last_changes
        from rootle.provenance.place import find_place
        from rootle.search.search_trace import collect_searches

        container = self._container
        container.refresher().refresh(ignore_progress, fully=False)
        commits = container.history().existing_commit_search()
        sources = LinkSources(
            container.indexer().snapshot,
            container.symbol_finder(),
            partial(self._search_files, explain=False),
            None if commits is None else commits.view(),
            lambda place, count: list_last_changes(place, container.documents(), count),
        )
        with collect_searches():  # the user did not make these searches, so they are not logged
            return find_links(find_place(place, container.documents()), sources)

    def drift(
        self, paths: Sequence[str] = (), on_progress: ProgressCallback | None = None
    ) -> DriftAnswer:
        """Return outdated names (gone or changed) in documents, comments and memories.

        `paths` limits the check to some files and folders. A name is reported only if there is
        evidence that it belonged to this project: a commit removed it, or the text names it as part
        of a class, module or folder that still exists. The index and the index of the commits are
        updated first. `on_progress` receives two numbers: how many files and texts have been read
        and checked, and how many there are. The second number increases once, when the texts become
        known.

        Raises QueryError if a path is not indexed.
        """
        paths = check_texts("paths", paths)
        from rootle.links.drift.find_drift import find_drift

        container = self._container
        container.refresher().refresh(ignore_progress, fully=False)
        return find_drift(
            paths,
            container.indexer().snapshot(),
            container.symbol_finder(),
            container.history().project_reader(),
            container.history().require_commits(),
            container.history().removed_definitions(),
            self._list_memories,
            lambda path: os.path.lexists(self.root / path),
            on_progress or ignore_progress,
        )

    def _list_memories(self) -> Sequence[Memory]:
        """Return the memories of this project; none if they are disabled or cannot be listed."""
        from rootle.memory.factory import existence_check

        config = self.config
        if not (config.memory_store and existence_check(config)()):
            return ()
        try:
            found = self._container.memory().list_memories()
        except RootleError as error:
            self._on_warning(f"memories are not checked: {error}")
            return ()
        root = os.path.realpath(self.root)
        return [
            memory
            for memory in found
            if root in memory.stored_in or any(about.root == root for about in memory.about)
        ]
