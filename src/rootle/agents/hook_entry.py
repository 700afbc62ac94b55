"""The hook of an agent that runs `rootle memory hook` for each message of the user."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from rootle.agents import json_lists
from rootle.agents.agent import PromptHook, Scope
from rootle.agents.config_entries import existing_depth, read_entry, remove_entry
from rootle.agents.config_text import ConfigTextError
from rootle.agents.launch_command import NAME, program_of
from rootle.agents.locations import Machine

_KEY: Final = "hooks"
_COMMAND: Final = ("memory", "hook")
# The command as `hook_command` writes it, possibly of another installation.
_OWN: Final = re.compile(
    rf"(?:^|[/\\\s'\"]){NAME}(?:\.exe)?['\"]?\s+{_COMMAND[0]}\s+{_COMMAND[1]}\s*$", re.IGNORECASE
)

_Position = tuple[int, int]  # of a group of handlers, and of a handler in it


def hook_files(hook: PromptHook, scope: Scope, machine: Machine) -> list[Path]:
    """Return the files that may contain the hook."""
    if scope == "user":
        return [machine.path(location) for location in hook.user_config]
    return [machine.project / name for name in hook.project_config]


def hook_command(scope: Scope, machine: Machine) -> str:
    """Return the command line that the shell of an agent runs."""
    words = [*program_of(scope), *_COMMAND]
    return subprocess.list2cmdline(words) if machine.platform == "win32" else shlex.join(words)


def set_hook(text: str, hook: PromptHook, command: str) -> str:
    """Return the text with the hook, which is added or gets this command.

    Raise ConfigTextError if the text cannot be edited.
    """
    keys = (_KEY, hook.event)
    at = next(_find_own(text, hook.event), None)
    if at is None:
        handler = {"type": "command", "command": command, "timeout": hook.timeout}
        group = {_KEY: [handler]}
        new = json_lists.append_item(text, keys, group)
        return _verify(new, keys, lambda groups: [*(groups or ()), group], text)
    path = (*keys, at[0], _KEY, at[1], "command")
    return json_lists.replace_value(text, path, command)


def has_hook(text: str, hook: PromptHook) -> bool:
    return next(_find_own(text, hook.event), None) is not None


def remove_hook(text: str, hook: PromptHook, original: str | None) -> str:
    """Return the text without the hook, and without lists and objects that it leaves empty.

    Those that the original text contains stay. Raise ConfigTextError if the text cannot be edited.
    """
    keys = (_KEY, hook.event)
    while (at := next(_find_own(text, hook.event), None)) is not None:
        group = _groups(text, hook.event)[at[0]]
        is_alone = group.keys() == {_KEY} and len(group[_KEY]) == 1
        path = (*keys, at[0]) if is_alone else (*keys, at[0], _KEY, at[1])
        before, text = text, json_lists.remove_item(text, path)
        if text == before:
            raise ConfigTextError(f"cannot remove the hook of {hook.event}; edit the file by hand")
    depth = 0 if original is None else existing_depth(original, "json", keys)
    if depth == len(keys) or _groups(text, hook.event) or read_entry(text, "json", keys) is None:
        return text
    return remove_entry(text, "json", keys, depth)


def _find_own(text: str, event: str) -> Iterator[_Position]:
    """Yield the position of each handler that runs rootle."""
    for at, group in enumerate(_groups(text, event)):
        handlers = group.get(_KEY) if isinstance(group, dict) else None
        for number, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            command = handler.get("command") if isinstance(handler, dict) else None
            if isinstance(command, str) and _OWN.search(command):
                yield at, number


def _groups(text: str, event: str) -> list[Any]:  # Any: JSON
    groups = read_entry(text, "json", (_KEY, event))
    return groups if isinstance(groups, list) else []


def _verify(new: str, keys: tuple[str, str], edit: Callable[[Any], list[Any]], old: str) -> str:
    """Return the new text if it has the expected list; raise ConfigTextError otherwise."""
    if read_entry(new, "json", keys) != edit(read_entry(old, "json", keys)):
        raise ConfigTextError("rootle cannot add a hook in this notation; edit the file by hand")
    return new
