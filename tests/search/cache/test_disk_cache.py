"""The disk cache: pages are reused by the next process, but never for another index state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command import rootle
from hash_embedder import HashEmbedder
from sample import MakeApp, make_repository, many_files, write

from rootle.app import App
from rootle.storage.paths import result_cache_dir
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

OpenCached = Callable[..., tuple[App, HashEmbedder]]

_QUERY = SearchQuery("ledger of the worker", limit=5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", many_files(20, functions=3))


@pytest.fixture
def open_cached(root: Path, tmp_path: Path, make_app: MakeApp) -> OpenCached:
    """Return a function that opens an app like a new process and returns app and embedder."""

    def make(**settings: Any) -> tuple[App, HashEmbedder]:
        embedder = HashEmbedder(256)
        app = make_app(root, embedder=embedder, cache_on_disk=True, **settings)
        return app, embedder

    return make


def _list_pages(tmp_path: Path) -> list[Path]:
    folder = result_cache_dir(tmp_path / "index")
    return sorted(folder.iterdir()) if folder.exists() else []


def _count_embeddings(embedder: HashEmbedder) -> int:
    return embedder.texts.count(_QUERY.text_query)


@pytest.mark.fast
def test_the_next_process_reuses_a_page(open_cached: OpenCached, tmp_path: Path) -> None:
    first_app, embedder = open_cached()
    first = first_app.search(_QUERY)
    assert _count_embeddings(embedder) == 1
    app, embedder = open_cached()
    again = app.search(_QUERY)
    assert (again.results, again.next_cursor) == (first.results, first.next_cursor)
    assert _count_embeddings(embedder) == 0
    # The next page is not cached.
    after = SearchQuery("ledger of the worker", limit=5, cursor=first.next_cursor)
    assert app.search(after).results == first_app.search(after).results != ()
    assert app.search(_QUERY, context=True).results[0].context is not None
    assert app.search(_QUERY, explain=True).results[0].explanation
    (file, *_) = _list_pages(tmp_path)
    assert os.stat(file).st_mode & 0o077 == 0
    assert os.stat(file.parent).st_mode & 0o077 == 0


def test_nothing_is_written_by_default(root: Path, tmp_path: Path, make_app: MakeApp) -> None:
    make_app(root).search(_QUERY)
    assert _list_pages(tmp_path) == []


def test_a_new_generation_deletes_older_pages(
    open_cached: OpenCached, root: Path, tmp_path: Path
) -> None:
    app, _ = open_cached()
    app.search(_QUERY)
    before = _list_pages(tmp_path)
    write(root, "fresh.py", "def ledger_of_the_worker(): ...\n", when_s=None)
    app, _ = open_cached()
    assert app.search(_QUERY).results[0].file_path == "fresh.py"
    assert not set(before) & set(_list_pages(tmp_path))


def test_different_settings_have_separate_pages(open_cached: OpenCached) -> None:
    open_cached()[0].search(_QUERY)
    app, embedder = open_cached(max_merged_candidates=7)
    app.search(_QUERY)
    assert _count_embeddings(embedder) == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cachedAt": 1}', "\x00\xff"])
def test_an_unreadable_page_is_ignored_and_replaced(
    damage: str, open_cached: OpenCached, tmp_path: Path
) -> None:
    first = open_cached()[0].search(_QUERY)
    for file in _list_pages(tmp_path):
        file.write_text(damage)
    app, embedder = open_cached()
    assert app.search(_QUERY).results == first.results
    assert _count_embeddings(embedder) == 1
    assert json.loads(_list_pages(tmp_path)[0].read_text())["results"]


def test_searching_works_without_a_writable_cache_folder(
    open_cached: OpenCached, home: Path
) -> None:
    (home / "state").mkdir(exist_ok=True)
    (home / "state" / "rootle").write_text("in the way")
    assert open_cached(search_log=False)[0].search(_QUERY).results


def test_pages_are_limited_in_number_and_age(open_cached: OpenCached, tmp_path: Path) -> None:
    app, _ = open_cached(cache_max_entries=3)
    for number in range(9):
        app.search(f"ledger {number}")
    assert len(_list_pages(tmp_path)) == 3
    for file in _list_pages(tmp_path):
        data = json.loads(file.read_text())
        file.write_text(json.dumps(data | {"cachedAt": data["cachedAt"] - 3_601}))
    app, embedder = open_cached(cache_max_entries=3)
    app.search("ledger 8")
    assert embedder.texts == ["ledger 8"]


def test_the_oldest_page_is_replaced(open_cached: OpenCached, tmp_path: Path) -> None:
    app, _ = open_cached(cache_max_entries=5)
    for number in range(5):
        app.search(f"ledger {number}")
    with os.scandir(result_cache_dir(tmp_path / "index")) as entries:
        *others, oldest = [Path(entry) for entry in entries]
    os.utime(oldest, (0, 0))
    app.search("ledger 5")
    assert not oldest.exists()
    assert all(page.exists() for page in others)


def test_clearing_the_index_deletes_its_pages(open_cached: OpenCached, tmp_path: Path) -> None:
    app, _ = open_cached()
    app.search(_QUERY)
    app.clear()
    assert _list_pages(tmp_path) == []


@pytest.mark.slow
def test_many_processes_share_the_cache(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": {"cacheOnDisk": True, "cacheMaxEntries": 2}}))
    rootle("index", root)

    def search(number: int) -> list[str]:
        question = f"ledger {number % 3}"
        outcome = rootle("search", question, "--json", "--root", root, "--config", config)
        assert outcome.code == 0, outcome.err
        return [result["filePath"] for result in outcome.data["results"]]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(search, range(9)))
    assert found[:3] == found[3:6] == found[6:]
