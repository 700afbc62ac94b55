"""A small index is loaded into memory after a few queries, and answers are never outdated."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from sample import FILES, OLD_S, MakeApp, make_repository

from rootle.app import App
from rootle.index.local.chunk_cache import ChunkCache
from rootle.index.local.docstore import DocStore
from rootle.index.reader import ChunkRow
from rootle.types import SearchQuery

_QUESTIONS = ("retry backoff", "wait between attempts", "who calls it", "parse a date", "settings")


@pytest.fixture
def chunk_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the ids of chunks are added when they are read from the database."""
    found: list[int] = []
    read = DocStore.chunks

    def record_read(self: DocStore, ids: Sequence[int]) -> dict[int, ChunkRow]:
        found.extend(ids)
        return read(self, ids)

    monkeypatch.setattr(DocStore, "chunks", record_read)
    return found


def _search(app: App, *questions: str) -> dict[str, int]:
    """Search for all questions and return the first shown line of each file."""
    shown = {}
    for question in questions:
        results = app.search(SearchQuery(question)).results
        shown.update({result.file_path: result.start_line for result in results})
    return shown


@pytest.mark.slow
def test_no_chunk_is_read_from_the_fourth_query_on(
    tmp_path: Path, make_app: MakeApp, chunk_reads: list[int]
) -> None:
    app = make_app(make_repository(tmp_path / "repo"), enable_cache=False)
    app.index()
    _search(app, *_QUESTIONS[:2])
    assert chunk_reads
    _search(app, _QUESTIONS[2])
    chunk_reads.clear()
    _search(app, *_QUESTIONS[3:])
    assert not chunk_reads


def test_a_single_query_preloads_nothing(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(make_repository(tmp_path / "repo"), enable_cache=False)
    app.index()
    loaded: list[object] = []
    monkeypatch.setattr(ChunkCache, "read_all", lambda *_: loaded.append(1))
    _search(app, *_QUESTIONS[:2])
    assert not loaded
    _search(app, _QUESTIONS[2])
    assert loaded


@pytest.mark.slow
def test_changes_between_queries_are_shown(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo")
    app = make_app(root)
    app.index()
    before = _search(app, *_QUESTIONS)["src/net/retry.py"]
    text = FILES["src/net/retry.py"]
    for lines in (7, 3, 11):
        (root / "src/net/retry.py").write_text("\n" * lines + text)
        os.utime(root / "src/net/retry.py", (OLD_S + lines, OLD_S + lines))
        assert _search(app, *_QUESTIONS)["src/net/retry.py"] == before + lines
    (root / "src/net/retry.py").unlink()
    (root / "src/net/again.py").write_text(text)
    found = _search(app, *_QUESTIONS)
    assert "src/net/retry.py" not in found
    assert found["src/net/again.py"] == before


def test_a_full_chunk_cache_still_returns_every_chunk(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_app(make_repository(tmp_path / "repo")).index()
    monkeypatch.setattr("rootle.index.local.chunk_cache.MAX_CHUNKS", 3)
    with sqlite3.connect(tmp_path / "index" / "rootle.db") as connection:
        documents, cache = DocStore(connection), ChunkCache()
        ids = list(documents.all_chunks())
        for some in (ids[:2], ids[1:4], ids[:2], [ids[0], -1]):
            expected = documents.chunks(some)
            assert cache.chunks(some, documents) == expected
            assert len(expected) == len(set(some) - {-1})
