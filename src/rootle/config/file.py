"""One settings file: its `searchAgent` object, whatever else stands in it."""

from __future__ import annotations

import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.config.fields import SECTION
from rootle.config.jsonc import JsonError, Members, Value, parse
from rootle.errors import ConfigError

# The file of a program with many sections; what is larger was not written by hand.
_MAX_CHARS: Final = 1_000_000
_NEAR: Final = 0.8  # as alike as `searchAgents`


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """The members of a `searchAgent` object, and what a user should know of its file."""

    members: Members
    remarks: tuple[str, ...] = ()


def read_section(path: Path, *, only_regular: bool = False) -> ConfigSection | None:
    """The section of a file, empty where it has none; None where there is no file.

    With `only_regular` a link, a device and the like are left alone: they lead out of a repository.
    Raises ConfigError naming the file and the line.
    """
    try:
        if only_regular and not stat.S_ISREG(os.lstat(path).st_mode):
            return ConfigSection(
                Members(), (f"{path} is not read: it is a link or no regular file",)
            )
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_MAX_CHARS + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        if not os.path.lexists(path):  # in a folder that may not be entered
            return None
        raise ConfigError(f"cannot read the configuration {path}: {error}") from error
    if len(text) > _MAX_CHARS:
        raise ConfigError(f"{path} is too long for settings: more than {_MAX_CHARS} characters")
    try:
        return _section(parse(text), path)
    except JsonError as error:
        raise ConfigError(f"{path}, line {error.line}: {error}") from error


def _section(document: Value, path: Path) -> ConfigSection:
    if not isinstance(document.data, Members):
        raise ConfigError(f'{path}: expected an object with a "{SECTION}" object in it')
    found = [member for member in document.data if member.key == SECTION]
    if len(found) > 1:
        first = found[0].line
        raise ConfigError(
            f'{path}, line {found[1].line}: "{SECTION}" stands in line {first} already; join them'
        )
    if not found:
        return ConfigSection(Members(), _near_misses(document.data, path))
    if not isinstance(found[0].value.data, Members):
        raise ConfigError(f'{path}, line {found[0].line}: "{SECTION}" is no object; expected {{…}}')
    return ConfigSection(found[0].value.data)


def _near_misses(document: Members, path: Path) -> tuple[str, ...]:
    """Other sections are other programs', but for one that is ours by its looks."""
    return tuple(
        f'{path}, line {member.line}: "{member.key}" is not used; did you mean "{SECTION}"?'
        for member in document
        if difflib.SequenceMatcher(None, member.key.lower(), SECTION.lower()).ratio() >= _NEAR
    )
