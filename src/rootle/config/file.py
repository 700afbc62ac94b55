"""Read the `searchAgent` object of a configuration file; other objects in it are ignored."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Final

from rootle.config.fields import SECTION, Config, make_key
from rootle.config.jsonc import JsonError, Members, Value, parse
from rootle.errors import ConfigError
from rootle.storage.open_without_links import open_below

# The maximum length of a configuration file, in characters. The file may contain sections of other
# programs, but a person does not write a longer file.
_MAX_CHARS: Final = 1_000_000
# the minimum similarity, from 0 to 1, of a misspelled name, such as `searchAgents`, to the correct
# name
_MIN_SIMILARITY: Final = 0.8
_KEYS: Final = {make_key(field.name): field.default for field in fields(Config)}


@dataclass(frozen=True, slots=True)
class ConfigSection:
    """The members of a `searchAgent` object, and warnings about its file."""

    members: Members
    warnings: tuple[str, ...] = ()


def read_section(
    path: Path, *, only_regular: bool = False, accepts_streams: bool = True
) -> ConfigSection | None:
    """Return the section of a file; an empty section if the file has none.

    Return None if the file does not exist or its folder denies access. With `only_regular`, links
    and devices are not opened, because they may lead outside the repository. Raise ConfigError if
    the file cannot be read or parsed, if it is a broken link, or if it is a stream, such as a pipe,
    and `accepts_streams` is not set. The message names the file and, for invalid JSON, the line.
    """
    try:
        if only_regular and not stat.S_ISREG(os.lstat(path).st_mode):
            return ConfigSection(
                Members(), (f"{path} is not read: it is a link or not a regular file",)
            )
        if not accepts_streams and not stat.S_ISREG(os.stat(path).st_mode):
            raise ConfigError(
                f"the configuration {path} is not a regular file; replace or delete it"
            )
        source = open_below(os.fspath(path.parent), path.name) if only_regular else path
        with open(source, encoding="utf-8-sig") as file:
            text = file.read(_MAX_CHARS + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not only_regular:
            _check_links(path)
        return None
    except (OSError, UnicodeDecodeError) as error:
        if not os.path.lexists(path):  # its folder does not permit access
            return None
        raise ConfigError(f"cannot read the configuration {path}: {error}") from error
    if len(text) > _MAX_CHARS:
        raise ConfigError(
            f"{path} is too long for a configuration file: more than {_MAX_CHARS} characters"
        )
    try:
        return _read_document(parse(text), path)
    except JsonError as error:
        raise ConfigError(f"{path}, line {error.line}: {error}") from error


def _check_links(path: Path) -> None:
    """Raise ConfigError if a file is missing because it, or its folder, is a broken link.

    Without the settings in this file, rootle might do what the user has forbidden.
    """
    for link in (path, path.parent):
        if os.path.islink(link) and not os.path.exists(link):
            raise ConfigError(
                f"the configuration {path} cannot be read: {link} links to {os.readlink(link)}, "
                "which does not exist; correct or delete the link"
            )


def _read_document(document: Value, path: Path) -> ConfigSection:
    if not isinstance(document.data, Members):
        raise ConfigError(f'{path}: expected an object with a member "{SECTION}"')
    found = [member for member in document.data if member.key == SECTION]
    if len(found) > 1:
        first = found[0].line
        raise ConfigError(
            f'{path}, line {found[1].line}: "{SECTION}" is already in line {first}; merge them'
        )
    misplaced = (
        *_misplaced_keys(document.data, path),
        *_misspelled_keys(document.data, path),
    )
    if not found:
        return ConfigSection(Members(), (*_misspelled_sections(document.data, path), *misplaced))
    if not isinstance(found[0].value.data, Members):
        raise ConfigError(
            f'{path}, line {found[0].line}: "{SECTION}" is not an object; expected {{…}}'
        )
    return ConfigSection(found[0].value.data, misplaced)


def _misplaced_keys(document: Members, path: Path) -> tuple[str, ...]:
    """Return a warning for each key of the section that is set outside of it.

    A key that has an object instead of a simple value, or the reverse, is assumed to belong to
    another program that shares the file.
    """
    return tuple(
        f'{path}, line {member.line}: "{member.key}" is not used; '
        f'move it into the object "{SECTION}": {{"{SECTION}": {{"{member.key}": …}}}}'
        for member in document
        if member.key in _KEYS
        and isinstance(member.value.data, Members) == is_dataclass(_KEYS[member.key])
    )


def _misspelled_keys(document: Members, path: Path) -> Iterator[str]:
    """Yield a warning for each value outside of the section that looks like a misspelled key."""
    for member in document:
        if member.key in _KEYS or isinstance(member.value.data, Members):
            continue
        near = difflib.get_close_matches(member.key, _KEYS, n=1, cutoff=_MIN_SIMILARITY)
        if near:
            yield (
                f'{path}, line {member.line}: "{member.key}" is not used; '
                f'did you mean {{"{SECTION}": {{"{near[0]}": …}}}}?'
            )


def _misspelled_sections(document: Members, path: Path) -> tuple[str, ...]:
    """Return a warning for each member that looks like a misspelled section name."""
    return tuple(
        f'{path}, line {member.line}: "{member.key}" is not used; did you mean "{SECTION}"?'
        for member in document
        if difflib.SequenceMatcher(None, member.key.lower(), SECTION.lower()).ratio()
        >= _MIN_SIMILARITY
    )
