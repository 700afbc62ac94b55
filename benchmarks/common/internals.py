"""Access to non-public parts of rootle for the benchmarks and the training."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from unittest import mock

from rootle import App, Config
from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Embedder
from rootle.rank.rankers.registry import FEATURES, Ranker
from rootle.search.agent import SearchAgent
from rootle.search.factory import SearchedIndex, SearchFeatures
from rootle.search.factory import open_agent as compose_agent
from rootle.search.query import parse


def index_snapshot(app: App) -> Snapshot:
    """Return a reader of the app's index, which must exist."""
    return app._container.indexer().snapshot()  # noqa: SLF001


def index_commits(app: App) -> Snapshot:
    """Index all new commits and return a reader of their index."""
    commits = app._container.history().commit_index()  # noqa: SLF001
    if commits is None:
        raise ValueError(f"{app.root} has no commits to index")
    commits.update()
    return commits.snapshot()


def open_agent(
    app: App,
    config: Config,
    *,
    open_embedder: Callable[[], Embedder] | None = None,
    snapshot: Snapshot | None = None,
    ranker: Ranker = FEATURES,
) -> SearchAgent:
    """Return a search agent with the given parts; parts that are not given come from the app."""
    return compose_agent(
        SearchedIndex(
            (lambda: snapshot) if snapshot else lambda: index_snapshot(app),
            open_embedder or app._container.embedder,  # noqa: SLF001
        ),
        config,
        SearchFeatures(ranker=ranker),
    )


def disable_related_terms() -> AbstractContextManager[object]:
    """Return a context manager that turns the search for related words off."""
    return mock.patch.object(parse, "find_related_terms", return_value=())
