"""Filters beside a question, as agents give them."""

from __future__ import annotations

from typing import Any

import pytest

from rootle import Filters, SearchQuery
from rootle.app import App
from rootle.errors import QueryError


@pytest.fixture
def app(repository, make_app) -> App:
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
def test_they_do_what_those_of_a_query_do(filters: Any, app: App) -> None:
    inside = SearchQuery("retry attempt", file_paths=("src",), languages=("python",))
    expected = app.search(inside).results
    assert expected
    assert app.search("retry attempt", filters).results == expected
    assert app.search(SearchQuery("retry attempt"), filters).results == expected


def test_those_of_the_query_itself_come_first(app: App) -> None:
    query = SearchQuery("retry attempt", languages=("go",))
    paths = {r.file_path for r in app.search(query, {"languages": ["python"]}).results}
    assert paths == {"src/net/client.go"}


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"language": ["python"]}, 'unknown filter "language"; did you mean "languages"?'),
        ({"languages": "python"}, "\"languages\" is 'python', expected a list of strings"),
        ({"minRecencyDays": "3"}, "expected a number"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(filters: Any, message: str, app: App) -> None:
    with pytest.raises(QueryError, match=message.replace("?", r"\?")):
        app.search("retry", filters)
