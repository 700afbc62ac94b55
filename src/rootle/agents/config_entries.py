"""The entry of a server in a file of any format, and a check of each change to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from rootle.agents.catalog import Format
from rootle.agents.line_endings import TextError

# Each with `read`, `put` and `drop`; loaded when the first file of its kind is met.
_EDITORS: Final[Mapping[Format, str]] = {
    "json": "rootle.agents.json_edits",
    "toml": "rootle.agents.toml_edits",
    "yaml": "rootle.agents.yaml_edits",
}


def entry_at(text: str, kind: Format, keys: Sequence[str]) -> object:
    """What stands at the end of the keys; None where nothing does. Raises TextError."""
    value: Any = _editor(kind).read(text)  # Any: what a file may hold
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def depth_of(text: str, kind: Format, keys: Sequence[str]) -> int:
    """How many of the keys lead somewhere."""
    depth = len(keys)
    while depth and entry_at(text, kind, keys[:depth]) is None:
        depth -= 1
    return depth


def with_entry(text: str, kind: Format, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with the entry at the end of the keys, what else stands in it kept."""
    editor = _editor(kind)
    new = editor.put(text, keys, entry)
    wanted = editor.read(text)
    owner = wanted
    for key in keys:
        if owner.get(key) is None:
            owner[key] = {}
        owner = owner[key]
        if not isinstance(owner, dict):
            raise TextError(f"{key!r} holds no keys with values; please change it by hand")
    owner.update(entry)
    return _checked(editor, new, wanted, keys)


def without_entry(text: str, kind: Format, keys: Sequence[str], keep: int) -> str:
    """The text without what stands at the end of the keys, and without what that leaves empty.

    The first `keep` keys stay, empty or not, where the format tells the difference.
    """
    editor = _editor(kind)
    wanted = editor.read(text)
    owner: Any = wanted
    for key in keys[:-1]:
        owner = owner.get(key, {})
    owner.pop(keys[-1], None)
    return _checked(editor, editor.drop(text, keys, keep), wanted, keys)


def _editor(kind: Format) -> ModuleType:
    return import_module(_EDITORS[kind])


def _checked(editor: ModuleType, text: str, wanted: dict[str, Any], keys: Sequence[str]) -> str:
    """The text, once it is read and found to say what was wanted and nothing else.

    People write the same thing in many ways. Where one of them is not understood the file stays.
    """
    try:
        is_right = _like(editor.read(text), keys) == _like(wanted, keys)
    except TextError:
        is_right = False
    if not is_right:
        raise TextError(
            f"{'.'.join(keys)} is written in a way that rootle cannot change safely; "
            "please change it by hand"
        )
    return text


def _like(data: dict[str, Any], keys: Sequence[str]) -> object:
    """The data in a form that can be compared, without empty parts along the keys."""
    return _comparable(_pruned(data, keys))


def _comparable(data: Any) -> object:
    """Mappings without their order, and numbers as text: 1 is not true, NaN is itself."""
    if isinstance(data, Mapping):
        return sorted((repr(key), _comparable(value)) for key, value in data.items())
    return [_comparable(part) for part in data] if isinstance(data, list) else repr(data)


def _pruned(data: Any, keys: Sequence[str]) -> Any:
    if not keys or not isinstance(data, dict) or keys[0] not in data:
        return data
    inner = _pruned(data[keys[0]], keys[1:])
    rest = {key: value for key, value in data.items() if key != keys[0]}
    return rest if inner is None or inner == {} else {**rest, keys[0]: inner}
