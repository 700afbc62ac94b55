"""Records as JSON and back, under the camelCase names of the specification."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from rootle.errors import QueryError
from rootle.types import SearchQuery, camel_case

# Left out where nobody asked for them.
_EXPLAINING: Final = frozenset({"explanation", "understood"})
_QUERY_KEYS: Final = {camel_case(f.name): f.name for f in fields(SearchQuery)}


def to_json(value: Any) -> Any:  # Any: a value of any shape becomes what `json` accepts
    """A record as plain JSON data under its camelCase names, nested records included."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            camel_case(f.name): to_json(getattr(value, f.name))
            for f in fields(value)
            if not (f.name in _EXPLAINING and getattr(value, f.name) is None)
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
            near = difflib.get_close_matches(str(key), _QUERY_KEYS, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(_QUERY_KEYS)}"
            raise QueryError(f'unknown field "{key}"{hint}')
    if not isinstance(data.get("textQuery"), str):
        raise QueryError(f'"textQuery" is {_shown(data.get("textQuery"))}, expected a text')
    return SearchQuery(
        data["textQuery"],
        file_paths=_texts(data, "filePaths"),
        languages=_texts(data, "languages"),
        min_recency_days=_number(data, "minRecencyDays"),
        limit=_whole(data, "limit"),
        cursor=_text(data, "cursor"),
    )


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
