"""What stands in a `searchAgent` object, held against the fields of Config."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import Any, Final

from rootle.config.fields import Config, key_of
from rootle.config.jsonc import Members, Value, plain
from rootle.errors import ConfigError

_LONGEST_SHOWN: Final = 60
_NEAR: Final = 0.5  # a wrong guess is better than none where the list is this long
_KINDS: Final = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
DEFAULT: Final = "default"

# The first may not be more than the second.
_AT_MOST: Final = (
    ("default_limit", "max_limit"),
    ("chunk_overlap_tokens", "max_chunk_size_tokens"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: a file with the line, or the command line."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}, line {self.line}"


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """The value of one key and where it came from."""

    value: Any  # Any: of the type of its field
    origin: Origin


# Any: a record of settings, which is a Config or the value of one of its keys.
def read_record(
    record: type[Any], members: Members, source: str, name: str
) -> dict[str, ConfigValue]:
    """The settings in an object, by the name of their field; `name` is what the object is called.

    Raises ConfigError naming the file, the line, the key and the cure.
    """
    known = {key_of(field.name): field for field in fields(record)}
    found: dict[str, ConfigValue] = {}
    for member in members:
        origin = Origin(source, member.line)
        if member.key not in known:
            near = _suggestion(member.key, known)
            raise ConfigError(f"{origin}: unknown key {name}.{member.key}{near}")
        field = known[member.key]
        if field.name in found:
            first = found[field.name].origin.line
            raise ConfigError(
                f"{origin}: {name}.{member.key} was set in line {first} already; take one out"
            )
        value = _checked(field, member.value, origin, f"{name}.{member.key}")
        found[field.name] = ConfigValue(value, origin)
    return found


def _checked(field: Field[Any], value: Value, origin: Origin, name: str) -> Any:
    wanted: type[Any] = type(field.default)
    if is_dataclass(wanted):
        return _nested(field, value, origin, name)
    data: Any = value.data
    if wanted is tuple:
        item: type[Any] | None = field.metadata["item"]
        return _texts(value, origin, name) if item is None else _items(item, value, origin, name)
    if wanted is float and type(data) is int:
        data = _as_float(data)
    if type(data) is not wanted:
        shown = "something else" if field.metadata["secret"] else _shown(value)
        raise ConfigError(f"{origin}: {name} is {shown}, expected {_KINDS[wanted]}")
    if field.metadata["path"]:
        return _path_seen_from(origin, data)
    span: tuple[float, float] | None = field.metadata["range"]
    if field.metadata["url"] and data and not data.startswith(("http://", "https://")):
        raise ConfigError(f'{origin}: {name} is {_shown(value)}, expected a URL: "http://…"')
    if span and not span[0] <= data <= span[1]:
        shown = _shown(value)
        raise ConfigError(f"{origin}: {name} is {shown}, expected {span[0]} to {span[1]}")
    return data


def _path_seen_from(origin: Origin, text: str) -> str:
    """A relative path counts from its file, and never from the folder that is searched."""
    if not text.startswith((".", "~")):
        return text
    folder = os.path.dirname(origin.source) if origin.line else os.curdir
    return os.path.abspath(os.path.join(folder, os.path.expanduser(text)))


def _nested(field: Field[Any], value: Value, origin: Origin, name: str) -> Any:
    default: Any = field.default
    if not isinstance(value.data, Members):
        keys = ", ".join(f'"{key_of(part.name)}"' for part in fields(default))
        raise ConfigError(f"{origin}: {name} is {_shown(value)}, expected an object with {keys}")
    parts = read_record(type(default), value.data, origin.source, name)
    return replace(default, **{key: part.value for key, part in parts.items()})


def _texts(value: Value, origin: Origin, name: str) -> tuple[str, ...]:
    data = plain(value)
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
        raise ConfigError(f"{origin}: {name} is {_shown(value)}, expected a list of texts")
    return tuple(data)


def _items(item: type[Any], value: Value, origin: Origin, name: str) -> tuple[Any, ...]:
    if isinstance(value.data, Members) or not isinstance(value.data, tuple):
        raise ConfigError(f"{origin}: {name} is {_shown(value)}, expected a list of objects")
    found = []
    for at, entry in enumerate(value.data):
        own = f"{name}[{at}]"
        if not isinstance(entry.data, Members):
            keys = ", ".join(f'"{key_of(part.name)}"' for part in fields(item))
            shown = _shown(entry)
            raise ConfigError(f"{origin}: {own} is {shown}, expected an object with {keys}")
        parts = read_record(item, entry.data, origin.source, own)
        try:
            found.append(item(**{key: part.value for key, part in parts.items()}))
        except ValueError as error:
            raise ConfigError(f"{origin}: {own} {error}") from error
    return tuple(found)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")  # out of every range


def _shown(value: Value) -> str:
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _suggestion(key: str, known: Mapping[str, Any]) -> str:
    # Without regard to case: `denseTopk` is `denseTopK`.
    lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(key.lower(), lower, n=1, cutoff=_NEAR)
    if near:
        return f'; did you mean "{lower[near[0]]}"?'
    return "; `rootle config show` lists the known ones"


def config_from(settings: Mapping[str, ConfigValue]) -> Config:
    """A Config of these settings, and the default for every other key."""
    return replace(Config(), **{name: setting.value for name, setting in settings.items()})


def check_together(settings: Mapping[str, ConfigValue]) -> None:
    """Raise ConfigError where two keys, each fine alone, contradict one another."""
    config = config_from(settings)
    for small, large in _AT_MOST:
        if getattr(config, small) > getattr(config, large):
            below, above = (
                f"{key_of(name)}, {getattr(config, name)} ({_origin(settings, name)})"
                for name in (small, large)
            )
            raise ConfigError(f"{below}, is more than {above}; set both")


def _origin(settings: Mapping[str, ConfigValue], name: str) -> str:
    return str(settings[name].origin) if name in settings else DEFAULT
