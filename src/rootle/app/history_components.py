"""Create the components for questions about commits and earlier versions, on first use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.app.configured_models import ComponentSetup
from rootle.config.fields import DEFAULT_MODEL, Config
from rootle.errors import IndexStorageError, QueryError
from rootle.index.local.index_dir import HISTORY_DIR, REMOVED_DIR, REVISIONS_DIR
from rootle.sources.git.git_dirs import find_git_folders
from rootle.storage.paths import default_index_dir, default_repository_dir
from rootle.types import HistoryReport, HistoryStatus, ProgressCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.history.commit_search import CommitSearch
    from rootle.history.removals.removed_definitions import RemovedDefinitions
    from rootle.history.revision_search import RevisionSearch
    from rootle.index.reader import IndexReader
    from rootle.indexing.commit_index import CommitIndex
    from rootle.indexing.revisions.revision_index import RevisionIndexes
    from rootle.links.drift.project_names import ProjectReader
    from rootle.search.agent import SearchAgent
    from rootle.search.stages.query_expansion import QueryExpansion
    from rootle.sources.git.commits.commit_source import ConvertCommit
    from rootle.sources.git.lines.commits_of_lines import ChangeLog

# The maximum time that a question about the past waits for new commits to be indexed.
_MAX_WAIT_S: Final = 10.0

# Opens a search pipeline for an index of earlier versions, with a given configuration and model.
OpenAgent = Callable[[Callable[[], "IndexReader"], Config, "ModelChoice"], "SearchAgent"]


class HistoryComponents:
    """The components of one app that read the git history. Thread-safe."""

    def __init__(
        self,
        setup: ComponentSetup,
        open_agent: OpenAgent,
        open_expansion: Callable[[], QueryExpansion | None],
    ) -> None:
        self._root = setup.root
        self._index_dir = setup.index_dir
        self._config = setup.config
        self._models = setup.models
        self._on_warning = setup.on_warning
        self._open_agent = open_agent
        self._open_expansion = open_expansion
        self._lock = threading.RLock()
        self._commit_indexes: dict[str, CommitIndex] = {}
        self._commit_agent: SearchAgent | None = None
        self._commit_search: CommitSearch | None = None
        self._commit_dir: Path | None = None
        self._revision_search: RevisionSearch | None = None
        self._change_log: ChangeLog | None = None
        self._project_reader: ProjectReader | None = None

    def close(self) -> None:
        """Close all components; they are created again when they are needed."""
        with self._lock:
            indexes = self._commit_indexes.values()
            for component in (self._commit_agent, *indexes, self._revision_search):
                if component is not None:
                    component.close()
            self._commit_agent = self._commit_search = self._revision_search = None
            self._commit_indexes.clear()

    def commit_index(self) -> CommitIndex | None:
        """Return the index of the repository's commits; None if no commits can be indexed."""
        from rootle.sources.git.commits.commit_document import make_document

        return self._open_commit_index(HISTORY_DIR, make_document)

    def removed_index(self) -> CommitIndex | None:
        """Return the index of removed definitions; None if no commits can be indexed."""
        from rootle.sources.git.commits.removed_document import make_removed_document

        return self._open_commit_index(REMOVED_DIR, make_removed_document)

    def commit_indexes(self) -> tuple[CommitIndex, ...]:
        """Return the indexes of the commits and of the removed definitions, if they exist."""
        found = (self.commit_index(), self.removed_index())
        return tuple(index for index in found if index is not None)

    def commit_status(self) -> HistoryStatus | None:
        """Return the status of the commit index; None if there is none.

        The size includes the index of removed definitions.
        """
        found = [index.status() for index in self.commit_indexes()]
        if not found or found[0] is None:
            return None
        size = sum(one.index_bytes for one in found if one)
        return replace(found[0], index_bytes=size, notes=tuple(self._describe_unread()))

    def _describe_unread(self) -> Iterator[str]:
        """Yield which parts of the history are missing from answers, and why."""
        search, removed = self.commit_search(), self.removed_definitions()
        if search is None:
            return
        view, reason = search.view_with_gap()
        yield from filter(None, (reason, search.updates.describe_rebuild()))
        definitions = None if removed is None else removed.view()
        if removed is not None and definitions is not None:
            missing = removed.updates.explain_gap()[0]
            if missing:
                yield f"removed definitions: {missing}"
        if view is not None:
            yield from search.describe_unread(view, definitions)

    def commit_search(self) -> CommitSearch | None:
        """Return the component that searches commits; None if no commits can be indexed."""
        from rootle.history.commit_search import CommitSearch

        with self._lock:
            commits = self.commit_index()
            if self._commit_search is None and commits is not None:
                self._commit_search = CommitSearch(
                    partial(self._open_commit_agent, commits), commits, _MAX_WAIT_S
                )
            return self._commit_search

    def require_commits(self) -> CommitSearch | str:
        """Return the component that searches commits, or the reason why there are none."""
        return self.commit_search() or f"no commits can be searched: {self.explain_no_commits()}"

    def explain_no_commits(self) -> str:
        """Return why no commits are indexed here."""
        from rootle.sources.git.commit_text import find_reason_to_hide

        if not self._config.max_history_commits:
            return "maxHistoryCommits is 0"
        return find_reason_to_hide(self._root) or f"{self._root} is not in a git repository"

    def removed_definitions(self) -> RemovedDefinitions | None:
        """Return the search of removed definitions; None if no commits can be indexed."""
        from rootle.history.removals.removed_definitions import RemovedDefinitions

        index = self.removed_index()
        return None if index is None else RemovedDefinitions(index, self._models.shipped_embedder)

    def existing_commit_search(self) -> CommitSearch | None:
        """Return the component that searches commits; None if none are indexed yet.

        Questions about files also call this method. It loads nothing if no commits are indexed.
        """
        opened = self._commit_search
        if opened is not None:  # the component itself detects a deleted index
            return opened
        # The repository is looked up only once, because this method runs for each question. If the
        # repository is replaced by another one, `commit_search` finds the new repository.
        if self._commit_dir is None:
            self._commit_dir = self._find_dir(HISTORY_DIR)
        folder = self._commit_dir
        return None if folder is None or not os.path.isdir(folder) else self.commit_search()

    def change_log(self) -> ChangeLog:
        """Return the component that asks git for the commits that changed lines or files."""
        from rootle.sources.git.lines.commits_of_lines import ChangeLog

        with self._lock:
            if self._change_log is None:
                self._change_log = ChangeLog()
            return self._change_log

    def project_reader(self) -> ProjectReader:
        """Return the component that reads the names of the project, to find outdated names."""
        from rootle.links.drift.project_names import ProjectReader

        with self._lock:
            if self._project_reader is None:
                self._project_reader = ProjectReader()
            return self._project_reader

    def find_date(self, revision: str) -> float | None:
        """Return the Unix time of a commit, tag or branch; None if there is none."""
        from rootle.sources.git.commits.commit_list import find_commit

        found = find_commit(os.path.realpath(self._root), revision)
        return None if found is None else float(found.seconds)

    def list_changed(self, older: str, newer: str) -> frozenset[str]:
        """Return the paths of the files that differ between two revisions.

        Raise QueryError if git cannot list them.
        """
        from rootle.sources.git.trees.changed_paths import list_changed_paths

        found = list_changed_paths(os.path.realpath(self._root), older, newer)
        if found is None:
            raise QueryError(
                f"git cannot compare the files of {older} and {newer}; use a commit, tag or branch "
                "that the clone contains, or a date such as since:2024-03-31"
            )
        return found

    def list_committed(self, name: str) -> frozenset[str] | None:
        """Return the paths of the files that a commit changed, or that differ in a range.

        In "a..b", the files differ between both ends; in "a...b", between the best common ancestor
        of both ends and "b". A merge changed the files that differ from its first parent. Return
        None if there is no such commit, or no common ancestor.
        """
        from rootle.sources.git.trees.changed_paths import list_changed_paths

        dots = "..." if "..." in name else ".."
        older, is_range, newer = name.partition(dots)
        ends = (older or "HEAD", newer or "HEAD") if is_range else (f"{name}^", name)
        return list_changed_paths(
            os.path.realpath(self._root), *ends, from_merge_base=dots == "..."
        )

    def find_revision_indexes(self) -> RevisionIndexes | None:
        """Return the indexes of earlier versions; None outside of git repositories."""
        from rootle.indexing.revisions.revision_index import RevisionIndexes, RevisionSetup

        folder = self._find_dir(REVISIONS_DIR)
        if folder is None:
            return None
        config, _ = self._revision_setup()
        return RevisionIndexes(
            RevisionSetup(
                self._root,
                folder,
                self._index_dir,
                config,
                choose_model=self._models.local_choice,
                open_embedder=self._models.local_embedder,
                on_warning=self._on_warning,
            )
        )

    def revision_indexes(self) -> RevisionIndexes:
        """Return the indexes of earlier versions.

        Raise QueryError if the folder is not in a git repository.
        """
        indexes = self.find_revision_indexes()
        if indexes is None:
            raise QueryError(
                f"{self._root} is not in a git repository, so it has no earlier versions to "
                "search; leave out the revision"
            )
        return indexes

    def revision_search(self) -> RevisionSearch:
        """Return the component that searches earlier versions.

        Raise QueryError if the folder is not in a git repository.
        """
        from rootle.history.revision_search import RevisionSearch

        with self._lock:
            if self._revision_search is None:
                self._revision_search = RevisionSearch(
                    self.revision_indexes(),
                    lambda open_index: self._open_agent(open_index, *self._revision_setup()),
                )
            return self._revision_search

    def _open_commit_index(self, name: str, convert: ConvertCommit) -> CommitIndex | None:
        """Return the index of the documents that `convert` creates from commits."""
        from rootle.indexing.commit_index import CommitIndex, commit_config
        from rootle.sources.git.commit_text import explain_hidden_commits

        with self._lock:
            if name not in self._commit_indexes and self._config.max_history_commits:
                folder = self._find_dir(name)
                if folder is None or explain_hidden_commits(self._root) is not None:
                    return None
                config = commit_config(self._config)
                self._commit_indexes[name] = CommitIndex(
                    self._root,
                    folder,
                    config,
                    choose_model=self._models.shipped_choice,
                    open_embedder=self._models.shipped_embedder,
                    on_warning=self._on_warning,
                    convert=convert,
                )
            return self._commit_indexes.get(name)

    def _find_dir(self, name: str) -> Path | None:
        """Return the folder for one kind of index of the repository; None outside of repositories.

        All work trees of a repository share the folder. If the user chose an index directory, the
        folder is inside it instead. `name` is the name of the folder, such as HISTORY_DIR.
        """
        git = find_git_folders(os.path.realpath(self._root))
        if git is None:
            return None
        if self._index_dir != default_index_dir(self._root):
            return self._index_dir / name
        return default_repository_dir(Path(git.common), name)

    def _open_commit_agent(self, commits: CommitIndex) -> SearchAgent:
        """Return the pipeline that searches commits, created when a question first needs it."""
        from rootle.history.changes.deciding_commits import rank_by_change
        from rootle.history.commit_search import VisibleCommits, list_period
        from rootle.indexing.commit_index import commit_config
        from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent

        with self._lock:
            if self._commit_agent is None:
                self._commit_agent = open_agent(
                    SearchedIndex(
                        commits.open_shown,
                        self._models.shipped_embedder,
                        model=DEFAULT_MODEL,
                        narrow=VisibleCommits(commits.find_visible),
                        list_period=partial(list_period, commits),
                    ),
                    commit_config(self._config),
                    SearchFeatures(stages=(rank_by_change,), expansion=self._open_expansion()),
                )
            return self._commit_agent

    def _revision_setup(self) -> tuple[Config, ModelChoice]:
        """Return the configuration and the model for earlier versions."""
        from rootle.indexing.revisions.revision_index import revision_config

        config = revision_config(self._config, is_table=self._models.model_choice().is_table)
        return config, self._models.local_choice()


def index_commits(history: HistoryComponents, on_progress: ProgressCallback) -> HistoryReport:
    """Index all commits and the definitions that they removed.

    Raise IndexStorageError if there are no commits to index, or if they cannot be indexed.
    """
    started_s = time.perf_counter()
    commits, removed = history.commit_index(), history.removed_index()
    if commits is None or removed is None:
        raise IndexStorageError(f"there are no commits to index: {history.explain_no_commits()}")
    pending = [index for index in (commits, removed) if not index.is_current()]
    # Both indexes read the same commits, so each is an equal part of the progress.
    read = [
        index.update(_add_parts(on_progress, number, len(pending)))
        for number, index in enumerate(pending)
    ]
    return HistoryReport(
        commits=commits.snapshot().file_count(),
        removed_definitions=removed.count_sections(),
        commits_read=max(read, default=0),
        seconds=time.perf_counter() - started_s,
    )


def _add_parts(on_progress: ProgressCallback, number: int, count: int) -> ProgressCallback:
    """Return a progress callback for part `number` of a run that has `count` equal parts."""
    return lambda done, total: on_progress(number * total + done, count * total)
