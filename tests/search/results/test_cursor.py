"""Cursors: pages neither repeat nor omit results, and belong to one ranking."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import MakeApp, indexed_repository, many_files, write, write_tree

from rootle.app import App
from rootle.errors import StaleCursorError, UnavailableError
from rootle.types import SearchQuery

pytestmark = pytest.mark.slow

_QUESTIONS = ("ledger", "retry_socket", "rotate the cipher of a snapshot", '"worker" ledger')


@pytest.fixture(scope="module")
def paged_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    from rootle.app import open_app

    folder = tmp_path_factory.mktemp("pages")
    write_tree(folder / "repo", many_files(40, functions=6))
    with open_app(folder / "repo", index_dir=folder / "index") as app:
        app.index()
        yield app


@pytest.mark.slow
@given(
    question=st.sampled_from(_QUESTIONS),
    limits=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    exclusion=st.sampled_from(["", " -cipher", " -return"]),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_pages_of_any_size_combine_to_the_whole_ranking(
    paged_app: App, question: str, limits: list[int], exclusion: str
) -> None:
    text = question + exclusion
    whole = [r.file_path for r in paged_app.search(SearchQuery(text, limit=50)).results]
    paged, cursor, number = [], None, 0
    while True:
        limit = limits[number % len(limits)]
        response = paged_app.search(SearchQuery(text, limit=limit, cursor=cursor))
        paged += [result.file_path for result in response.results]
        cursor, number = response.next_cursor, number + 1
        if cursor is None:
            break
        assert len(response.results) == limit
    assert paged[: len(whole)] == whole
    assert len(paged) == len(set(paged))


def _first_cursor(app: App, question: str = "ledger") -> str:
    cursor = app.search(SearchQuery(question, limit=5)).next_cursor
    assert cursor is not None
    return cursor


def test_a_truncated_or_altered_cursor_is_rejected(paged_app: App) -> None:
    cursor, rng = _first_cursor(paged_app), Random(3)
    forged = [
        "",
        "x",
        "ä",
        cursor[:-1],
        cursor[:-4],
        cursor + "AAAA",
        cursor.swapcase(),
        f" {cursor}",
    ]
    raw = base64.urlsafe_b64decode(cursor)
    for at in range(len(raw)):
        altered = bytearray(raw)
        altered[at] ^= 1 << rng.randrange(8)
        forged.append(base64.urlsafe_b64encode(bytes(altered)).decode())
    for text in forged:
        with pytest.raises(StaleCursorError, match=r"cursor invalidated: .*start again"):
            paged_app.search(SearchQuery("ledger", limit=5, cursor=text))


@pytest.mark.parametrize(
    "other",
    [
        SearchQuery("ledgers"),
        SearchQuery("ledger", languages=("python",)),
        SearchQuery("ledger", file_paths=("pkg_1",)),
        SearchQuery("ledger", min_recency_days=9_999),
    ],
)
def test_a_cursor_from_another_question_is_rejected(paged_app: App, other: SearchQuery) -> None:
    from dataclasses import replace

    with pytest.raises(StaleCursorError, match="belongs to another question"):
        paged_app.search(replace(other, cursor=_first_cursor(paged_app)))


@pytest.mark.fast
def test_a_cursor_from_another_generation_is_rejected(tmp_path: Path, make_app: MakeApp) -> None:
    root = write_tree(tmp_path / "repo", many_files(20, functions=3))
    app = make_app(root)
    cursor = _first_cursor(app)
    write(root, "new.py", "ledger = 1\n")
    with pytest.raises(StaleCursorError, match="the index has changed since"):
        app.search(SearchQuery("ledger", cursor=cursor))


def test_a_cursor_is_rejected_if_a_leg_has_failed_since(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(write_tree(tmp_path / "repo", many_files(40, functions=6)), enable_cache=False)
    cursor = _first_cursor(app, "rotate the cipher")

    def fail(*_: object) -> None:
        raise UnavailableError("down")

    monkeypatch.setattr("rootle.search.retrieval.hybrid_retriever.search_sparse", fail)
    with pytest.raises(StaleCursorError, match="ranked differently"):
        app.search(SearchQuery("rotate the cipher", limit=5, cursor=cursor))


@pytest.mark.parametrize("limit", [1, 7, 25, 50])
@pytest.mark.parametrize("question", ["ledger", '"int) -> int"', "/def load_/ path:pkg_"])
def test_pages_continue_after_the_files_that_are_ranked_together(
    make_app: MakeApp, question: str, limit: int
) -> None:
    files = {
        f"pkg_{at % 7}/part_{at}.py": f"def load_{at}(ledger: int) -> int:\n    return {at}\n"
        for at in range(150)
    }
    root, index_dir = indexed_repository(files)
    app = make_app(root, index_dir=index_dir)
    seen: list[str] = []
    scores: list[float] = []
    cursor = None
    while cursor is not None or not seen:
        response = app.search(SearchQuery(question, limit=limit, cursor=cursor))
        assert len(response.results) == limit or response.next_cursor is None
        assert response.results
        for result in response.results:
            seen += [result.file_path, *result.duplicates]
            scores.append(result.score)
        cursor = response.next_cursor
    assert len(seen) == len(set(seen))
    assert len(seen) >= 140
    assert scores == sorted(scores, reverse=True)
