"""Records as JSON and back, under the camelCase names of the specification."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from rootle.errors import QueryError
from rootle.types import Filters, SearchQuery, camel_case

# Left out where nobody asked for them, or where there is nothing to say.
_BY_OCCASION: Final = frozenset({"explanation", "interpretation", "staleness", "coverage", "place"})
_QUERY_KEYS: Final = {camel_case(f.name): f.name for f in fields(SearchQuery)}


def to_json(value: Any) -> Any:  # Any: a value of any shape becomes what `json` accepts
    """A record as plain JSON data under its camelCase names, nested records included."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            camel_case(f.name): to_json(getattr(value, f.name))
            for f in fields(value)
            if not (f.name in _BY_OCCASION and getattr(value, f.name) is None)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def query_from_json(data: Any) -> SearchQuery:  # Any: whatever a stranger sent
    """A query from its JSON object; raises QueryError naming the field, the value and the cure."""
    if not isinstance(data, dict):
        raise QueryError(f'expected an object like {{"textQuery": "…"}}, got {_shown(data)}')
    for key in data:
        if key not in _QUERY_KEYS:
            raise QueryError(f'unknown field "{key}"{_hint(str(key), _QUERY_KEYS)}')
    if not isinstance(data.get("textQuery"), str):
        raise QueryError(f'"textQuery" is {_shown(data.get("textQuery"))}, expected a text')
    return SearchQuery(
        data["textQuery"],
        file_paths=_texts(data, "filePaths"),
        languages=_texts(data, "languages"),
        min_recency_days=_number(data, "minRecencyDays"),
        limit=_whole(data, "limit"),
        cursor=_text(data, "cursor"),
        context=_flag(data, "context"),
        budget=_whole(data, "budget"),
        exclude=_texts(data, "exclude") or (),
    )


def query_with(
    query: SearchQuery | str, filters: Filters | Mapping[str, Any] | None
) -> SearchQuery:
    """A query with filters of its own, which count where the query has none of that kind.

    A mapping has the names of `Filters`, in JSON's spelling or in Python's. Raises QueryError.
    """
    asked = SearchQuery(query) if isinstance(query, str) else query
    if filters is None:
        return asked
    if not isinstance(filters, Filters):
        filters = _filters_from(filters)
    given = {f.name: getattr(filters, f.name) for f in fields(Filters)}
    return replace(
        asked, **{name: value for name, value in given.items() if getattr(asked, name) is None}
    )


def _filters_from(data: Mapping[str, Any]) -> Filters:
    names = {camel_case(f.name): f.name for f in fields(Filters)}
    plain = {camel_case(str(key)) if key in names.values() else key: data[key] for key in data}
    for key in plain:
        if key not in names:
            raise QueryError(f'unknown filter "{key}"{_hint(str(key), names)}')
    lists = {
        key: list(value) if isinstance(value, tuple) else value for key, value in plain.items()
    }
    return Filters(
        _texts(lists, "filePaths"), _texts(lists, "languages"), _number(lists, "minRecencyDays")
    )


def _hint(key: str, known: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    if value is not None and not isinstance(value, bool):
        raise QueryError(f'"{key}" is {_shown(value)}, expected true or false')
    return bool(value)


def _texts(data: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise QueryError(f'"{key}" is {_shown(value)}, expected a list of texts')
    return tuple(value)


def _number(data: Mapping[str, Any], key: str) -> float | None:
    value = data.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise QueryError(f'"{key}" is {_shown(value)}, expected a number')
    return value


def _whole(data: Mapping[str, Any], key: str) -> int | None:
    value = data.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise QueryError(f'"{key}" is {_shown(value)}, expected a whole number')
    return value


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise QueryError(f'"{key}" is {_shown(value)}, expected a text')
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
