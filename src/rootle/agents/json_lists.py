"""Append, replace or remove one item of a list in JSON text with comments.

The rest of the text stays unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from rootle.agents.config_text import ConfigTextError, detect_newline
from rootle.agents.json_edits import (
    end_of_previous_line,
    margin_before,
    parse_object,
    set_entry,
)
from rootle.config.jsonc import Members, Value, skip_space

Path = Sequence[str | int]  # keys of objects and positions in lists
_EMPTY: Final = ("", "{}")


def append_item(text: str, keys: Sequence[str], item: Any) -> str:  # Any: JSON
    """Return the text with an item at the end of the list under nested keys.

    A missing list is created.
    """
    if text.strip() in _EMPTY or (owner := _find(parse_object(text), keys)) is None:
        return set_entry(text, keys[:-1], {keys[-1]: [item]})
    if not _is_list(owner):
        raise ConfigTextError(f'"{keys[-1]}" is not a list; expected […]', owner.line)
    new = json.dumps(item, ensure_ascii=False)
    if not owner.data:
        return text[: owner.start + 1] + new + text[owner.start + 1 :]
    last: Value = owner.data[-1]
    margin = margin_before(text, last.start)
    space = " " if margin is None else detect_newline(text) + margin
    return f"{text[: last.end]},{space}{new}{text[last.end :]}"


def replace_value(text: str, path: Path, value: Any) -> str:  # Any: JSON
    """Return the text with a new value at a path; unchanged if the path does not exist."""
    old = _find(parse_object(text), path)
    if old is None:
        return text
    return text[: old.start] + json.dumps(value, ensure_ascii=False) + text[old.end :]


def remove_item(text: str, path: Path) -> str:
    """Return the text without one item of a list. The path ends with the position of the item."""
    owner, at = _find(parse_object(text), path[:-1]), int(path[-1])
    if owner is None or not _is_list(owner) or at >= len(owner.data):
        return text
    item: Value = owner.data[at]
    if at:
        comma = skip_space(text, owner.data[at - 1].end)
        before = text[:comma] + text[comma + 1 : end_of_previous_line(text, item.start)]
        return before + text[item.end :]
    comma = skip_space(text, item.end)
    end = comma + 1 if text[comma] == "," else item.end
    if len(owner.data) == 1:
        return text[: item.start] + text[end:]
    if margin_before(text, item.start) is None:
        return text[: item.start] + text[end:].lstrip(" \t")
    return text[: end_of_previous_line(text, item.start)] + text[end:]


def _find(root: Value, path: Path) -> Value | None:
    """Return the value at a path; None if there is none."""
    value = root
    for step in path:
        if isinstance(step, int) and _is_list(value) and step < len(value.data):
            value = value.data[step]
        elif isinstance(value.data, Members) and isinstance(step, str):
            members = [member.value for member in value.data if member.key == step]
            if not members:
                return None
            value = members[-1]
        else:
            return None
    return value


def _is_list(value: Value) -> bool:
    return isinstance(value.data, tuple) and not isinstance(value.data, Members)
