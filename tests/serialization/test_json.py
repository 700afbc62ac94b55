"""Records as JSON and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rootle.errors import QueryError
from rootle.serialization.json import query_from_json, to_json
from rootle.types import FileMetadata, SearchQuery, TextChunk

_METADATA = FileMetadata("2024-01-01T00:00:00Z", "python", 12)


def test_the_id_of_a_chunk_is_its_file_and_number() -> None:
    chunk = TextChunk("src/a.py", 3, 10, 20, "text", _METADATA)
    assert chunk.chunk_id == "src/a.py::3"


def test_records_have_camel_case_names_in_json() -> None:
    chunk = to_json(TextChunk("src/a.py", 3, 10, 20, "text", _METADATA, (0.5, 0.5)))
    assert chunk == {
        "filePath": "src/a.py",
        "sequenceNumber": 3,
        "startLine": 10,
        "endLine": 20,
        "text": "text",
        "metadata": {
            "lastModified": "2024-01-01T00:00:00Z",
            "language": "python",
            "fileSizeBytes": 12,
        },
        "embedding": [0.5, 0.5],
    }


def test_a_query_survives_a_round_trip() -> None:
    query = SearchQuery(
        "text", ("src", "*.md"), ("py",), 1.5, 7, "abc", True, 900, ("a.py:1-2",), False
    )
    data = to_json(query)
    assert set(data) == {
        "textQuery",
        "filePaths",
        "languages",
        "minRecencyDays",
        "limit",
        "cursor",
        "at",
        "context",
        "budget",
        "exclude",
        "expand",
    }
    assert query_from_json(data) == query
    assert query_from_json({"textQuery": "text"}) == SearchQuery("text")
    assert query_from_json({"textQuery": "text", "limit": None}) == SearchQuery("text")


def test_records_are_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SearchQuery("text").limit = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("data", "field", "value", "remedy"),
    [
        ([1], "object", "[1]", '{"textQuery": "…"}'),
        ({}, '"textQuery"', "null", "a string"),
        ({"textQuery": 7}, '"textQuery"', "7", "a string"),
        ({"textQuery": "x", "textQery": 1}, '"textQery"', "", 'did you mean "textQuery"?'),
        ({"textQuery": "x", "zzz": 1}, '"zzz"', "", "known: textQuery, filePaths"),
        ({"textQuery": "x", "limit": "5"}, '"limit"', '"5"', "an integer"),
        ({"textQuery": "x", "limit": 2.5}, '"limit"', "2.5", "an integer"),
        ({"textQuery": "x", "limit": True}, '"limit"', "true", "an integer"),
        ({"textQuery": "x", "filePaths": "src"}, '"filePaths"', '"src"', "a list of strings"),
        ({"textQuery": "x", "languages": [1]}, '"languages"', "[1]", "a list of strings"),
        ({"textQuery": "x", "minRecencyDays": "1"}, '"minRecencyDays"', '"1"', "a number"),
        ({"textQuery": "x", "cursor": 5}, '"cursor"', "5", "a string"),
        ({"textQuery": "x", "cursor": ["y" * 90]}, '"cursor"', "…", "a string"),
    ],
)
def test_the_error_of_an_invalid_query_names_field_value_and_remedy(
    data: Any, field: str, value: str, remedy: str
) -> None:
    with pytest.raises(QueryError) as caught:
        query_from_json(data)
    message = str(caught.value)
    assert field in message
    assert value in message
    assert remedy in message
    assert len(message) < 200
