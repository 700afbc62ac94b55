"""Plan the file edits that add rootle to an agent, and collect them in `FileEdits`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.agent import SCOPES, Agent, Scope
from rootle.agents.config_entries import read_entry, set_entry
from rootle.agents.config_text import ConfigTextError
from rootle.agents.file_edits import FileEdits, resolve
from rootle.agents.hook_entry import has_hook, hook_command, hook_files, set_hook
from rootle.agents.instructions_block import add_block, has_block
from rootle.agents.launch_command import NAME, build_entry, command_line, starts_rootle
from rootle.agents.locations import Machine, config_files, first_existing, instruction_files
from rootle.errors import InstallError

_SHARED_INSTRUCTIONS: Final = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One edit of a file of an agent, in the form that is reported to the user."""

    path: Path
    subject: str  # entry, instructions, memory hook or file
    action: str  # added, updated, removed or deleted

    def describe(self, *, is_dry_run: bool) -> str:
        verb = "would be " if is_dry_run else ""
        return f"{self.path}: {self.subject} {verb}{self.action}"


def install(
    agent: Agent,
    scope: Scope | None,
    machine: Machine,
    edits: FileEdits,
    *,
    with_memory_hook: bool = False,
) -> list[InstallStep]:
    """Add the entry and the instructions of one agent to the edits; return the steps.

    `with_memory_hook` also adds the hook that runs `rootle memory hook`. If `scope` is None, the
    user's files are edited, or the project's files if the agent has no configuration for the user.
    Raise InstallError, and leave the edits unchanged, if one of the files cannot be edited.
    """
    scope = scope or ("user" if agent.user_config else "project")
    before = edits.snapshot()
    try:
        steps = _add_entry(agent, scope, machine, edits)
        steps += _add_instructions(agent, scope, machine, edits)
        return [*steps, *(_add_hook(agent, scope, machine, edits) if with_memory_hook else ())]
    except InstallError:
        edits.restore(before)
        raise


def _add_entry(agent: Agent, scope: Scope, machine: Machine, edits: FileEdits) -> list[InstallStep]:
    path = _config_file(agent, scope, machine)
    text = edits.text(path) or ""
    command = command_line(agent, scope, machine.project)
    try:
        keys = (*server_keys(agent, text), NAME)
        existing = read_entry(text, agent.format, keys)
        if existing is not None and not starts_rootle(agent, existing):
            raise InstallError(
                f"the entry {NAME!r} in {path} starts another program; rename or remove it"
            )
        if existing is not None:
            edits.mark_update(path)
        entry = build_entry(agent, command, existing if isinstance(existing, Mapping) else None)
        new = set_entry(text, agent.format, keys, entry)
    except ConfigTextError as error:
        raise install_error(path, error) from error
    if new == text:
        return []
    edits.change(path, new)
    return [InstallStep(path, "entry", "added" if existing is None else "updated")]


def _config_file(agent: Agent, scope: Scope, machine: Machine) -> Path:
    files = config_files(agent, scope, machine)
    if not files:
        other = next(name for name in SCOPES if name != scope)
        raise InstallError(
            f"{agent.title} has no configuration file for --scope {scope}; use --scope {other}"
        )
    path = first_existing(files, files[0])
    check_inside_project(path, scope, machine)
    return path


def _add_instructions(
    agent: Agent, scope: Scope, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    path = _instruction_file(agent, scope, machine, edits)
    if path is None:
        return []
    check_inside_project(path, scope, machine)
    text = edits.text(path) or ""
    if has_block(text):
        edits.mark_update(path)
    try:
        new = add_block(text)
    except ConfigTextError as error:
        raise install_error(path, error) from error
    if new == text:
        return []
    edits.change(path, new)
    return [InstallStep(path, "instructions", "updated" if has_block(text) else "added")]


def _add_hook(agent: Agent, scope: Scope, machine: Machine, edits: FileEdits) -> list[InstallStep]:
    hook = agent.prompt_hook
    if hook is None:
        raise InstallError(f"{agent.title} has no hook that adds text to user messages")
    files = hook_files(hook, scope, machine)
    path = first_existing(files, files[0])
    check_inside_project(path, scope, machine)
    text = edits.text(path) or ""
    try:
        is_new = not has_hook(text, hook)
        if not is_new:
            edits.mark_update(path)
        new = set_hook(text, hook, hook_command(scope, machine))
    except ConfigTextError as error:
        raise install_error(path, error) from error
    if new == text:
        return []
    edits.change(path, new)
    return [InstallStep(path, "memory hook", "added" if is_new else "updated")]


def _instruction_file(
    agent: Agent, scope: Scope, machine: Machine, edits: FileEdits
) -> Path | None:
    """Return the instructions file of the agent, or the `AGENTS.md` that this file includes."""
    files = instruction_files(agent, scope, machine)
    if not files:
        return None
    new = files[0] if scope == "user" else machine.project / agent.new_instructions
    path = first_existing(files, new)
    shared = path.with_name(_SHARED_INSTRUCTIONS)
    lines = (edits.text(path) or "").splitlines()
    return shared if f"@{_SHARED_INSTRUCTIONS}" in lines and shared.exists() else path


def server_keys(agent: Agent, text: str) -> Sequence[str]:
    """Return the nested keys of the mapping that contains, or will contain, rootle's entry."""
    newer = agent.newer_keys
    if not newer or read_entry(text, agent.format, (*agent.keys, NAME)) is not None:
        return agent.keys
    return newer if isinstance(read_entry(text, agent.format, newer), dict) else agent.keys


def check_inside_project(path: Path, scope: Scope, machine: Machine) -> None:
    """Raise InstallError if a link in the path of a project file leads outside the project.

    Otherwise the author of a cloned repository could choose the file that rootle edits.
    """
    if scope == "project" and not resolve(path).is_relative_to(os.path.realpath(machine.project)):
        raise InstallError(f"{path} is a link that points outside the project; nothing was changed")


def install_error(path: Path, error: ConfigTextError) -> InstallError:
    location = f"{path}, line {error.line}" if error.line else f"{path}"
    return InstallError(f"{location}: {error}; nothing was changed")
