"""The behavior of every memory store; a local server replaces the mem0 service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from json_server import serving
from mem0_service import KEY, FakeMem0Server

from rootle.memory.mem0.library import Mem0Store
from rootle.memory.mem0.service import Mem0Service
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.protocols import MemoryStore
from rootle.types import MemoryOrigin, MemoryReference

ME = "me"


@pytest.fixture(params=["embedded", pytest.param("mem0", marks=pytest.mark.slow), "mem0-service"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "embedded":
        embedded = EmbeddedMemory(tmp_path / "memories.db", HashEmbedder)
        yield embedded
        embedded.close()
        return
    if request.param == "mem0":
        library = Mem0Store(tmp_path / "mem0", HashEmbedder)
        yield library
        library.close()
        return
    with serving(FakeMem0Server().answer) as server:
        yield Mem0Service(lambda: KEY, endpoint=server.url)


def test_a_stored_fact_is_found_with_its_time(store: MemoryStore) -> None:
    added = store.add("the user likes terse test output", ME)
    store.add("deploys happen on Fridays", ME)
    (found,) = store.search("terse output", ME, 7)
    assert added is not None
    assert (found.id, found.text) == (added.id, "the user likes terse test output")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", found.created_at)
    assert 0 < found.score <= 1
    assert found.count == 1


def test_memories_are_ordered_by_relevance_and_limited(store: MemoryStore) -> None:
    for at in range(12):
        store.add(f"review number {at}", ME)
    store.add("review of the parser", ME)
    found = store.search("review parser", ME, 7)
    assert len(found) == 7
    assert found[0].text == "review of the parser"
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def test_memories_of_other_users_are_not_found(store: MemoryStore) -> None:
    store.add("the user likes tabs", ME)
    store.add("the user likes spaces", "Some One@example.org")
    assert [one.text for one in store.search("the user likes", ME, 7)] == ["the user likes tabs"]
    (other,) = store.search("the user likes", "Some One@example.org", 7)
    assert other.text == "the user likes spaces"
    assert store.search("the user likes", "unknown", 7) == []


def test_a_repeated_fact_is_one_memory_with_a_count(store: MemoryStore) -> None:
    store.add("the release is on Monday", ME)
    store.add("the release is on Monday", ME)
    store.add("  The release\nis on Monday ", ME)
    store.add("the release is on Tuesday", ME)
    found = store.search("release", ME, 7)
    assert sorted((one.count, " ".join(one.text.lower().split())) for one in found) == [
        (1, "the release is on tuesday"),
        (3, "the release is on monday"),
    ]


def test_a_memory_about_a_file_in_the_results_is_found(store: MemoryStore) -> None:
    reference = MemoryReference("src/pool.py", "Pool", "/somewhere/project", "0123")
    store.add("never close connections here", ME, [reference])
    store.add("the cache is cleared at midnight", ME, [MemoryReference("src/cache.py")])
    assert store.search("zebra", ME, 7) == []
    (found,) = store.search(
        "zebra", ME, 7, [MemoryReference("src/pool.py", "Pool", "/somewhere/project")]
    )
    assert (found.text, found.about) == ("never close connections here", (reference,))


def test_any_text_can_be_stored_and_queried(store: MemoryStore) -> None:
    texts = ["漢字 ünï ♥ \n\n twice", "'; DROP TABLE memories; --", "%s {} \\ \x07", "a" * 20_000]
    for text in texts:
        store.add(text, ME)
        (found,) = store.search(text, ME, 1)
        assert found.text == text
    assert store.search("♥", ME, 7) is not None
    assert store.search("   ", ME, 7) == []


def test_a_memory_has_the_projects_in_which_it_was_stored(store: MemoryStore) -> None:
    store.add("the release is on Monday", ME, (), MemoryOrigin("/work/shop"))
    store.add("the release is on Monday", ME, (), MemoryOrigin("/work/billing"))
    store.add("the release is on Monday", ME, (), MemoryOrigin("/work/shop"))
    store.add("the user likes tabs", ME, (), MemoryOrigin("/work/shop", is_personal=True))
    store.add("the release is late", ME)
    found = {one.text: one for one in store.search("the release on Monday", ME, 7)}
    found |= {one.text: one for one in store.search("the user likes tabs", ME, 7)}
    assert sorted(found["the release is on Monday"].stored_in) == ["/work/billing", "/work/shop"]
    assert not found["the release is on Monday"].is_personal
    assert found["the user likes tabs"].is_personal
    assert found["the release is late"].stored_in == ()
