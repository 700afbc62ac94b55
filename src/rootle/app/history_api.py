"""The part of the public API that answers questions about the git history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rootle.app.base import AppBase
from rootle.serialization.folder_filter import relative_filters
from rootle.serialization.json import apply_filters, check_integer, check_text, check_texts
from rootle.types import (
    Filters,
    HistoryReport,
    ImpactAnswer,
    ProgressCallback,
    RemovalAnswer,
    SearchQuery,
    WhyAnswer,
    ignore_progress,
)


class HistoryApi(AppBase):
    """Answers questions about commits and earlier versions."""

    def why(self, place: str, *, limit: int | None = None) -> WhyAnswer:
        """Return commits, documents and memories that explain why a file contains the given lines.

        `place` is "path:120", "path:10-20" or "path#function". At most `limit` commits are
        returned, 5 by default, best explanation first. Documents are searched only if there is an
        index. Raises SourceError if there is no such place, and QueryError if the limit is out of
        range or an argument has the wrong type.
        """
        check_text("place", place)
        check_integer("limit", limit)
        from rootle.provenance.explain import explain_place
        from rootle.provenance.mentions import add_mentions, list_names
        from rootle.search.search_trace import collect_searches

        found, answer = explain_place(place, self._container.documents(), limit)
        memories = self._container.memories_about([found.whole.source], list_names(found))
        answer = replace(answer, memories=memories)
        if not self._container.indexer().state.has_complete_index():
            return answer
        find = partial(self._search_files, explain=False)
        with collect_searches():  # the user did not make these searches, so they are not logged
            return add_mentions(found, answer, self._container.indexer().snapshot, find)

    def gone(
        self,
        query: str,
        limit: int | None = None,
        *,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> RemovalAnswer:
        """Return removed pieces of code, best match first, each with the commit that removed it.

        `query` describes the code, names a definition ("retry_404"), or quotes text of the code.
        The operators `path:`, `lang:`, `author:`, `since:` and `until:` in `query`, and `filters`,
        restrict the files and the commits. At most `limit` removals are returned, 5 by default.
        Code that was moved or renamed is not returned. If `query` is the name of definitions that
        still exist, a suggestion says where. The index and the index of the commits are updated
        first. If some commits could not be searched, `degraded` contains "history", and the first
        suggestion says how many were searched, and why the others were not.

        Raises QueryError for an invalid query or limit, and if no commits can be searched.
        """
        check_text("query", query)
        check_integer("limit", limit)
        from rootle.app.changed_places import find_removed_code
        from rootle.history.revision_dates import resolve_dates

        text = resolve_dates(query, self._container.history().find_date, in_words=False)
        request = relative_filters(apply_filters(text, filters), self.root)
        self._container.refresher().refresh(ignore_progress, fully=False)
        answer = find_removed_code(self._container, request, limit)
        return replace(answer, query=query)

    def impact(
        self, change: str | Sequence[str] | None = None, limit: int | None = None
    ) -> ImpactAnswer:
        """Return the files that probably change together with the given ones, most probable first.

        `change` is a list of paths, a path, the text of a diff, a commit such as "HEAD~1", a range
        such as "main..topic", or a task in words. For a task, the files are found by a search. If
        `change` is None, the uncommitted changes of the work tree are used. At most `limit` files
        are returned, 10 by default. The index and the index of the commits are updated first.

        Raises QueryError for an invalid limit, for a path that is not indexed, if nothing has
        changed, and if no commits can be searched.
        """
        if change is not None and not isinstance(change, str):
            change = check_texts("change", change)
        check_integer("limit", limit)
        from rootle.history.impact import find_impact
        from rootle.history.impact_seeds import find_seeds
        from rootle.ingest.reference_syntax import parse_reference

        self._container.refresher().refresh(ignore_progress, fully=False)
        indexer = self._container.indexer()
        seeds = find_seeds(
            change,
            indexer.snapshot(),
            self._list_changed,
            self._find_task_files,
            lambda text: (reference.path for reference in parse_reference(text)),
            self._container.history().list_committed,
        )
        history = self._container.history()
        return find_impact(seeds, limit, history.require_commits, indexer.snapshot)

    def index_history(self, on_progress: ProgressCallback | None = None) -> HistoryReport:
        """Index all commits that `maxHistoryCommits` allows, and wait until this is done.

        The definitions that these commits removed are indexed too. `on_progress` receives the
        progress of both, in estimated bytes, as one number. If this method is not called,
        the first question about the past starts indexing in the background. Raises
        IndexStorageError if no commits can be indexed, for example outside of git repositories.
        """
        self._check_may_write()
        from rootle.app.history_components import index_commits

        return index_commits(self._container.history(), on_progress or ignore_progress)

    def index_revision(self, name: str, on_progress: ProgressCallback | None = None) -> None:
        """Index the files of a commit, unless they are indexed already.

        `name` is a hash, tag, branch or date. A search of the commit does this too, without
        reporting progress. The last eight revisions that were searched are kept. Raises QueryError
        if there is no such commit.
        """
        check_text("name", name)
        indexes = self._container.history().revision_indexes()
        indexes.prepare(indexes.find(name), on_progress or ignore_progress)

    def _list_changed(self) -> Sequence[str]:
        from rootle.sources.git.repository import list_changed_files

        return sorted(list_changed_files(self.root))

    def _find_task_files(self, task: str, count: int) -> Sequence[str]:
        query = SearchQuery(task, limit=count)
        return [found.file_path for found in self._search_files(query, explain=False).results]
