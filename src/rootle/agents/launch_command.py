"""The command that starts rootle, and the entry that contains it in an agent's configuration."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rootle.agents.agent import PROJECT_FOLDER, Agent, ConfigPart, Scope
from rootle.errors import InstallError
from rootle.storage.paths import contains_home

NAME: Final = "rootle"
_COMMAND: Final = "mcp"
_ROOT: Final = "--root"
# The environments that `uvx` and `pipx run` create for one run.
_TEMPORARY_ENVIRONMENT: Final = re.compile(
    r"[/\\](?:uv[/\\](?:archive-v|environments-v)|pipx[/\\]\.cache)"
)


def command_line(agent: Agent, scope: Scope, project: Path) -> list[str]:
    """Return the command with which an agent starts rootle.

    Raise InstallError if rootle is in a temporary environment. Also raise it if the command must
    contain the path of the project, and this path is the home folder or a parent of it.
    """
    root = os.fspath(project) if agent.root == PROJECT_FOLDER else agent.root
    if Path(root).is_absolute() and contains_home(Path(root)):
        raise InstallError(
            f"{agent.title} starts a server for one folder, and {root} is not a project; "
            "choose a project with --root"
        )
    return [*find_program(scope), _COMMAND, *((_ROOT, root) if root else ())]


def find_program(scope: Scope) -> list[str]:
    """Return the first words of the command line: the program, and arguments that start rootle.

    A project's file is shared with people whose rootle is installed elsewhere, so it contains the
    plain name. The user's own file contains the path, because the PATH of an editor that was not
    started from a shell may lack rootle. Raise InstallError if rootle is in a temporary
    environment.
    """
    return [NAME] if scope == "project" else installed_command()


def installed_command() -> list[str]:
    """Return the command of this installation, in a form that stays valid after an upgrade."""
    scripts = Path(sysconfig.get_path("scripts"))
    own = shutil.which(NAME, path=os.fspath(scripts))
    found = shutil.which(NAME)
    if own is None:
        # -P keeps the current folder off the import path. Otherwise, a folder named `rootle` in the
        # folder where the agent starts the command would be imported instead.
        command = [os.path.abspath(sys.executable), "-P", "-m", NAME]
    elif found is not None and os.path.realpath(found) == os.path.realpath(own):
        # Use the link that `pipx` or `uv tool` put on the PATH. An upgrade that moves the target of
        # the link also updates the link.
        command = [os.path.abspath(found)]
    else:
        command = [os.path.abspath(own)]
    if _TEMPORARY_ENVIRONMENT.search(command[0]):
        raise InstallError(
            f"{command[0]} is in a temporary environment; install rootle first, "
            "with `pipx install` or `uv tool install`"
        )
    return command


def build_entry(
    agent: Agent, command: Sequence[str], existing: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the entry of an agent for a command.

    If there is an entry already, return only the members to update. These are the command, with the
    options that the user added to it, and the agent's `loading` keys that are missing.
    """
    if existing is not None:
        command = _keep_user_arguments(agent, command, _words(agent, existing))
    parts = {
        ConfigPart.PROGRAM: command[0],
        ConfigPart.ARGUMENTS: list(command[1:]),
        ConfigPart.COMMAND_LINE: list(command),
    }
    entry = {
        key: parts[value] if isinstance(value, ConfigPart) else value
        for key, value in agent.entry.items()
        if existing is None or isinstance(value, ConfigPart)
    }
    missing = {key: value for key, value in agent.loading.items() if key not in (existing or {})}
    return {**entry, **missing}


def _keep_user_arguments(agent: Agent, command: Sequence[str], old: Sequence[str]) -> list[str]:
    """Return the new command with the options that precede and follow `mcp` in the old one.

    The user's `--root` replaces that of the new command, with one exception: if each entry of this
    agent serves only one project, `--root` is always the project for which rootle is being
    installed.
    """
    words = _arguments(old)
    words = words[2:] if words[:2] == ["-m", NAME] else words
    at, old_at = command.index(_COMMAND), words.index(_COMMAND)
    before, after = words[:old_at], words[old_at + 1 :]
    if agent.root == PROJECT_FOLDER:
        after = _remove_option(after, _ROOT)
    has_root = any(word == _ROOT or word.startswith(f"{_ROOT}=") for word in [*before, *after])
    own = [] if has_root else command[at + 1 :]
    return [*command[:at], *before, _COMMAND, *own, *after]


def _arguments(words: Sequence[str]) -> list[str]:
    """Return the words after the program, without the Python option -P that rootle adds."""
    return [word for word in words[1:] if word != "-P"]


def _remove_option(words: Sequence[str], option: str) -> list[str]:
    """Return arguments without an option and its value."""
    pairs = zip(words, ["", *words], strict=False)
    return [
        word
        for word, previous in pairs
        if option not in (word, previous) and not word.startswith(f"{option}=")
    ]


def starts_rootle(agent: Agent, entry: object) -> bool:
    """Return whether an entry starts rootle, from any installation of it."""
    if not isinstance(entry, Mapping):
        return False
    words = _words(agent, entry)
    if not all(isinstance(word, str) for word in words):
        return False
    program = re.split(r"[/\\]", words[0])[-1].removesuffix(".exe") if words else ""
    arguments = _arguments(words)
    return "mcp" in arguments and (program == NAME or arguments[:2] == ["-m", NAME])


def _words(agent: Agent, entry: Mapping[str, Any]) -> list[Any]:  # Any: the user's own values
    """Return the program of an entry and its arguments."""
    words: list[Any] = []
    for key, part in agent.entry.items():
        value = entry.get(key) if isinstance(part, ConfigPart) else None
        words += value if isinstance(value, list) else [value] if value else []
    return words
