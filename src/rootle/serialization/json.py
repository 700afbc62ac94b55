"""Convert records to and from JSON, and check the types of arguments of the public API.

The names are in camelCase, as in the specification.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final

from rootle.errors import QueryError
from rootle.types import Filters, SearchQuery

_MAX_VALUE_CHARS: Final = 40  # the maximum length of a value in an error message
# Fields that are left out of the JSON data if their value is None.
_OPTIONAL_FIELDS: Final = frozenset(
    {
        *("explanation", "interpretation", "staleness", "coverage", "place", "symbols"),
        *("commit", "last_commit", "history", "origin", "trust", "warning", "external"),
        *("mentions", "images", "may_lack_files", "matching_lines", "renamed_from"),
    }
)


@lru_cache(maxsize=1_024)
def camel_case(name: str) -> str:
    """Return the JSON name of a field: `file_size_bytes` -> `fileSizeBytes`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_QUERY_KEYS: Final = {camel_case(f.name): f.name for f in fields(SearchQuery)}


def to_json(value: Any) -> Any:  # Any: a record, or data that consists of records
    """Return a record and its nested records as JSON data with camelCase names."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            camel_case(f.name): to_json(getattr(value, f.name))
            for f in fields(value)
            if not (f.name in _OPTIONAL_FIELDS and getattr(value, f.name) is None)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def query_from_json(data: Any) -> SearchQuery:  # Any: untrusted JSON
    """Return the query in a JSON object. Raise QueryError if a field is unknown or invalid."""
    if not isinstance(data, dict):
        raise QueryError(f'expected an object like {{"textQuery": "…"}}, got {abbreviate(data)}')
    for key in data:
        if key not in _QUERY_KEYS:
            raise QueryError(f'unknown field "{key}"{_hint(str(key), _QUERY_KEYS)}')
    if not isinstance(data.get("textQuery"), str):
        raise QueryError(f'"textQuery" is {abbreviate(data.get("textQuery"))}, expected a string')
    return SearchQuery(
        data["textQuery"],
        file_paths=_strings(data, "filePaths"),
        languages=_strings(data, "languages"),
        min_recency_days=_number(data, "minRecencyDays"),
        limit=_integer(data, "limit"),
        cursor=_string(data, "cursor"),
        context=_boolean(data, "context"),
        budget=_integer(data, "budget"),
        exclude=_strings(data, "exclude") or (),
        expand=data.get("expand") is None or _boolean(data, "expand"),
        at=_string(data, "at"),
    )


def apply_filters(
    query: SearchQuery | str, filters: Filters | Mapping[str, Any] | None
) -> SearchQuery:
    """Return a query with these filters. A filter that the query has already is kept.

    If `filters` is a mapping, its keys are the fields of `Filters`, in camelCase or in snake_case.
    Lists are accepted instead of tuples. Raises QueryError if the query or a filter has the wrong
    type, or if a filter is unknown.
    """
    base = SearchQuery(query) if isinstance(query, str) else check_query_types(query)
    if filters is None:
        return base
    filters = _parse_filters(_read_fields(filters) if isinstance(filters, Filters) else filters)
    values = {f.name: getattr(filters, f.name) for f in fields(Filters)}
    return replace(
        base, **{name: value for name, value in values.items() if getattr(base, name) is None}
    )


def check_query_types(query: object) -> SearchQuery:
    """Check the types in a query from a Python program, and return the query.

    Lists become tuples. Raises QueryError for a value of another type.
    """
    if not isinstance(query, SearchQuery):
        raise QueryError(f"the query is {abbreviate(query)}, expected a string or a SearchQuery")
    data = {
        camel_case(name): list(value) if isinstance(value, tuple) else value
        for name, value in _read_fields(query).items()
    }
    return query_from_json(data)


def check_text(name: str, value: object) -> None:
    """Raise QueryError unless an argument is a string."""
    if not isinstance(value, str):
        raise QueryError(f"{name} is {abbreviate(value)}, expected a string")


def check_integer(name: str, value: object) -> None:
    """Raise QueryError unless an argument is an integer or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise QueryError(f"{name} is {abbreviate(value)}, expected an integer")


def check_flag(name: str, value: object) -> None:
    """Raise QueryError unless an argument is a Boolean or None."""
    if value is not None and not isinstance(value, bool):
        raise QueryError(f"{name} is {abbreviate(value)}, expected True, False or None")


def check_texts(name: str, values: object) -> tuple[str, ...]:
    """Return an iterable of strings as a tuple; raise QueryError if it is anything else.

    A single string is refused, because each of its characters would be used as a string.
    """
    if isinstance(values, str):
        shown = abbreviate(values)
        raise QueryError(f"{name} is {shown}, expected a list of strings, such as [{shown}]")
    if not isinstance(values, Iterable):
        raise QueryError(f"{name} is {abbreviate(values)}, expected a list of strings")
    found = tuple(values)
    for value in found:
        check_text(f"an element of {name}", value)
    return found


def _read_fields(record: SearchQuery | Filters) -> dict[str, Any]:
    return {f.name: getattr(record, f.name) for f in fields(record)}


def _parse_filters(data: object) -> Filters:
    if not isinstance(data, Mapping):
        raise QueryError(
            f"the filters are {abbreviate(data)}, expected Filters or a mapping, as in "
            '{"languages": ["python"]}'
        )
    names = {camel_case(f.name): f.name for f in fields(Filters)}
    by_key = {camel_case(str(key)) if key in names.values() else key: data[key] for key in data}
    for key in by_key:
        if key not in names:
            raise QueryError(f'unknown filter "{key}"{_hint(str(key), names)}')
    lists = {
        key: list(value) if isinstance(value, tuple) else value for key, value in by_key.items()
    }
    return Filters(
        _strings(lists, "filePaths"), _strings(lists, "languages"), _number(lists, "minRecencyDays")
    )


def _hint(key: str, known: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"


def _boolean(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        raise QueryError(f'"{key}" is {abbreviate(value)}, expected true or false')
    return bool(value)


def _strings(data: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise QueryError(f'"{key}" is {abbreviate(value)}, expected a list of strings')
    return tuple(value)


def _number(data: Mapping[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise QueryError(f'"{key}" is {abbreviate(value)}, expected a number')
    return value


def _integer(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise QueryError(f'"{key}" is {abbreviate(value)}, expected an integer')
    return value


def _string(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise QueryError(f'"{key}" is {abbreviate(value)}, expected a string')
    return value


def abbreviate(value: object) -> str:
    """Return a value as JSON, shortened to 40 characters."""
    text = json.dumps(value, ensure_ascii=False, skipkeys=True, default=repr)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 1]}…"
