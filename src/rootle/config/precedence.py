"""Load the configuration: files in order of precedence, overridden by the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, Final

from rootle.config.fields import SECTION, Config, make_key
from rootle.config.file import ConfigSection, read_section
from rootle.config.jsonc import JsonError, Member, Members, Value, parse
from rootle.config.key_validation import (
    ConfigValue,
    Origin,
    check_combinations,
    make_config,
    read_record,
)
from rootle.errors import ConfigError

PROJECT_FILE: Final = ".rootle.json"
VARIABLE: Final = "ROOTLE_CONFIG"
COMMAND_LINE: Final = "command line"

_FIELDS: Final[Mapping[str, Field[Any]]] = {make_key(field.name): field for field in fields(Config)}


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a folder and the source of each value."""

    config: Config
    # field name -> origin; fields with their default value are absent
    origins: Mapping[str, Origin]
    files: tuple[
        tuple[Path, bool], ...
    ]  # every candidate file and whether it exists, highest precedence first
    warnings: tuple[str, ...]  # about ignored keys, files and sections


def read_settings(root: Path, file: str | None = None, assignments: Sequence[str] = ()) -> Settings:
    """Return the configuration of a folder. For each key, the source of highest precedence wins.

    `file` is the value of `--config`, and `assignments` are the `KEY=VALUE` arguments of `--set`.
    Raise ConfigError if a file or a value cannot be used; the message names the source, the line,
    the key and the remedy.
    """
    settings: dict[str, ConfigValue] = {}
    files: list[tuple[Path, bool]] = []
    warnings: list[str] = []
    for path, section in _sections(root, file):
        files.insert(0, (path, section is not None))
        if section is not None:
            found = read_record(Config, section.members, str(path), SECTION)
            warnings += section.warnings
            settings |= found
    settings |= read_record(Config, _parse_assignments(assignments), COMMAND_LINE, SECTION)
    check_combinations(settings)
    origins = {name: setting.origin for name, setting in settings.items()}
    return Settings(make_config(settings), origins, tuple(files), tuple(warnings))


def load_config(path: Path) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration of a single file, and warnings about it."""
    section = read_section(path)
    if section is None:
        raise ConfigError(f"{path}: no such file")
    found = read_record(Config, section.members, str(path), SECTION)
    check_combinations(found)
    return make_config(found), section.warnings


def user_file() -> Path:
    """Return the path of the user's file, in the configuration folder of the platform."""
    from platformdirs import user_config_path

    return user_config_path("rootle", appauthor=False) / "config.json"


def _sections(root: Path, file: str | None) -> Iterator[tuple[Path, ConfigSection | None]]:
    """Yield each candidate file, lowest precedence first, with its section or None if missing."""
    for path in (Path(os.path.expanduser("~/.nootropic/config.json")), user_file()):
        # Without a home directory, "~" is not expanded, and a clone may contain a folder "~".
        if path.is_absolute():
            yield path, read_section(path, accepts_streams=False)
    named = _named_file(file)
    project = root / PROJECT_FILE
    # A project file that the user names explicitly is trusted completely.
    if named is None or os.path.realpath(named) != os.path.realpath(project):
        section = read_section(project, only_regular=True)
        yield project, section and _project_safe(section, project)
    if named is not None:
        section = read_section(named)
        if section is None:
            raise ConfigError(f"{named}: no such file")
        yield named, section


def _named_file(option: str | None) -> Path | None:
    name = option or os.environ.get(VARIABLE)
    return Path(os.path.abspath(os.path.expanduser(name))) if name else None


def _project_safe(section: ConfigSection, path: Path) -> ConfigSection:
    """Return the section without keys that a repository must not set, and a warning for each."""
    kept, warnings = [], list(section.warnings)
    for member in section.members:
        field = _FIELDS.get(member.key)
        if field is None or field.metadata["project"]:
            kept.append(member)
        else:
            warnings.append(
                f"{Origin(str(path), member.line)}: {SECTION}.{member.key} is ignored: "
                f"a project file must not set it; to use it, set it in {user_file()}"
            )
    return ConfigSection(Members(kept), tuple(warnings))


def _parse_assignments(assignments: Sequence[str]) -> Members:
    """Return the `--set` arguments as members of a file; the last value of a key wins."""
    members = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f'--set takes KEY=VALUE, as in --set defaultLimit=20, not "{key}"')
        field = _FIELDS.get(key)
        if field is not None and field.metadata["secret"]:
            # Every process can read the command line, and the shell records it in its history.
            raise ConfigError(
                f"--set {key}: secrets are not accepted on the command line; "
                f"set it in {user_file()}"
            )
        members[key] = Member(key, None, _parse_value(text, field))
    return Members(members.values())


def _parse_value(text: str, field: Field[Any] | None) -> Value:
    """Parse the text after `=`: JSON, or the text itself for a string field."""
    if field is not None and isinstance(field.default, str):
        return Value(text, 1)
    try:
        return parse(text)
    except JsonError:
        return Value(text, 1)  # validation reports the wrong type
