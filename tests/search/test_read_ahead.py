"""Who asks on is answered from what was read at once, and never from what was there before."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from sample import FILES, OLD_S, make_repository

from rootle.app import App
from rootle.index.local.chunk_cache import ChunkCache
from rootle.index.local.docstore import DocStore
from rootle.index.reader import ChunkRow
from rootle.types import SearchQuery

_QUESTIONS = ("retry backoff", "wait between attempts", "who calls it", "parse a date", "settings")


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The chunks that are looked up one by one."""
    found: list[int] = []
    read = DocStore.chunks

    def noted(self: DocStore, ids: Sequence[int]) -> dict[int, ChunkRow]:
        found.extend(ids)
        return read(self, ids)

    monkeypatch.setattr(DocStore, "chunks", noted)
    return found


def _ask(app: App, *questions: str) -> dict[str, int]:
    """Where the files that were found begin to be shown."""
    shown = {}
    for question in questions:
        results = app.search(SearchQuery(question)).results
        shown.update({result.file_path: result.start_line for result in results})
    return shown


def test_those_who_ask_on_wait_for_no_more_look_ups(
    tmp_path: Path, make_app, looked_up: list[int]
) -> None:
    app = make_app(make_repository(tmp_path / "repo"), enable_cache=False)
    app.index()
    _ask(app, *_QUESTIONS[:2])
    assert looked_up
    _ask(app, _QUESTIONS[2])
    looked_up.clear()
    _ask(app, *_QUESTIONS[3:])
    assert not looked_up


def test_what_changes_in_between_is_shown_as_it_is(tmp_path: Path, make_app) -> None:
    root = make_repository(tmp_path / "repo")
    app = make_app(root)
    app.index()
    before = _ask(app, *_QUESTIONS)["src/net/retry.py"]
    text = FILES["src/net/retry.py"]
    for lines in (7, 3, 11):
        (root / "src/net/retry.py").write_text("\n" * lines + text)
        os.utime(root / "src/net/retry.py", (OLD_S + lines, OLD_S + lines))
        assert _ask(app, *_QUESTIONS)["src/net/retry.py"] == before + lines
    (root / "src/net/retry.py").unlink()
    (root / "src/net/again.py").write_text(text)
    found = _ask(app, *_QUESTIONS)
    assert "src/net/retry.py" not in found
    assert found["src/net/again.py"] == before


def test_a_full_cache_of_chunks_goes_on_with_those_asked_for(
    tmp_path: Path, make_app, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_app(make_repository(tmp_path / "repo")).index()
    monkeypatch.setattr("rootle.index.local.chunk_cache.MOST_CHUNKS", 3)
    with sqlite3.connect(tmp_path / "index" / "rootle.db") as connection:
        documents, cache = DocStore(connection), ChunkCache()
        ids = list(documents.all_chunks())
        for some in (ids[:2], ids[1:4], ids[:2], [ids[0], -1]):
            expected = documents.chunks(some)
            assert cache.chunks(some, documents) == expected
            assert len(expected) == len(set(some) - {-1})
