"""The composition root: a folder, its index, and the agent that answers from it."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rootle.config import Config, unused_settings
from rootle.errors import IndexMissingError, IndexStorageError, UnavailableError
from rootle.types import Filters, IndexReport, IndexStatus, SearchQuery, SearchResponse
from rootle.wire import query_with

if TYPE_CHECKING:
    from rootle.embed.choice import ModelChoice
    from rootle.indexer import Indexer
    from rootle.ingest.plan import Plan
    from rootle.protocols import Embedder
    from rootle.search.agent import SearchAgent
    from rootle.search.search_log import SearchLogFile

# A check takes at most a twentieth of the time, however large the folder is.
_REFRESH_SHARE: Final = 20
# How long a search waits for another process's indexing before it answers from what is there.
_PATIENCE_S: Final = 10.0

Progress = Callable[[int, int], None]  # bytes done, bytes in all
Notice = Callable[[str], None]


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    index_dir: str | os.PathLike[str] | None = None,
    config: Config | None = None,
    notice: Notice | None = None,
) -> App:
    """An app on one folder; nothing is read or written before it is asked to do something.

    `notice` is told in a sentence what keeps a caller waiting or makes an answer worse.
    """
    folder = Path(os.path.abspath(root))
    where = Path(os.path.abspath(index_dir)) if index_dir is not None else default_index_dir(folder)
    return App(folder, where, config or Config(), notice or _ignore)


def default_index_dir(root: Path) -> Path:
    """Where the index of a folder lies: in the user's cache folder, one for each real path."""
    from platformdirs import user_cache_path

    real = os.path.realpath(root)
    digest = hashlib.blake2b(os.fsencode(real), digest_size=6).hexdigest()
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in os.path.basename(real))
    return user_cache_path("rootle", appauthor=False) / f"{name[:40] or 'root'}-{digest}"


def search_log_path() -> Path:
    """Where searches are logged: in the user's state folder, for all folders together."""
    from platformdirs import user_state_path

    return user_state_path("rootle", appauthor=False) / "search-log.jsonl"


