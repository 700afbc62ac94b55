"""The composition root: a folder, its index, and the agent that answers from it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rootle.config.fields import Config
from rootle.container import Container
from rootle.errors import (
    ConfigError,
    IndexMissingError,
    IndexStorageError,
    IndexUnfinishedError,
)
from rootle.indexing.events import Subscribers
from rootle.serialization.json import query_with
from rootle.storage.paths import default_index_dir, result_cache_dir
from rootle.types import (
    Filters,
    IndexCoverage,
    IndexReport,
    IndexStatus,
    IndexUpdated,
    Passage,
    SearchQuery,
    SearchResponse,
)

if TYPE_CHECKING:
    from rootle.indexing.watch.watch_service import WatchService
    from rootle.ingest.plan import Plan
    from rootle.memory.user_memory import UserMemory
    from rootle.web.fallback import WebSearch
    from rootle.web.page_reader import PageReader

# Whoever makes the index anew again and again is not followed for ever.
_TRIES: Final = 5
# How long a watcher that is asked to pause may take to hear of it.
_COMMAND_TIMEOUT_S: Final = 5.0

Progress = Callable[[int, int], None]  # bytes done, bytes in all
WarningCallback = Callable[[str], None]


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    index_dir: str | os.PathLike[str] | None = None,
    config: Config | None = None,
    on_warning: WarningCallback | None = None,
    initial_index_timeout_s: float | None = None,
) -> App:
    """An app on one folder; nothing is read or written before it is asked to do something.

    `on_warning` receives messages about delays and degradation. With `initial_index_timeout_s`, no
    query waits longer than that for the first index: it is answered from the part that is indexed,
    and the response says so.
    """
    folder = Path(os.path.abspath(root))
    where = Path(os.path.abspath(index_dir)) if index_dir is not None else default_index_dir(folder)
    return App(folder, where, config or Config(), on_warning or _ignore, initial_index_timeout_s)


class App:
    """Answers questions about one folder, and keeps the index that it needs for that.

    Safe to use from several threads.
    """

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        config: Config,
        on_warning: WarningCallback,
        initial_index_timeout_s: float | None = None,
    ) -> None:
        self.root = root
        self.index_dir = index_dir
        self.config = config
        self._on_warning = on_warning
        self._waits_for_first = initial_index_timeout_s is None
        self._lock = threading.RLock()
        self._live: WatchService | None = None
        self._subscribers = Subscribers()
        self._container = Container(
            root,
            index_dir,
            config,
            on_warning=on_warning,
            on_commit=self._subscribers.tell,
            initial_index_timeout_s=initial_index_timeout_s,
        )

    def search(
        self,
        query: SearchQuery | str,
        filters: Filters | Mapping[str, Any] | None = None,
        *,
        explain: bool = False,
        context: bool = False,
        budget: int | None = None,
        exclude: Sequence[str] = (),
    ) -> SearchResponse:
        """Answer a question, after bringing the index up to date where a check is due.

        `context` widens each result to its surroundings. With a `budget` the best passages are
        packed into so many tokens; `seen` names what they are not to repeat, as "path:start-end".

        Raises QueryError for a question that cannot be asked, IndexStorageError where there is no
        index and none can be made, SearchUnavailableError where neither leg answers.
        """
        query = query_with(query, filters)
        if context or budget is not None or exclude:
            budget = query.budget if budget is None else budget
            query = replace(query, context=True, budget=budget, exclude=(*query.exclude, *exclude))
        self.check(query)
        freshness = self._container.freshness()
        for _ in range(_TRIES if self.config.enable_indexing else 0):
            before = freshness.replacements
            try:
                return self._answer(query, explain=explain)
            except IndexMissingError:
                # Somebody deleted it since the last check.
                freshness.forget()
            except IndexStorageError:
                # Another thread makes it anew: the next try waits until it is there.
                if freshness.replacements == before:
                    raise
        return self._answer(query, explain=explain)

    def read(self, source: str) -> Passage:
        """Lines of a file or commit, by a name that a search gave or that somebody knows.

        "path", "path:120", "path:120-180", "path#heading", "path#definition" or a commit's hash.
        Nothing is read that the index would leave out, and nothing outside the folder; what was
        never indexed yet can be read. Raises SourceError with what to ask instead.
        """
        from rootle.indexing.fingerprint import walk_rules
        from rootle.ingest.source_refs import read_source

        return read_source(self.root, source, walk_rules(self.config), self._indexed_paths)

    def check(self, query: SearchQuery) -> None:
        """Raise QueryError where a question cannot be asked, before anything is indexed for it."""
        from rootle.search.query.validation import check_query

        check_query(query, self.config)

    def refresh(self, progress: Progress | None = None) -> bool:
        """Bring the index up to date if the last check is old; False if that was not possible.

        Where another process writes for long, or nothing can be written, the index that is there
        still serves.
        """
        with self._container.head_start():
            return (
                self._container.freshness().ensure(progress or _no_progress, in_full=True) is None
            )

    def index(self, progress: Progress | None = None, *, rebuild: bool = False) -> IndexReport:
        """Bring the index up to date now, or make it from nothing; waits for another writer."""
        self._check_may_write()
        with self._container.head_start(), self._container.freshness().replaced():
            report = self._container.indexer().bring_up_to_date(
                progress or _no_progress,
                timeout_s=-1,
                rebuild=rebuild,
                embed_all=True,
                wakes_servers=False,
            )
        # Apart from that, so that questions are answered while a server is filled.
        self._container.indexer().feed_servers()
        return report

    def plan(self) -> Plan:
        """What `index` would do, without doing it."""
        return self._container.indexer().view.plan()

    def status(self) -> IndexStatus:
        """The index as it stands, without bringing it up to date."""
        from rootle.config.unused import unused_settings
        from rootle.indexing.status import status_of

        status = status_of(self._container.indexer())
        return replace(status, unused_settings=unused_settings(self.config))

    def clear(self) -> bool:
        """Delete the index; False where there was none."""
        import shutil

        self._check_may_write()
        with self._container.freshness().replaced():
            shutil.rmtree(result_cache_dir(self.index_dir), ignore_errors=True)
            return self._container.indexer().clear()

    def index_progress(self) -> tuple[int, int] | None:
        """How far the index is that is being made for the first time: bytes read, and in all.

        None once it is there. Whoever makes it, in this process or another one.
        """
        return self._container.indexer().view.first_run()

    def watch(self) -> WatchService:
        """Keep the index fresh from now on, until its `stop` or the end of a `with`.

        Raises UnavailableError where another process watches already, or the system watches no
        more folders.
        """
        from rootle.indexing.watch.watch_service import WatchService

        self._check_may_write()
        with self._lock:
            if self._live is not None:
                self._live.stop()
            debounce_s = self.config.watch_debounce_ms / 1000
            self._live = WatchService(
                self._container.indexer(), debounce_s, self._on_warning
            ).start()
            return self._live

    @cached_property
    def web_engines(self) -> WebSearch:
        """The search engines of the web that the configuration names; nothing is sent yet."""
        from rootle.web.factory import open_web_search

        return open_web_search(self.config)

    @cached_property
    def web_pages(self) -> PageReader:
        """The reader of pages of the web."""
        from rootle.web.factory import open_page_reader

        return open_page_reader(self.config)

    @property
    def memory(self) -> UserMemory:
        """What was told earlier, to be recalled, and where more of it is kept.

        Raises ConfigError where `memoryStore` is empty.
        """
        return self._container.memory()

    @property
    def buffered_index_operations(self) -> int:
        """Files that the watcher of this app knows to have changed and has not indexed yet."""
        return 0 if self._live is None else self._live.waiting

    def subscribe(self, subscriber: Callable[[IndexUpdated], object]) -> Callable[[], None]:
        """Have a function called whenever this app has written a new generation of the index.

        It is called on the thread that wrote, and ought to be quick. One that raises is logged.
        Returns a function that ends the subscription.
        """
        return self._subscribers.add(subscriber)

    def pause_indexing(self) -> bool:
        """Index nothing until `resume_indexing`; answers say how stale they are.

        Says whether a watcher was told, of this process or another one. A watcher that begins
        anew knows nothing of it.
        """
        return self._send_command(is_paused=True)

    def throttle_indexing(self, min_interval_s: float) -> bool:
        """Index no more often than that, until `resume_indexing`."""
        return self._send_command(min_interval_s=min_interval_s)

    def resume_indexing(self) -> bool:
        """Index again as usual; what waited is done at once."""
        return self._send_command()

    def close(self) -> None:
        """Let go of files and threads; the app can be used again."""
        with self._lock:
            live, self._live = self._live, None
        if live is not None:
            live.stop()
        self._container.close()

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, query: SearchQuery, *, explain: bool) -> SearchResponse:
        staleness = self._container.freshness().ensure(_no_progress, in_full=False)
        partial = self._partial()
        is_stale = staleness is not None
        response = self._container.agent().search(query, explain=explain, stale=is_stale)
        embedding = ("embedding",) if self._container.model_choice().remark else ()
        unfinished = ("partial",) if partial is not None else ()
        return replace(
            response,
            degraded=(*embedding, *unfinished, *response.degraded),
            staleness=staleness,
            coverage=partial,
        )

    def _partial(self) -> IndexCoverage | None:
        """What an answer lacks that does not wait for the first index.

        Raises IndexUnfinishedError where there is nothing to answer from yet.
        """
        if self._waits_for_first or self._container.freshness().is_made:
            return None
        read, total = self._container.indexer().view.first_run() or (0, 0)
        try:
            snapshot = self._container.indexer().snapshot()
        except IndexStorageError as error:
            raise IndexUnfinishedError(
                f"the index of {self.root} is being made for the first time, {read / 1e6:.1f} of "
                f"{total / 1e6:.1f} MB are read; ask again in a moment"
            ) from error
        return IndexCoverage(snapshot.bytes_indexed(), total)

    def _indexed_paths(self) -> list[str]:
        try:
            states = self._container.indexer().snapshot().all_files()
        except IndexStorageError:
            return []
        return [state.path for state in states if state.skip is None]

    def _send_command(self, *, is_paused: bool = False, min_interval_s: float = 0.0) -> bool:
        from rootle.indexing.watch.watcher_channel import WatcherChannel
        from rootle.indexing.watch.watcher_state import WatcherCommand

        command = WatcherCommand(is_paused, min_interval_s)
        self._container.freshness().command = command
        return WatcherChannel(self.index_dir).send_command(command, _COMMAND_TIMEOUT_S)

    def _check_may_write(self) -> None:
        if not self.config.enable_indexing:
            raise ConfigError(
                f"enableIndexing is false: the index at {self.index_dir} is only read; "
                "set it to true to write"
            )


def _no_progress(done: int, total: int) -> None:
    pass


def _ignore(message: str) -> None:
    pass
