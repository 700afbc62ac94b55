"""Section 9 of the specification: edge cases of a search."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from sample import FILES, MakeApp, make_repository, write

from rootle.app import App
from rootle.config.fields import Config
from rootle.errors import ConfigError, IndexMissingError, StaleCursorError
from rootle.protocols import Matrix
from rootle.search.agent import SearchAgent
from rootle.search.factory import SearchedIndex, open_agent
from rootle.search.search_trace import SearchLogFile
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow


def test_9_1_empty_repository(tmp_path: Path, make_app: MakeApp) -> None:
    (tmp_path / "empty").mkdir()
    response = make_app(tmp_path / "empty").search("function addUser")
    assert response.results == ()
    assert "the index is empty: run `rootle index`" in response.suggestions[0]


def test_9_1_no_index_in_read_only_mode(repository: Path, make_app: MakeApp) -> None:
    with pytest.raises(IndexMissingError, match="build the index with enableIndexing"):
        make_app(repository, enable_indexing=False).search("function addUser")


def _make_logging_agent(app: App, log: Path, embedder: Any = None) -> SearchAgent:
    return open_agent(
        SearchedIndex(
            app._container.indexer().snapshot,
            app._container.embedder if embedder is None else lambda: embedder,
            root=app.root,
        ),
        Config(),
        log=SearchLogFile(log, with_query_text=True),
    )


def _events(log: Path) -> list[str]:
    events: list[str] = json.loads(log.read_text().splitlines()[-1])["events"]
    return events


def test_9_2_embedding_service_unavailable(
    repository: Path, make_app: MakeApp, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Misconfigured(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Matrix:
            raise ConfigError("embeddingModelID names no model")

    app = make_app(repository)
    app.index()
    agent = _make_logging_agent(app, tmp_path / "log.jsonl", Misconfigured(256))
    response = agent.search(SearchQuery("retry_backoff"))
    assert response.results[0].file_path == "src/net/retry.py"
    assert response.degraded == ("dense",)
    assert "embeddingModelID names no model" in caplog.text
    assert "denseFallback" in _events(tmp_path / "log.jsonl")
    agent.close()


def test_9_3_sparse_index_staleness(repository: Path, make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(repository)
    app.index()
    agent = _make_logging_agent(app, tmp_path / "log.jsonl")
    assert agent.search(SearchQuery("retry_backoff")).degraded == ()
    write(repository, "src/net/retry.py", "def retry_backoff(): ...\n", when_s=None)
    assert agent.search(SearchQuery("retry_backoff")).degraded == ("stale",)
    assert "staleIndexWarning" in _events(tmp_path / "log.jsonl")
    agent.close()


def test_9_4_high_churn(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository, watch_debounce_ms=500)
    batches: list[tuple[str, ...]] = []
    with app.watch() as live:
        _wait_until(lambda: live.is_ready)
        app.subscribe(lambda event: batches.append(event.changed))
        for number in range(40):
            (repository / "busy.py").write_text(f"def zebra(): return {number}\n")
            (repository / f"many_{number % 10}.py").write_text(f"def okapi(): return {number}\n")
        _wait_until(lambda: sum(map(len, batches)) >= 11 and not live.waiting)
    # One batch for all changes, or two if the machine paused in between.
    assert len(batches) <= 2
    assert set(batches[0]) <= {"busy.py", *(f"many_{number}.py" for number in range(10))}
    assert "return 39" in app.search("zebra").results[0].snippet


def _wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.02)


def test_9_5_memory_pressure_from_large_chunks(
    tmp_path: Path, make_app: MakeApp, caplog: pytest.LogCaptureFixture
) -> None:
    functions = "".join(f"def zebra_{n}():\n    return {n} * {n}\n\n\n" for n in range(3_000))
    app = make_app(
        make_repository(tmp_path / "repo", {**FILES, "large.py": functions}),
        max_chunks_per_file=3,
    )
    app.index()
    assert "not indexed to the end" in caplog.text
    assert "because they exceed a limit or are damaged: 1 (the first: large.py)" in caplog.text
    status = app.status()
    assert status.skipped_text_share > 0.5
    assert [file.path for file in status.partial_files] == ["large.py"]
    missing, note = app.search('"zebra_2999"').suggestions
    assert missing.startswith('no indexed text has "zebra_2999"')
    assert note.startswith("not searched: large.py")
    assert app.search("zebra_1").results[0].file_path == "large.py"
    assert app.search("retry_backoff").results[0].file_path == "src/net/retry.py"


def test_9_6_pagination_and_cursor_drift(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    first = app.search(SearchQuery("retry", limit=2))
    assert first.next_cursor is not None
    write(repository, "src/more.py", "def retry_again(): ...\n", when_s=None)
    with pytest.raises(StaleCursorError, match=r"cursor invalidated: .*start again"):
        app.search(SearchQuery("retry", limit=2, cursor=first.next_cursor))
