"""The base class of the parts of the public API."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.app.container import Container
from rootle.config.fields import Config
from rootle.errors import ConfigError
from rootle.indexing.events import Subscriptions
from rootle.types import SearchQuery, SearchResponse, WarningCallback

if TYPE_CHECKING:
    from rootle.indexing.watch.watch_service import WatchService
    from rootle.sources.source import Source


class AppBase:
    """One folder with its index and its components."""

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        on_warning: WarningCallback,
        *,
        initial_index_timeout_s: float | None = None,
        search_unfinished: bool = False,
        sources: Sequence[Source] = (),
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        self.config = config
        self._on_warning = on_warning
        self._may_search_unfinished = search_unfinished or initial_index_timeout_s is not None
        self._lock = threading.RLock()
        self._watch_service: WatchService | None = None
        self._subscriptions = Subscriptions(index_dir, lambda: self._container.indexer().snapshot())
        self._container = Container(
            root,
            index_dir,
            config,
            sources,
            on_warning=on_warning,
            on_commit=self._subscriptions.publish_own_update,
            initial_index_timeout_s=initial_index_timeout_s,
            searches_unfinished=self._may_search_unfinished,
        )

    def _search_files(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        """Search the files of the folder, without commits. `SearchApi` implements it."""
        raise NotImplementedError

    def _check_query(self, query: SearchQuery) -> None:
        """Raise QueryError for an invalid query, without reading an index."""
        from rootle.search.request import check_filters, check_query

        check_query(query, self.config)
        check_filters(query, self._resolve_filters)

    def _resolve_filters(self, text: str) -> str:
        """Return a question whose `since:` and `until:` contain dates instead of revisions."""
        from rootle.history.revision_dates import resolve_dates

        return resolve_dates(text, self._container.history().find_date, in_words=False)

    def _check_may_write(self) -> None:
        if not self.config.enable_indexing:
            raise ConfigError(
                f"enableIndexing is false, so the index at {self.index_dir} is read-only; "
                "set enableIndexing to true to write it"
            )
