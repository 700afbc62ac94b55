"""Find the files of an agent on this machine, and detect whether the agent is installed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.agent import Agent, ConfigLocation, Scope
from rootle.errors import InstallError

_VARIABLE: Final = re.compile(r"\$\{(\w+):-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The folders, environment and platform that determine the paths of configuration files."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    platform: str  # a value of `sys.platform`

    @classmethod
    def this(cls, project: Path) -> Machine:
        """Return the description of this machine for a project.

        Raise InstallError if the home folder is unknown or the project does not exist.
        """
        home = Path(os.path.expanduser("~"))
        if not home.is_absolute():
            raise InstallError("your home folder is unknown; set the environment variable HOME")
        if not project.is_dir():
            raise InstallError(f"{project}: no such folder")
        return cls(home, Path(os.path.abspath(project)), os.environ, sys.platform)

    def path(self, location: ConfigLocation) -> Path:
        """Return the absolute path of a location.

        Raise InstallError if an environment variable contains a relative path.
        """
        other = {"darwin": location.macos, "win32": location.windows}.get(self.platform, "")
        expanded = _VARIABLE.sub(self._variable, other or location.path)
        path = Path(self._expand_home(expanded))
        if not path.is_absolute():
            raise InstallError(
                f"{path} is a relative path; set the variable in {location.path} to an absolute one"
            )
        return path

    def _variable(self, match: re.Match[str]) -> str:
        return self.environment.get(match[1], "").strip() or match[2]

    def _expand_home(self, text: str) -> str:
        return os.fspath(self.home) + text[1:] if text == "~" or text[:2] == "~/" else text

    def is_installed(self, agent: Agent) -> bool:
        """Return whether a file or a program of an agent exists."""
        if any(self.path(location).exists() for location in agent.data_locations):
            return True
        search = self.environment.get("PATH", "")
        return any(shutil.which(program, path=search) for program in agent.programs)


def config_files(agent: Agent, scope: Scope, machine: Machine) -> list[Path]:
    """Return the files that may configure the servers of an agent in a scope; may be empty."""
    if scope == "user":
        return [machine.path(location) for location in agent.user_config]
    return [machine.project / name for name in agent.project_config]


def instruction_files(agent: Agent, scope: Scope, machine: Machine) -> list[Path]:
    """Return the files with instructions that an agent may read before a session."""
    if scope == "user":
        return [machine.path(location) for location in agent.user_instructions]
    return [machine.project / name for name in agent.project_instructions]


def first_existing(paths: Sequence[Path], default: Path) -> Path:
    return next((path for path in paths if os.path.lexists(path)), default)
