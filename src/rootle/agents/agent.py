"""Records that describe coding agents, their configuration files and the server entries in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

Format = Literal["json", "toml", "yaml"]
Scope = Literal["user", "project"]
SCOPES: Final[tuple[Scope, ...]] = ("user", "project")


class ConfigPart(Enum):
    """A placeholder in `Agent.entry` that is replaced by a part of rootle's command."""

    PROGRAM = 1
    ARGUMENTS = 2  # the arguments of the program, as a list
    COMMAND_LINE = 3  # the program and its arguments as one list


# A value of `Agent.root`: a variable that agents replace with the folder of the project when they
# start a server.
WORKSPACE: Final = "${workspaceFolder}"
# A value of `Agent.root` that the installation replaces with the path of the project. The entry
# then serves only this project.
PROJECT_FOLDER: Final = "."


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """The path of a file or folder on each platform.

    `~` is the home folder, and `${NAME:-default}` is an environment variable with a default.
    """

    path: str
    macos: str = ""  # empty: the same as `path`
    windows: str = ""


@dataclass(frozen=True, slots=True)
class PromptHook:
    """A hook that runs a command for each user message. The command adds context to the message.

    The agent and the command exchange JSON. All agents in the catalog use the same format.
    """

    event: str
    user_config: tuple[ConfigLocation, ...]
    project_config: tuple[str, ...]
    timeout: int  # in seconds or milliseconds, depending on the agent
    note: str = ""  # what the user must do after the installation


@dataclass(frozen=True, slots=True)
class Agent:
    """One coding agent. If a field lists several files, the first one that exists is used."""

    name: str
    title: str
    programs: tuple[str, ...]  # names of its executables on the PATH
    data_locations: tuple[ConfigLocation, ...]  # files or folders that the agent creates
    user_config: tuple[ConfigLocation, ...]  # the configuration for all projects
    project_config: tuple[str, ...]  # the configuration inside a project
    keys: tuple[str, ...]  # nested keys of the mapping that contains the servers
    entry: Mapping[str, Any]  # Any: JSON, with ConfigPart placeholders
    # Keys of the entry that show the tools to the model immediately. Without these keys, the agent
    # hides the tools until the model searches for them.
    loading: Mapping[str, Any] = field(default_factory=dict)
    format: Format = "json"
    newer_keys: tuple[str, ...] = ()  # `keys` for files in a newer format
    # the value of `--root`, if the agent starts servers outside the folder of the project
    root: str = ""
    user_instructions: tuple[ConfigLocation, ...] = ()  # read by the agent in every session
    # files in a project that the agent reads
    project_instructions: tuple[str, ...] = ("AGENTS.md",)
    new_instructions: str = "AGENTS.md"  # created in a project without an instructions file
    prompt_hook: PromptHook | None = None

    def has_config(self, scope: Scope) -> bool:
        return bool(self.user_config if scope == "user" else self.project_config)
