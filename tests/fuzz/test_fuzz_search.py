"""Hostile queries, patterns, filters and cursors get an answer or a rootle error, in time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz_inputs import fuzz, json_values, outcome_of, repetitions, texts
from hypothesis import example, given
from hypothesis import strategies as st
from sample import FILES, make_repository

from rootle import App, Config, SearchQuery, open_app
from rootle.errors import RootleError, StaleCursorError
from rootle.serialization.json import query_from_json, to_json

pytestmark = pytest.mark.slow

_LINES = "a" * 5_000 + "\n" + "ab" * 2_000 + "c\n" + "x" * 300 + "\r\r\r\n" + "é中" * 500 + "\n"
_PATTERN = "()|*+?{1,9}[]^$.\\wbBdsAZ<>=!:-Pxu ab\n\r\0é\ud800/"
_TOKENS = ("(", ")", "(?:", "a|ab", ")+", "*", "{1,50}", "{1,1000}", ".", "\\w", "c")
_OPTIONAL_KEYS = "filePaths languages minRecencyDays limit cursor budget exclude".split()
_SEARCHED = "retry_backoff"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("fuzz")
    files = {**FILES, "hostile.txt": _LINES, "blank.txt": "\n\n"}
    root = make_repository(folder / "repository", files)
    config = Config(memory_store="", search_log=False)
    with open_app(root, index_dir=folder / "index", config=config) as app:
        app.index()
        yield app
        # The app still works after all hostile calls.
        assert app.search(_SEARCHED).results[0].file_path == "src/net/retry.py"


@fuzz
@given(
    text=texts,
    paths=st.none() | st.lists(texts, max_size=3).map(tuple),
    languages=st.none() | st.lists(texts | st.just("python"), max_size=2).map(tuple),
    days=st.none() | st.floats() | st.integers(),
    limit=st.none() | st.integers() | st.integers(1, 50),
    cursor=st.none() | texts,
    exclude=st.lists(texts | st.just("README.md:1-2"), max_size=2).map(tuple),
)
def test_any_query_is_answered_or_refused(
    app: App,
    text: str,
    paths: tuple[str, ...] | None,
    languages: tuple[str, ...] | None,
    days: float | None,
    limit: int | None,
    cursor: str | None,
    exclude: tuple[str, ...],
) -> None:
    query = SearchQuery(
        text, paths, languages, days, limit, cursor, context=bool(exclude), exclude=exclude
    )
    response = outcome_of(lambda: app.search(query, explain=True))
    if response is not None:
        assert len(response.results) <= (limit or 10)
        assert to_json(response)["results"] is not None


@fuzz
@given(text=texts, paths=st.lists(texts, min_size=1, max_size=2).map(tuple))
def test_any_text_and_path_filter_are_answered_or_refused(
    app: App, text: str, paths: tuple[str, ...]
) -> None:
    outcome_of(lambda: app.search(text))
    outcome_of(lambda: app.search(SearchQuery(_SEARCHED, file_paths=paths)))


@fuzz
@given(
    pattern=st.text(_PATTERN, min_size=1, max_size=60)
    | st.text(min_size=1, max_size=30)
    | st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=20).map("".join)
    | repetitions
)
@example(pattern="^$")
def test_any_pattern_is_matched_or_refused_in_bounded_time(app: App, pattern: str) -> None:
    outcome_of(lambda: app.search(f"/{pattern}/"))
    outcome_of(lambda: app.search(f'regex:"{pattern}"'))


@fuzz
@given(
    data=json_values
    | st.fixed_dictionaries(
        {"textQuery": texts}, optional=dict.fromkeys(_OPTIONAL_KEYS, json_values)
    )
)
def test_any_json_is_a_query_or_refused(app: App, data: Any) -> None:
    outcome_of(lambda: app.search(query_from_json(data)))


@fuzz
@given(data=st.data())
def test_an_altered_cursor_is_refused(app: App, data: st.DataObject) -> None:
    query = SearchQuery("the", limit=1)
    cursor = app.search(query).next_cursor
    assert cursor is not None
    place = data.draw(st.integers(0, len(cursor) - 1))
    altered = cursor[:place] + data.draw(st.text(max_size=3)) + cursor[place + 1 :]
    if altered == cursor:
        return
    with pytest.raises(StaleCursorError, match="cursor"):
        app.search(SearchQuery("the", limit=1, cursor=altered))


@fuzz
@given(source=texts | st.builds("{}{}".format, st.sampled_from(sorted(FILES)), texts))
def test_any_source_is_read_or_refused(app: App, source: str) -> None:
    passage = outcome_of(lambda: app.read(source))
    if passage is not None:
        assert not Path(passage.source).is_absolute()
        assert ".." not in Path(passage.source).parts


def test_the_examples_reach_answers_and_refusals(app: App) -> None:
    assert app.search("/a+c/").results
    with pytest.raises(RootleError):
        app.search("/(/")
