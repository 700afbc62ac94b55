"""Where an agent's files lie for one person on one machine, and whether the agent is there."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.catalog import Agent, ConfigLocation, Scope
from rootle.errors import InstallError

_VARIABLE: Final = re.compile(r"\$\{(\w+):-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Machine:
    """What paths depend on, and the project that is meant."""

    home: Path
    project: Path
    environment: Mapping[str, str]
    platform: str  # as `sys.platform` says it

    @classmethod
    def this(cls, project: Path) -> Machine:
        home = Path(os.path.expanduser("~"))
        if not home.is_absolute():
            raise InstallError("nobody knows your home folder; set the variable HOME")
        if not project.is_dir():
            raise InstallError(f"{project}: there is no such folder")
        return cls(home, Path(os.path.abspath(project)), os.environ, sys.platform)

    def path(self, place: ConfigLocation) -> Path:
        """The path that a place has here; raises InstallError where a variable is relative."""
        other = {"darwin": place.macos, "win32": place.windows}.get(self.platform, "")
        path = Path(self._tilde(_VARIABLE.sub(self._value, other or place.path)))
        if not path.is_absolute():
            raise InstallError(f"{path} is a relative path; look at the variable in {place.path}")
        return path

    def _value(self, match: re.Match[str]) -> str:
        return self.environment.get(match[1], "").strip() or match[2]

    def _tilde(self, text: str) -> str:
        return os.fspath(self.home) + text[1:] if text == "~" or text[:2] == "~/" else text

    def is_installed(self, agent: Agent) -> bool:
        """Whether there are traces of an agent, or one of its programs."""
        if any(self.path(place).exists() for place in agent.traces):
            return True
        search = self.environment.get("PATH", "")
        return any(shutil.which(program, path=search) for program in agent.programs)


def configurations(agent: Agent, scope: Scope, machine: Machine) -> list[Path]:
    """Every file that may hold the servers of an agent; empty where it has none of that scope."""
    if scope == "user":
        return [machine.path(place) for place in agent.user]
    return [machine.project / name for name in agent.project]


def notes(agent: Agent, scope: Scope, machine: Machine) -> list[Path]:
    """Every file that an agent may read before a session."""
    if scope == "user":
        return [machine.path(place) for place in agent.user_notes]
    return [machine.project / name for name in agent.notes]


def first_there(paths: Sequence[Path], otherwise: Path) -> Path:
    return next((path for path in paths if os.path.lexists(path)), otherwise)
