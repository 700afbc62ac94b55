"""The files that settings come from."""

from __future__ import annotations

from pathlib import Path

from rootle.config import NOT_USED_YET, SECTION, Config, key_of
from rootle.errors import ConfigError
from rootle.settings.check import Setting, config_from, read_record
from rootle.settings.jsonc import JsonError, Members, parse


def load_config(path: Path) -> tuple[Config, tuple[str, ...]]:
    """The configuration in a file, and remarks on keys that this version does not use yet.

    Raises ConfigError naming the file, the line, the key and the cure.
    """
    settings = read_file(path)
    remarks = tuple(
        f"{setting.origin}: {SECTION}.{key_of(name)} is not used by this version"
        for name, setting in settings.items()
        if key_of(name) in NOT_USED_YET
    )
    return config_from(settings), remarks


def read_file(path: Path) -> dict[str, Setting]:
    """The settings in the `searchAgent` object of a file, by the name of their field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the configuration {path}: {error}") from error
    try:
        document = parse(text)
    except JsonError as error:
        raise ConfigError(f"{path}, line {error.line}: {error}") from error
    if not isinstance(document.data, Members):
        raise ConfigError(f'{path}: expected an object with a "{SECTION}" object in it')
    sections = [member for member in document.data if member.key == SECTION]
    if len(sections) > 1:
        where = f"{path}, line {sections[1].line}"
        raise ConfigError(f'{where}: "{SECTION}" stands in line {sections[0].line} already')
    if not sections:
        return {}
    section = sections[0].value
    if not isinstance(section.data, Members):
        where = f"{path}, line {section.line}"
        raise ConfigError(f'{where}: expected an object as the "{SECTION}" of the file')
    return read_record(Config, section.data, str(path), SECTION)
