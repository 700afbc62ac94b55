"""Where settings come from: files in a fixed order, and the command line above them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, Final

from rootle.config.fields import SECTION, Config, key_of
from rootle.config.file import ConfigSection, read_section
from rootle.config.jsonc import JsonError, Member, Members, Value, parse
from rootle.config.validation import ConfigValue, Origin, check_together, config_from, read_record
from rootle.errors import ConfigError

PROJECT_FILE: Final = ".rootle.json"
VARIABLE: Final = "ROOTLE_CONFIG"
COMMAND_LINE: Final = "command line"

_FIELDS: Final[Mapping[str, Field[Any]]] = {key_of(field.name): field for field in fields(Config)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one folder, and why."""

    config: Config
    origins: Mapping[str, Origin]  # name of a field -> where its value came from, default left out
    files: tuple[tuple[Path, bool], ...]  # every file looked for, the strongest first; is it there
    remarks: tuple[str, ...]  # what a user should know of: keys without effect


def read_settings(root: Path, file: str | None = None, assignments: Sequence[str] = ()) -> Settings:
    """The settings for a folder: of each key, what the strongest source says.

    `file` is what `--config` names, `assignments` are the `KEY=VALUE` of `--set`. Raises
    ConfigError naming the source, the line, the key and the cure.
    """
    settings: dict[str, ConfigValue] = {}
    files: list[tuple[Path, bool]] = []
    remarks: list[str] = []
    for path, section in _sections(root, file):
        files.insert(0, (path, section is not None))
        if section is not None:
            found = read_record(Config, section.members, str(path), SECTION)
            remarks += section.remarks
            settings |= found
    said = read_record(Config, _members(assignments), COMMAND_LINE, SECTION)
    settings |= said
    check_together(settings)
    origins = {name: setting.origin for name, setting in settings.items()}
    return Settings(config_from(settings), origins, tuple(files), tuple(remarks))


def load_config(path: Path) -> tuple[Config, tuple[str, ...]]:
    """The configuration in one file and nothing else, and remarks on it."""
    section = read_section(path)
    if section is None:
        raise ConfigError(f"{path}: there is no such file")
    found = read_record(Config, section.members, str(path), SECTION)
    check_together(found)
    return config_from(found), section.remarks


def user_file() -> Path:
    """The user's own file, in the folder where the platform keeps settings."""
    from platformdirs import user_config_path

    return user_config_path("rootle", appauthor=False) / "config.json"


def _sections(root: Path, file: str | None) -> Iterator[tuple[Path, ConfigSection | None]]:
    """Every file that may speak, the weakest first; None for one that is not there."""
    for path in (Path(os.path.expanduser("~/.nootropic/config.json")), user_file()):
        # Where nobody knows the home, the path begins with "~": a folder that a clone may hold.
        if path.is_absolute():
            yield path, read_section(path)
    named = _named_file(file)
    project = root / PROJECT_FILE
    # Whoever names the project's file on purpose trusts it as a whole.
    if named is None or os.path.realpath(named) != os.path.realpath(project):
        section = read_section(project, only_regular=True)
        yield project, section and _harmless(section, project)
    if named is not None:
        section = read_section(named)
        if section is None:
            raise ConfigError(f"{named}: there is no such file")
        yield named, section


def _named_file(option: str | None) -> Path | None:
    name = option or os.environ.get(VARIABLE)
    return Path(os.path.abspath(os.path.expanduser(name))) if name else None


def _harmless(section: ConfigSection, path: Path) -> ConfigSection:
    """Without the keys that a repository may not set for whoever clones it."""
    kept, remarks = [], list(section.remarks)
    for member in section.members:
        field = _FIELDS.get(member.key)
        if field is None or field.metadata["project"]:
            kept.append(member)
        else:
            remarks.append(
                f"{Origin(str(path), member.line)}: {SECTION}.{member.key} is left out, which the "
                f"file of a project may not set; if you want it, set it in {user_file()}"
            )
    return ConfigSection(Members(kept), tuple(remarks))


def _members(assignments: Sequence[str]) -> Members:
    """What `--set` said, as if it stood in a file; the last word on a key counts."""
    members = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise ConfigError(f'--set takes KEY=VALUE, as in --set defaultLimit=20, not "{key}"')
        field = _FIELDS.get(key)
        if field is not None and field.metadata["secret"]:
            # Every process of the machine can read it there, and the shell writes it down.
            raise ConfigError(f"--set {key}: a key does not belong there; put it in {user_file()}")
        members[key] = Member(key, None, _value(text, field))
    return Members(members.values())


def _value(text: str, field: Field[Any] | None) -> Value:
    """What stands after `=`: JSON, or a text as it is."""
    if field is not None and isinstance(field.default, str):
        return Value(text, 1)
    try:
        return parse(text)
    except JsonError:
        return Value(text, 1)  # named in the error that follows
