"""Pipeline stage: narrow the scope with the file filters of plugins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.index.reader import FileState
from rootle.plugins.registry import FileFacts, FoundPlugin, call_plugin, make_component
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.session import Session

FileFilter = Callable[[FileFacts], bool]


class PluginFilters:
    """Calls each filter for each file once per session, within a deadline."""

    def __init__(self, found: Mapping[str, FoundPlugin], timeout_ms: int) -> None:
        self._filters = [
            (item, DeadlineExecutor(f"filter {name}", timeout_ms)) for name, item in found.items()
        ]
        self._allowed: WeakKeyDictionary[Session, frozenset[int] | None] = WeakKeyDictionary()

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery:
        """Restrict the scope to the files that all filters allow.

        A filter that fails or exceeds its deadline is skipped, named in `degraded`, and called
        again by the next query.
        """
        failed: tuple[str, ...] = ()
        session = request.session
        if session in self._allowed:
            allowed = self._allowed[session]
        else:
            allowed, failed = self._call_filters(session.index.all_files())
            if not failed:
                self._allowed[session] = allowed
        if allowed is not None and scoped.files is not None:
            allowed = allowed.intersection(scoped.files)
        files = scoped.files if allowed is None else allowed
        return replace(scoped, files=files, degraded=(*scoped.degraded, *failed))

    def close(self) -> None:
        """Stop the threads."""
        for _, executor in self._filters:
            executor.close()

    def _call_filters(
        self, files: Sequence[FileState]
    ) -> tuple[frozenset[int] | None, tuple[str, ...]]:
        """Return the ids of the allowed files, and the names of the filters that failed.

        The ids are None if every filter failed.
        """
        calls = [
            (item, executor.start(partial(_allowed_ids, item, files)))
            for item, executor in self._filters
        ]
        answers = [(item, call.result()) for item, call in calls]
        failed = tuple(f"filter {item.plugin.name}" for item, ids in answers if ids is None)
        known = [ids for _, ids in answers if ids is not None]
        return (frozenset.intersection(*known) if known else None), failed


def _allowed_ids(found: FoundPlugin, files: Sequence[FileState]) -> frozenset[int]:
    allows: FileFilter = make_component(found)
    return frozenset(
        call_plugin(found, lambda: [state.id for state in files if allows(_facts(state))])
    )


def _facts(state: FileState) -> FileFacts:
    return FileFacts(state.path, state.language, state.size, state.last_modified_s)
