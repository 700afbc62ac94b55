"""A coding agent: the files that configure it, and the form of a server's entry in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

Format = Literal["json", "toml", "yaml"]
Scope = Literal["user", "project"]
SCOPES: Final[tuple[Scope, ...]] = ("user", "project")


class ConfigPart(Enum):
    """A placeholder in an entry for a part of the command."""

    PROGRAM = 1
    ARGUMENTS = 2  # a list
    COMMAND_LINE = 3  # the program and its arguments as one list


# Agents replace this variable with the folder of the project when they start a server.
WORKSPACE: Final = "${workspaceFolder}"
# Replaced by the path of the project on installation, so the entry serves one project.
PROJECT_FOLDER: Final = "."


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """A path on each platform. `~` is the home folder, `${NAME:-default}` a variable."""

    path: str
    macos: str = ""  # empty: the same as `path`
    windows: str = ""


@dataclass(frozen=True, slots=True)
class PromptHook:
    """A command that an agent runs before each message of the user, to add context to it.

    All agents in the catalog write JSON to the command and read JSON from it, in the same form.
    """

    event: str
    user_config: tuple[ConfigLocation, ...]
    project_config: tuple[str, ...]
    timeout: int  # in the unit of the agent, seconds or milliseconds
    note: str = ""  # what the user must do after the installation


@dataclass(frozen=True, slots=True)
class Agent:
    """One coding agent. If several files serve one purpose, the first existing one is used."""

    name: str
    title: str
    programs: tuple[str, ...]  # its commands on the PATH
    data_locations: tuple[ConfigLocation, ...]  # files or folders that it creates
    user_config: tuple[ConfigLocation, ...]  # the configuration for all projects
    project_config: tuple[str, ...]  # the configuration inside a project
    keys: tuple[str, ...]  # nested keys of the mapping that contains the servers
    entry: Mapping[str, Any]  # Any: JSON with ConfigPart in it
    # Keys of the entry that show the tools to a model without a search for them.
    loading: Mapping[str, Any] = field(default_factory=dict)
    format: Format = "json"
    newer_keys: tuple[str, ...] = ()  # the keys in a newer format of the file
    root: str = ""  # value of `--root`, if servers do not start in the folder of the project
    user_instructions: tuple[ConfigLocation, ...] = ()  # read before every session
    project_instructions: tuple[str, ...] = ("AGENTS.md",)  # the same inside a project
    new_instructions: str = "AGENTS.md"  # the file of the project to create if there is none
    prompt_hook: PromptHook | None = None

    def has_config(self, scope: Scope) -> bool:
        return bool(self.user_config if scope == "user" else self.project_config)
