"""Answers on disk: given to the next process, never those of another state of the index."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command import rootle
from hash_embedder import HashEmbedder
from sample import make_repository, many_files, write

from rootle.app import App
from rootle.storage.paths import result_cache_dir
from rootle.types import SearchQuery

_QUESTION = SearchQuery("ledger of the worker", limit=5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", many_files(20, functions=3))


@pytest.fixture
def opened(root: Path, tmp_path: Path, make_app):
    """Apps as of one process after the other, and what each embeds."""

    def make(**settings: Any) -> tuple[App, HashEmbedder]:
        embedder = HashEmbedder(256)
        app = make_app(root, embedder=embedder, cache_on_disk=True, **settings)
        return app, embedder

    return make


def _files(tmp_path: Path) -> list[Path]:
    folder = result_cache_dir(tmp_path / "index")
    return sorted(folder.iterdir()) if folder.exists() else []


def _asked(embedder: HashEmbedder) -> int:
    return embedder.texts.count(_QUESTION.text_query)


def test_the_next_process_neither_embeds_nor_searches(opened, tmp_path: Path) -> None:
    first_app, embedder = opened()
    first = first_app.search(_QUESTION)
    assert _asked(embedder) == 1
    app, embedder = opened()
    again = app.search(_QUESTION)
    assert (again.results, again.next_cursor) == (first.results, first.next_cursor)
    assert _asked(embedder) == 0
    # The page after it was never asked for.
    after = SearchQuery("ledger of the worker", limit=5, cursor=first.next_cursor)
    assert app.search(after).results == first_app.search(after).results != ()
    assert app.search(_QUESTION, context=True).results[0].context is not None
    assert app.search(_QUESTION, explain=True).results[0].explanation
    (file, *_) = _files(tmp_path)
    assert os.stat(file).st_mode & 0o077 == 0
    assert os.stat(file.parent).st_mode & 0o077 == 0


def test_without_the_key_nothing_is_written(root: Path, tmp_path: Path, make_app) -> None:
    make_app(root).search(_QUESTION)
    assert _files(tmp_path) == []


def test_a_new_generation_empties_it(opened, root: Path, tmp_path: Path) -> None:
    app, _ = opened()
    app.search(_QUESTION)
    before = _files(tmp_path)
    write(root, "fresh.py", "def ledger_of_the_worker(): ...\n", when_s=None)
    app, _ = opened()
    assert app.search(_QUESTION).results[0].file_path == "fresh.py"
    assert not set(before) & set(_files(tmp_path))


def test_other_settings_have_other_answers(opened) -> None:
    opened()[0].search(_QUESTION)
    app, embedder = opened(max_merged_candidates=7)
    app.search(_QUESTION)
    assert _asked(embedder) == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cachedAt": 1}', "\x00\xff"])
def test_a_file_that_cannot_be_read_is_as_good_as_none(damage: str, opened, tmp_path: Path) -> None:
    first = opened()[0].search(_QUESTION)
    for file in _files(tmp_path):
        file.write_text(damage)
    app, embedder = opened()
    assert app.search(_QUESTION).results == first.results
    assert _asked(embedder) == 1
    assert json.loads(_files(tmp_path)[0].read_text())["results"]


def test_a_folder_that_cannot_be_made_costs_nothing_but_the_cache(opened, home: Path) -> None:
    (home / "state" / "rootle").write_text("in the way")
    assert opened(search_log=False)[0].search(_QUESTION).results


def test_only_so_many_are_kept_and_for_so_long(opened, tmp_path: Path) -> None:
    app, _ = opened(cache_max_entries=3)
    for number in range(9):
        app.search(f"ledger {number}")
    assert len(_files(tmp_path)) == 3
    for file in _files(tmp_path):
        data = json.loads(file.read_text())
        file.write_text(json.dumps(data | {"cachedAt": data["cachedAt"] - 3_601}))
    app, embedder = opened(cache_max_entries=3)
    app.search("ledger 8")
    assert embedder.texts == ["ledger 8"]


def test_clearing_the_index_deletes_them(opened, tmp_path: Path) -> None:
    app, _ = opened()
    app.search(_QUESTION)
    app.clear()
    assert _files(tmp_path) == []


@pytest.mark.slow
def test_many_processes_share_it(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": {"cacheOnDisk": True, "cacheMaxEntries": 2}}))
    rootle("index", root)

    def ask(number: int) -> list[str]:
        question = f"ledger {number % 3}"
        outcome = rootle("search", question, "--json", "--root", root, "--config", config)
        assert outcome.code == 0, outcome.err
        return [result["filePath"] for result in outcome.data["results"]]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(9)))
    assert found[:3] == found[3:6] == found[6:]
