"""The public API of one folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.app.history_api import HistoryApi
from rootle.app.image_api import ImageApi
from rootle.app.index_api import IndexApi
from rootle.app.links_api import LinksApi
from rootle.config.fields import Config
from rootle.config.key_validation import check_config
from rootle.storage.paths import default_index_dir
from rootle.types import WarningCallback, ignore_warning

if TYPE_CHECKING:
    from rootle.app.external_sources import ExternalSources
    from rootle.memory.user_memory import UserMemory
    from rootle.sources.source import Source
    from rootle.web.fallback import WebSearch
    from rootle.web.fenced_page_reader import PageReader


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    index_dir: str | os.PathLike[str] | None = None,
    config: Config | None = None,
    on_warning: WarningCallback | None = None,
    initial_index_timeout_s: float | None = None,
    search_unfinished: bool = False,
    sources: Sequence[Source] = (),
) -> App:
    """Return an app for a folder. Nothing is read or written until a method is called.

    `on_warning` receives messages about delays and degradation. `initial_index_timeout_s` limits
    how long a query waits for the first index. After that, the query searches the part that is
    already indexed, and the response says so. With `search_unfinished`, a query does the same while
    another process builds the first index; otherwise, it waits until the index is complete. The
    documents of `sources` are indexed in addition to the files of the folder. Raises ConfigError if
    a value of `config` is invalid.
    """
    folder = Path(os.path.abspath(root))
    index = Path(os.path.abspath(index_dir)) if index_dir is not None else default_index_dir(folder)
    return App(
        folder,
        index,
        check_config(config) if config is not None else Config(),
        on_warning or ignore_warning,
        initial_index_timeout_s=initial_index_timeout_s,
        search_unfinished=search_unfinished,
        sources=sources,
    )


class App(ImageApi, HistoryApi, IndexApi, LinksApi):
    """Searches one folder and maintains its index. Thread-safe."""

    @property
    def memory(self) -> UserMemory:
        """The memories of the user.

        Raises ConfigError if `memoryStore` is empty.
        """
        return self._container.memory()

    @property
    def sources(self) -> ExternalSources:
        """The sources of outside knowledge that the user added to the folder."""
        return self._container.external().sources()

    @cached_property
    def web_engines(self) -> WebSearch:
        """The configured web search engines; creating them sends no request."""
        from rootle.web.factory import open_web_search

        return open_web_search(self.config)

    @cached_property
    def web_pages(self) -> PageReader:
        """The reader of web pages."""
        from rootle.web.factory import open_page_reader

        return open_page_reader(self.config)

    def close(self) -> None:
        """Close files and stop threads. The app can be used again and reopens them."""
        with self._lock:
            service, self._watch_service = self._watch_service, None
        self._subscriptions.close()
        if service is not None:
            service.stop()
        self._container.close()

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
