"""Filters as a separate argument of a search, the form that agents use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample import MakeApp

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
        ({"languages": "python"}, "\"languages\" is 'python', expected a list of strings"),
        ({"minRecencyDays": "3"}, "expected a number"),
    ],
)
def test_an_invalid_filter_is_rejected(filters: Any, message: str, app: App) -> None:
    with pytest.raises(QueryError, match=message.replace("?", r"\?")):
        app.search("retry", filters)
