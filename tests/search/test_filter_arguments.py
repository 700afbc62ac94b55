"""Filters as a separate argument of a search, which is the form that agents use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample import MakeApp, git

from rootle import Filters, SearchQuery
from rootle.app import App
from rootle.errors import QueryError


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    app: App = make_app(repository)
    return app


@pytest.mark.parametrize(
    "filters",
    [
        {"filePaths": ["src"], "languages": ["python"]},
        {"file_paths": ("src",), "languages": ("python",)},
        Filters(file_paths=("src",), languages=("python",)),
    ],
)
def test_filter_arguments_work_like_fields_of_the_query(filters: Any, app: App) -> None:
    query = SearchQuery("retry attempt", file_paths=("src",), languages=("python",))
    expected = app.search(query).results
    assert expected
    assert app.search("retry attempt", filters).results == expected
    assert app.search(SearchQuery("retry attempt"), filters).results == expected


def test_filters_of_the_query_take_precedence(app: App) -> None:
    query = SearchQuery("retry attempt", languages=("go",))
    paths = {r.file_path for r in app.search(query, {"languages": ["python"]}).results}
    assert paths == {"src/net/client.go"}


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"language": ["python"]}, 'unknown filter "language"; did you mean "languages"?'),
        ({"languages": "python"}, '"languages" is "python", expected a list of strings'),
        ({"minRecencyDays": "3"}, "expected a number"),
    ],
)
def test_an_invalid_filter_is_rejected(filters: Any, message: str, app: App) -> None:
    with pytest.raises(QueryError, match=message.replace("?", r"\?")):
        app.search("retry", filters)


@pytest.mark.parametrize(
    "search",
    [
        lambda app: app.search(SearchQuery("retry attempt", file_paths=["src"])),  # type: ignore[arg-type]
        lambda app: app.search("retry attempt", Filters(file_paths=["src"])),  # type: ignore[arg-type]
    ],
)
def test_a_list_is_accepted_for_a_tuple(search: Any, app: App) -> None:
    expected = app.search(SearchQuery("retry attempt", file_paths=("src",))).results
    assert search(app).results == expected


@pytest.mark.parametrize(
    ("query", "filters", "message"),
    [
        (SearchQuery("retry", file_paths="src"), None, '"filePaths" is "src", expected a list'),  # type: ignore[arg-type]
        ("retry", Filters(languages="go"), '"languages" is "go", expected a list'),  # type: ignore[arg-type]
        (SearchQuery("retry", limit=2.5), None, '"limit" is 2.5, expected an integer'),  # type: ignore[arg-type]
        (5, None, "the query is 5, expected a string or a SearchQuery"),
    ],
)
def test_a_query_with_a_wrong_type_is_rejected(
    query: Any, filters: Any, message: str, app: App
) -> None:
    with pytest.raises(QueryError, match=message):
        app.search(query, filters)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "5"}, '"budget" is "5", expected an integer'),
        ({"at": 3}, '"at" is 3, expected a string'),
        ({"context": "yes"}, '"context" is "yes", expected true or false'),
        ({"exclude": 5}, '"exclude" is 5, expected a list of strings'),
        ({"exclude": "a.py:1-2"}, '"exclude" is "a.py:1-2", expected a list of strings'),
    ],
)
def test_an_option_with_a_wrong_type_is_rejected(options: Any, message: str, app: App) -> None:
    query = SearchQuery("retry", **options)
    for search in (
        lambda: app.search("retry", **options),
        lambda: app.search(query),
        lambda: app.check(query),
    ):
        with pytest.raises(QueryError, match=message):
            search()


@pytest.mark.parametrize("filters", [["python"], "python", 3])
def test_filters_of_another_type_are_rejected(filters: Any, app: App) -> None:
    with pytest.raises(QueryError, match="expected Filters or a mapping"):
        app.search("retry", filters)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (SearchQuery("retry since:never"), '"never" in since:never is neither a date nor a commit'),
        (SearchQuery("in:history retry until:v9"), '"v9" in until:v9 is neither a date nor'),
        (SearchQuery("retry until:2024-13"), "there is no date 2024-13"),
        (SearchQuery("retry", languages=("klingon",)), 'unknown language "klingon"'),
        (SearchQuery("retry", min_recency_days=-1), "minRecencyDays is -1"),
    ],
)
def test_an_invalid_filter_is_rejected_before_anything_is_indexed(
    query: SearchQuery, message: str, app: App
) -> None:
    for refuse in (app.check, app.search):
        with pytest.raises(QueryError, match=message):
            refuse(query)
    assert not app.index_dir.exists()


def test_a_tag_in_a_filter_is_accepted_before_anything_is_indexed(
    repository: Path, make_app: MakeApp
) -> None:
    git(repository, "tag", "v1.0")
    make_app(repository).check(SearchQuery("retry since:v1.0"))
