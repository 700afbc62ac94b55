"""Validate the members of a `searchAgent` object against the fields of Config."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from rootle.config.fields import Config, make_key
from rootle.config.jsonc import Members, Value, to_python
from rootle.errors import ConfigError

_MAX_SHOWN_CHARS: Final = 60
# The minimum similarity, from 0 to 1, of an unknown key to the suggested key. It is low, because a
# wrong suggestion is better than none.
_MIN_SIMILARITY: Final = 0.5
_KINDS: Final = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
DEFAULT: Final = "default"
# Keys of earlier versions: old name -> new name.
_RENAMED: Final[Mapping[str, str]] = {
    "memoryBesideCode": "includeMemories",
    "refreshSeconds": "staleCheckSeconds",
}

# Pairs of fields: the value of the first must not exceed the value of the second.
_UPPER_BOUNDS: Final = (
    ("default_limit", "max_limit"),
    ("chunk_overlap_tokens", "max_chunk_size_tokens"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a value: a file and a line, or the command line."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}, line {self.line}"


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """The value of a key and its source."""

    value: Any  # Any: the type of the field
    origin: Origin


# Any: `record` is Config or the type of one of its fields.
def read_record(
    record: type[Any], members: Members, source: str, name: str
) -> dict[str, ConfigValue]:
    """Return the values of an object, by field name.

    `name` is the name of the object in error messages. Raise ConfigError if a key is unknown or
    repeated, or its value is invalid; the message names the file, the line, the key and the remedy.
    """
    known = {make_key(field.name): field for field in fields(record)}
    found: dict[str, ConfigValue] = {}
    for member in members:
        origin = Origin(source, member.line)
        if member.key not in known:
            raise ConfigError(f"{origin}: {_unknown_key(name, member.key, known)}")
        field = known[member.key]
        if field.name in found:
            first = found[field.name].origin.line
            raise ConfigError(
                f"{origin}: {name}.{member.key} is already set in line {first}; remove one of them"
            )
        value = _validate(field, member.value, origin, f"{name}.{member.key}")
        found[field.name] = ConfigValue(value, origin)
    return found


def _validate(field: Field[Any], value: Value, origin: Origin, name: str) -> Any:
    expected: type[Any] = type(field.default)
    if is_dataclass(expected):
        return _read_nested(field, value, origin, name)
    data: Any = value.data
    if expected is tuple:
        item: type[Any] | None = field.metadata["item"]
        if item is None:
            return _read_strings(value, origin, name, field.metadata["choices"])
        return _read_items(item, value, origin, name)
    if expected is float and type(data) is int:
        data = _to_float(data)
    if wanted := _find_mismatch(field, data):
        shown = "of another type" if field.metadata["secret"] else _abbreviate(value)
        raise ConfigError(f"{origin}: {name} is {shown}, expected {wanted}")
    if field.metadata["path"]:
        return _resolve_path(origin, data)
    if wanted := _find_excess(field, data):
        raise ConfigError(f"{origin}: {name} is {_abbreviate(value)}, expected {wanted}")
    return data


def _find_mismatch(field: Field[Any], data: Any) -> str:
    """Return what a field that is not a list expects; "" if it accepts the value.

    The range of numbers is not checked.
    """
    expected: type[Any] = type(field.default)
    if type(data) is not expected:
        return _KINDS.get(expected, expected.__name__)
    choices: tuple[str, ...] = field.metadata["choices"]
    if choices and data not in choices:
        return "one of " + ", ".join(f'"{one}"' for one in choices)
    return 'a URL: "http://…"' if field.metadata["url"] and data and not _is_url(data) else ""


def _find_excess(field: Field[Any], number: Any) -> str:
    """Return the range of a field; "" if the number is in it, or if there is no range."""
    span: tuple[float, float] | None = field.metadata["range"]
    return "" if not span or span[0] <= number <= span[1] else f"{span[0]} to {span[1]}"


def _is_url(text: str) -> bool:
    try:
        urlsplit(text)
    except ValueError:  # an invalid IPv6 address
        return False
    return text.startswith(("http://", "https://"))


def _resolve_path(origin: Origin, text: str) -> str:
    """Return the absolute path for a text that starts with "." or "~", and other texts unchanged.

    A relative path starts at the folder of the configuration file that contains it. For `--set`, it
    starts at the current folder.
    """
    if not text.startswith((".", "~")):
        return text
    folder = os.path.dirname(origin.source) if origin.line else os.curdir
    return os.path.abspath(os.path.join(folder, os.path.expanduser(text)))


def _read_nested(field: Field[Any], value: Value, origin: Origin, name: str) -> Any:
    default: Any = field.default
    if not isinstance(value.data, Members):
        keys = ", ".join(f'"{make_key(part.name)}"' for part in fields(default))
        raise ConfigError(
            f"{origin}: {name} is {_abbreviate(value)}, expected an object with {keys}"
        )
    parts = read_record(type(default), value.data, origin.source, name)
    return replace(default, **{key: part.value for key, part in parts.items()})


def _read_strings(
    value: Value, origin: Origin, name: str, choices: Sequence[str]
) -> tuple[str, ...]:
    data = to_python(value)
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
        raise ConfigError(f"{origin}: {name} is {_abbreviate(value)}, expected a list of strings")
    unknown = [item for item in data if choices and item not in choices]
    if unknown:
        raise ConfigError(
            f'{origin}: {name} contains "{unknown[0]}", expected some of {", ".join(choices)}'
        )
    return tuple(data)


def _read_items(item: type[Any], value: Value, origin: Origin, name: str) -> tuple[Any, ...]:
    if isinstance(value.data, Members) or not isinstance(value.data, tuple):
        raise ConfigError(f"{origin}: {name} is {_abbreviate(value)}, expected a list of objects")
    found = []
    for at, entry in enumerate(value.data):
        item_name = f"{name}[{at}]"
        if not isinstance(entry.data, Members):
            keys = ", ".join(f'"{make_key(part.name)}"' for part in fields(item))
            shown = _abbreviate(entry)
            raise ConfigError(f"{origin}: {item_name} is {shown}, expected an object with {keys}")
        parts = read_record(item, entry.data, origin.source, item_name)
        try:
            found.append(item(**{key: part.value for key, part in parts.items()}))
        except ValueError as error:
            raise ConfigError(f"{origin}: {item_name} {error}") from error
    return tuple(found)


def _to_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")  # infinity is outside the range of every field


def _abbreviate(value: Value) -> str:
    text = json.dumps(to_python(value), ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[: _MAX_SHOWN_CHARS - 1]}…"


def _unknown_key(section: str, key: str, known: Mapping[str, Any]) -> str:
    if key in _RENAMED:
        return f"{section}.{key} was renamed; use {section}.{_RENAMED[key]}"
    return f"unknown key {section}.{key}{_suggest(key, known)}"


def _suggest(key: str, known: Mapping[str, Any]) -> str:
    # Case is ignored, so that `denseTopk` suggests `denseTopK`.
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(key.lower(), lower, n=1, cutoff=_MIN_SIMILARITY)
    if near:
        return f'; did you mean "{lower[near[0]]}"?'
    return "; `rootle config show` lists the keys"


def check_config(config: Config) -> Config:
    """Return a Config that a program has created, with its lists converted to tuples.

    Raise ConfigError if a value does not have the type of its field, is out of range or is not one
    of the allowed choices, or if two values contradict each other.
    """
    checked: Config = _check_record(config, "")
    _check_bounds(checked, lambda name: f"{name}, {getattr(checked, name)}", "Config: ")
    return checked


def _check_bounds(config: Config, describe: Callable[[str], str], prefix: str = "") -> None:
    """Raise ConfigError if two values contradict each other.

    `describe` returns the name and the value of a field for the message.
    """
    for small, large in _UPPER_BOUNDS:
        if getattr(config, small) > getattr(config, large):
            raise ConfigError(
                f"{prefix}{describe(small)}, is greater than {describe(large)}; change one of them"
            )


def _check_record(record: Any, parent: str) -> Any:  # Any: Config, or the value of a field
    """Return a record with its lists converted to tuples. `parent` is the prefix of field names."""
    changes: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if value is field.default:
            continue
        if isinstance(field.default, tuple):
            value = changes[field.name] = tuple(value) if isinstance(value, list) else value
            wanted = _find_wrong_item(field, value)
        elif type(field.default) is float and type(value) is int:
            wanted = ""
        else:
            wanted = _find_mismatch(field, value)
        if wanted := wanted or _find_excess(field, value):
            secret = field.metadata.get("secret")
            shown = "of another type" if secret else repr(value)[:_MAX_SHOWN_CHARS]
            raise ConfigError(f"Config: {parent}{field.name} is {shown}, expected {wanted}")
        name = f"{parent}{field.name}"
        if is_dataclass(value):
            changes[field.name] = _check_record(value, f"{name}.")
        elif isinstance(value, tuple) and field.metadata["item"]:
            items = (_check_record(one, f"{name}[{at}].") for at, one in enumerate(value))
            changes[field.name] = tuple(items)
    return replace(record, **changes) if changes else record


def _find_wrong_item(field: Field[Any], data: Any) -> str:
    """Return what a field that contains a tuple expects; "" if it accepts the value."""
    item: type[Any] = field.metadata["item"] or str
    if not isinstance(data, tuple) or not all(isinstance(one, item) for one in data):
        return "a list of strings" if item is str else f"a list of {item.__name__}"
    choices: tuple[str, ...] = field.metadata["choices"]
    is_known = not choices or all(one in choices for one in data)
    return "" if is_known else f"some of {', '.join(choices)}"


def make_config(settings: Mapping[str, ConfigValue]) -> Config:
    """Return a Config with these values, and the default for every other key."""
    return replace(Config(), **{name: setting.value for name, setting in settings.items()})


def check_combinations(settings: Mapping[str, ConfigValue]) -> None:
    """Raise ConfigError if two values are valid on their own but contradict each other."""
    config = make_config(settings)
    _check_bounds(
        config,
        lambda name: f"{make_key(name)}, {getattr(config, name)} ({_origin(settings, name)})",
    )


def _origin(settings: Mapping[str, ConfigValue], name: str) -> str:
    return str(settings[name].origin) if name in settings else DEFAULT
