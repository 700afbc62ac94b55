"""Add or remove the hook with which an agent runs `rootle memory hook` for each user message."""

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
from rootle.agents.launch_command import NAME, find_program
from rootle.agents.locations import Machine

_KEY: Final = "hooks"
_COMMAND: Final = ("memory", "hook")
# Matches the command that `hook_command` writes, even if another installation of rootle wrote it.
_OWN: Final = re.compile(
    rf"(?:^|[/\\\s'\"]){NAME}(?:\.exe)?['\"]?\s+{_COMMAND[0]}\s+{_COMMAND[1]}\s*$", re.IGNORECASE
)

_Position = tuple[int, int]  # index of a group of handlers, and index of a handler in this group


def hook_files(hook: PromptHook, scope: Scope, machine: Machine) -> list[Path]:
    """Return the files that may contain the hook."""
    if scope == "user":
        return [machine.path(location) for location in hook.user_config]
    return [machine.project / name for name in hook.project_config]


def hook_command(scope: Scope, machine: Machine) -> str:
    """Return the command line of the hook, quoted for the shell in which the agent runs it."""
    words = [*find_program(scope), *_COMMAND]
    return subprocess.list2cmdline(words) if machine.platform == "win32" else shlex.join(words)


def set_hook(text: str, hook: PromptHook, command: str) -> str:
    """Return the text with a hook that runs this command.

    If the text already contains rootle's hook, only its command is replaced. Raise ConfigTextError
    if the text cannot be edited.
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
    """Return the text without the hook, and without lists and objects that become empty.

    `original` is the text before the installation, or None if there was none. Lists and objects
    that it contains stay even if they become empty. Raise ConfigTextError if the text cannot be
    edited.
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
    """Yield the position of each handler that runs `rootle memory hook`."""
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
    """Return the new text. Raise ConfigTextError if its handlers are not the expected ones."""
    if read_entry(new, "json", keys) != edit(read_entry(old, "json", keys)):
        raise ConfigTextError("rootle cannot add a hook in this notation; edit the file by hand")
    return new
