"""Set or remove the entry of an MCP server in JSON, TOML or YAML text; verify the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from rootle.agents.agent import Format
from rootle.agents.config_text import ConfigTextError

# Modules with `parse`, `set_entry` and `remove_entry`. Each is imported when the first file of its
# format is read.
_EDITORS: Final[Mapping[Format, str]] = {
    "json": "rootle.agents.json_edits",
    "toml": "rootle.agents.toml_edits",
    "yaml": "rootle.agents.yaml_edits",
}


def read_entry(text: str, kind: Format, keys: Sequence[str]) -> object:
    """Return the value under nested keys; None if there is none.

    Raise ConfigTextError if the text is invalid.
    """
    value: Any = _editor(kind).parse(text)  # Any: the content of the file
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def existing_depth(text: str, kind: Format, keys: Sequence[str]) -> int:
    """Return how many of the nested keys exist, counted from the outermost key.

    A key without a value, which YAML allows, counts as existing.
    """
    value: Any = _editor(kind).parse(text)  # Any: the content of the file
    for depth, key in enumerate(keys):
        if not isinstance(value, Mapping) or key not in value:
            return depth
        value = value[key]
    return len(keys)


def set_entry(text: str, kind: Format, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return the text with the entry under nested keys and everything else unchanged.

    If there is an entry already, keys that only the old entry has are kept. Raise ConfigTextError
    if the text cannot be edited safely.
    """
    editor = _editor(kind)
    edited = editor.set_entry(text, keys, entry)
    expected = editor.parse(text)
    owner = expected
    for key in keys:
        if owner.get(key) is None:
            owner[key] = {}
        owner = owner[key]
        if not isinstance(owner, dict):
            raise ConfigTextError(f"{key!r} is not a mapping; edit the file by hand")
    owner.update(entry)
    return _verify(editor, edited, expected, keys)


def remove_entry(text: str, kind: Format, keys: Sequence[str], keep: int) -> str:
    """Return the text without the value under nested keys, and without mappings that become empty.

    In JSON and YAML, the mappings under the first `keep` keys of the path are kept even if they
    become empty. Raise ConfigTextError if the text cannot be edited safely.
    """
    editor = _editor(kind)
    expected = editor.parse(text)
    owner: Any = expected
    for key in keys[:-1]:
        owner = owner.get(key, {})
    owner.pop(keys[-1], None)
    return _verify(editor, editor.remove_entry(text, keys, keep), expected, keys)


def _editor(kind: Format) -> ModuleType:
    return import_module(_EDITORS[kind])


def _verify(editor: ModuleType, text: str, expected: dict[str, Any], keys: Sequence[str]) -> str:
    """Return the text if it parses to the expected data; otherwise raise ConfigTextError.

    The editors do not support every notation. A file in an unsupported notation is not changed.
    """
    try:
        is_expected = _normalize(editor.parse(text), keys) == _normalize(expected, keys)
    except (ConfigTextError, RecursionError):  # the values may be nested too deeply to compare
        is_expected = False
    if not is_expected:
        raise ConfigTextError(
            f"rootle cannot edit {'.'.join(keys)} safely in this notation; edit the file by hand"
        )
    return text


def _normalize(data: dict[str, Any], keys: Sequence[str]) -> object:
    """Return the data in a comparable form, without empty mappings under these nested keys."""
    return _comparable(_prune(data, keys))


def _comparable(data: Any) -> object:
    """Return the data with mappings as sorted lists and scalars as text.

    In this form, 1 differs from true, and NaN equals NaN.
    """
    if isinstance(data, Mapping):
        return sorted((repr(key), _comparable(value)) for key, value in data.items())
    return [_comparable(part) for part in data] if isinstance(data, list) else repr(data)


def _prune(data: Any, keys: Sequence[str]) -> Any:
    if not keys or not isinstance(data, dict) or keys[0] not in data:
        return data
    inner = _prune(data[keys[0]], keys[1:])
    rest = {key: value for key, value in data.items() if key != keys[0]}
    return rest if inner is None or inner == {} else {**rest, keys[0]: inner}