class App:
    """Answers questions about one folder, and keeps the index that it needs for that.

    Safe to use from several threads.
    """

    def __init__(self, root: Path, index_dir: Path, config: Config, notice: Notice) -> None:
        self.root = root
        self.index_dir = index_dir
        self.config = config
        self._notice = notice
        self._lock = threading.RLock()
        self._indexer: Indexer | None = None
        self._chosen: ModelChoice | None = None
        self._embedder: Embedder | None = None
        self._agent: SearchAgent | None = None
        self._checked_at = float("-inf")
        self._check_cost_s = 0.0
        self._is_fresh = False

    def search(
        self,
        query: SearchQuery | str,
        filters: Filters | Mapping[str, Any] | None = None,
        *,
        explain: bool = False,
        context: bool = False,
        budget: int | None = None,
        seen: Sequence[str] = (),
    ) -> SearchResponse:
        """Answer a question, after bringing the index up to date where a check is due.

        `context` widens each result to its surroundings. With a `budget` the best passages are
        packed into so many tokens; `seen` names what they are not to repeat, as "path:start-end".

        Raises QueryError for a question that cannot be asked, IndexStorageError where there is no
        index and none can be made, SearchUnavailableError where neither leg answers.
        """
        query = query_with(query, filters)
        if context or budget is not None or seen:
            budget = query.budget if budget is None else budget
            query = replace(query, context=True, budget=budget, seen=(*query.seen, *seen))
        self.check(query)
        is_fresh = self.refresh()
        try:
            response = self._search_agent().search(query, explain=explain, stale=not is_fresh)
        except IndexMissingError:
            # Somebody deleted it since the last check.
            self._checked_at = float("-inf")
            self.refresh()
            response = self._search_agent().search(query, explain=explain)
        if self._choice().remark:
            return replace(response, degraded=("embedding", *response.degraded))
        return response

    def check(self, query: SearchQuery) -> None:
        """Raise QueryError where a question cannot be asked, before anything is indexed for it."""
        from rootle.search.checks import check_query

        check_query(query, self.config)

    def refresh(self, progress: Progress | None = None) -> bool:
        """Bring the index up to date if the last check is old; False if that was not possible.

        Where another process writes for long, or nothing can be written, the index that is there
        still serves.
        """
        with self._lock:
            due_s = max(self.config.refresh_seconds, _REFRESH_SHARE * self._check_cost_s)
            if time.monotonic() - self._checked_at >= due_s:
                started = time.monotonic()
                self._is_fresh = self._refreshed(progress or _no_progress)
                self._checked_at = time.monotonic()
                self._check_cost_s = self._checked_at - started
            return self._is_fresh

    def index(self, progress: Progress | None = None, *, rebuild: bool = False) -> IndexReport:
        """Bring the index up to date now, or make it from nothing; waits for another writer."""
        with self._lock:
            report = self._upkeep().bring_up_to_date(
                progress or _no_progress, patience_s=-1, rebuild=rebuild, embed_all=True
            )
            self._checked_at = time.monotonic()
            self._is_fresh = True
            return report

    def plan(self) -> Plan:
        """What `index` would do, without doing it."""
        return self._upkeep().plan()

    def status(self) -> IndexStatus:
        """The index as it stands, without bringing it up to date."""
        from rootle.indexer import status_of

        status = status_of(self._upkeep())
        return replace(status, unused_settings=unused_settings(self.config))

    def clear(self) -> bool:
        """Delete the index; False where there was none."""
        with self._lock:
            self._checked_at = float("-inf")
            return self._upkeep().clear()

    def close(self) -> None:
        """Let go of files and threads; the app can be used again."""
        with self._lock:
            if self._agent is not None:
                self._agent.close()
            if self._indexer is not None:
                self._indexer.close()
            self._agent = self._indexer = None

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refreshed(self, progress: Progress) -> bool:
        upkeep = self._upkeep()
        if upkeep.is_current():
            self._embed_some(upkeep, progress)
            return True
        try:
            upkeep.bring_up_to_date(progress, patience_s=_PATIENCE_S)
            return True
        except (UnavailableError, IndexStorageError) as error:
            if upkeep.has_whole_index():
                self._notice(f"answering from the index as it is: {error}")
                return False
            if not isinstance(error, UnavailableError):
                raise
        # There is nothing to answer from until the other process is done.
        upkeep.bring_up_to_date(progress, patience_s=-1)
        return True

    def _embed_some(self, upkeep: Indexer, progress: Progress) -> None:
        if not upkeep.has_embeddings_due():
            return
        # Where another process writes, it may well be doing this; the answer does not depend on it.
        with suppress(UnavailableError, IndexStorageError):
            upkeep.bring_up_to_date(progress, patience_s=0)

    def _upkeep(self) -> Indexer:
        from rootle.indexer import Indexer

        with self._lock:
            if self._indexer is None:
                self._indexer = Indexer(
                    self.root,
                    self.index_dir,
                    self.config,
                    choose_model=self._choice,
                    open_embedder=self._model,
                    notice=self._notice,
                )
            return self._indexer

    def _search_agent(self) -> SearchAgent:
        from rootle.rank.choice import open_reranker
        from rootle.search.agent import SearchAgent

        with self._lock:
            if self._agent is None:
                upkeep, model = self._upkeep(), self._choice().model
                self._agent = SearchAgent(
                    upkeep.snapshot,
                    self._question_model,
                    replace(self.config, embedding_model_id=model),
                    log=self._search_log(),
                    root=self.root,
                    dense=upkeep.servers.dense,
                    sparse=upkeep.servers.sparse,
                    reranker=open_reranker(self.config),
                )
            return self._agent

    def _search_log(self) -> SearchLogFile | None:
        from rootle.search.search_log import SearchLogFile

        if not self.config.search_log:
            return None
        return SearchLogFile(search_log_path(), with_query_text=self.config.search_log_query_text)

    def _question_model(self) -> Embedder:
        """The model, as long as the vectors in the index are its own."""
        of_index = self._upkeep().snapshot().value("embedding")
        if of_index != self._choice().fingerprint:
            raise UnavailableError(
                f"the vectors in the index are of {of_index}, not of {self._choice().fingerprint}"
            )
        return self._model()

    def _model(self) -> Embedder:
        # Without the lock: a search that is under way does not wait for another thread's indexing.
        if self._embedder is not None:
            return self._embedder
        from rootle.embed.choice import open_model

        with self._lock:
            if self._embedder is None:
                self._embedder = open_model(self._choice(), self.config)
            return self._embedder

    def _choice(self) -> ModelChoice:
        """The model that serves, which need not be the one that was configured."""
        if self._chosen is not None:
            return self._chosen
        from rootle.embed.choice import choose_model

        with self._lock:
            if self._chosen is None:
                self._chosen = choose_model(self.config)
                if self._chosen.remark:
                    self._notice(self._chosen.remark)
            return self._chosen


def _no_progress(done: int, total: int) -> None:
    pass


def _ignore(message: str) -> None:
    pass
