"""Plan the edits that add rootle to an agent or remove it. They are collected in `FileEdits`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.agent import SCOPES, Agent, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.config_entries import existing_depth, read_entry, remove_entry, set_entry
from rootle.agents.config_text import ConfigTextError
from rootle.agents.file_edits import FileEdits, backup_path, resolve
from rootle.agents.instructions_block import add_block, has_block, remove_block
from rootle.agents.launch_command import NAME, build_entry, command_line, starts_rootle
from rootle.agents.locations import Machine, config_files, first_existing, instruction_files
from rootle.errors import InstallError

_SHARED_INSTRUCTIONS: Final = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One file of an agent, and how it is edited."""

    path: Path
    subject: str  # entry, instructions or file
    action: str  # added, updated, removed or deleted

    def describe(self, *, is_dry_run: bool) -> str:
        verb = "would be " if is_dry_run else ""
        return f"{self.path}: {self.subject} {verb}{self.action}"


def install(
    agent: Agent, scope: Scope | None, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    """Add the entry and the instructions of one agent to the edits; return the steps.

    Without a scope, the user's files are edited if the agent has them. Raise InstallError, and
    leave the edits unchanged, if one of the files cannot be edited.
    """
    scope = scope or ("user" if agent.user_config else "project")
    before = edits.snapshot()
    try:
        steps = _add_entry(agent, scope, machine, edits)
        return [*steps, *_add_instructions(agent, scope, machine, edits)]
    except InstallError:
        edits.restore(before)
        raise


def uninstall(
    agent: Agent, scopes: Collection[Scope], machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    """Add edits that undo `install`; return the steps.

    Instructions stay as long as another agent with rootle reads them. Raise InstallError, and
    leave the edits unchanged, if one of the files cannot be edited.
    """
    before = edits.snapshot()
    try:
        steps = []
        for scope in scopes:
            for path in config_files(agent, scope, machine):
                steps += _remove_entry(path, agent, scope, machine=machine, edits=edits)
            for path in instruction_files(agent, scope, machine):
                steps += _remove_instructions(path, scope, machine, edits)
        return steps
    except InstallError:
        edits.restore(before)
        raise


def _add_entry(agent: Agent, scope: Scope, machine: Machine, edits: FileEdits) -> list[InstallStep]:
    path = _config_file(agent, scope, machine)
    text = edits.text(path) or ""
    command = command_line(agent, scope, machine.project)
    try:
        keys = (*_server_keys(agent, text), NAME)
        existing = read_entry(text, agent.format, keys)
        if existing is not None and not starts_rootle(agent, existing):
            raise InstallError(
                f"the entry {NAME!r} in {path} starts another program; rename or remove it"
            )
        entry = build_entry(agent, command, is_new=existing is None)
        new = set_entry(text, agent.format, keys, entry)
    except ConfigTextError as error:
        raise _install_error(path, error) from error
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
    _check_inside_project(path, scope, machine)
    return path


def _add_instructions(
    agent: Agent, scope: Scope, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    path = _instruction_file(agent, scope, machine, edits)
    if path is None:
        return []
    _check_inside_project(path, scope, machine)
    text = edits.text(path) or ""
    try:
        new = add_block(text)
    except ConfigTextError as error:
        raise _install_error(path, error) from error
    if new == text:
        return []
    edits.change(path, new)
    return [InstallStep(path, "instructions", "updated" if has_block(text) else "added")]


def _instruction_file(
    agent: Agent, scope: Scope, machine: Machine, edits: FileEdits
) -> Path | None:
    """Return the file that the agent reads, or a shared `AGENTS.md` that this file includes."""
    files = instruction_files(agent, scope, machine)
    if not files:
        return None
    new = files[0] if scope == "user" else machine.project / agent.new_instructions
    path = first_existing(files, new)
    shared = path.with_name(_SHARED_INSTRUCTIONS)
    lines = (edits.text(path) or "").splitlines()
    return shared if f"@{_SHARED_INSTRUCTIONS}" in lines and shared.exists() else path


def _remove_entry(
    path: Path, agent: Agent, scope: Scope, *, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    text = edits.text(path)
    if text is None:
        return []
    try:
        keys = (*_server_keys(agent, text), NAME)
        if not starts_rootle(agent, read_entry(text, agent.format, keys)):
            return []
        _check_inside_project(path, scope, machine)
        old = edits.text(backup_path(path))
        keep = existing_depth(old, agent.format, keys[:-1]) if old is not None else 0
        new = remove_entry(text, agent.format, keys, keep)
    except ConfigTextError as error:
        raise _install_error(path, error) from error
    # If there is no backup, rootle created the file itself.
    is_obsolete = old is None and new.strip() in ("", "{}")
    return _remove(path, "entry", None if is_obsolete else new, edits)


def _remove_instructions(
    path: Path, scope: Scope, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    text = edits.text(path)
    if text is None or not has_block(text) or _is_still_read(path, scope, machine, edits):
        return []
    _check_inside_project(path, scope, machine)
    try:
        new = remove_block(text)
    except ConfigTextError as error:
        raise _install_error(path, error) from error
    is_obsolete = not new and not backup_path(path).exists()
    return _remove(path, "instructions", None if is_obsolete else new, edits)


def _remove(path: Path, subject: str, text: str | None, edits: FileEdits) -> list[InstallStep]:
    edits.change(path, text)
    if text is None:
        return [InstallStep(path, "file", "deleted")]
    return [InstallStep(path, subject, "removed")]


def _is_still_read(path: Path, scope: Scope, machine: Machine, edits: FileEdits) -> bool:
    """Return whether an agent that has rootle reads the instructions in a file."""
    file = resolve(path)
    return any(
        _has_rootle(agent, scope, machine, edits)
        for agent in AGENTS
        if file in map(resolve, instruction_files(agent, scope, machine))
    )


def _has_rootle(agent: Agent, scope: Scope, machine: Machine, edits: FileEdits) -> bool:
    for path in config_files(agent, scope, machine):
        try:
            text = edits.text(path) or ""
            keys = (*_server_keys(agent, text), NAME)
            if starts_rootle(agent, read_entry(text, agent.format, keys)):
                return True
        except (InstallError, ConfigTextError):
            return True  # unknown, so the instructions stay
    return False


def _server_keys(agent: Agent, text: str) -> Sequence[str]:
    """Return the nested keys of the mapping that contains, or will contain, rootle's entry."""
    newer = agent.newer_keys
    if not newer or read_entry(text, agent.format, (*agent.keys, NAME)) is not None:
        return agent.keys
    return newer if isinstance(read_entry(text, agent.format, newer), dict) else agent.keys


def _check_inside_project(path: Path, scope: Scope, machine: Machine) -> None:
    """Raise InstallError if a file of a project is a link that points outside the project.

    Otherwise the author of a cloned repository could choose the file that rootle edits.
    """
    if scope == "project" and not resolve(path).is_relative_to(os.path.realpath(machine.project)):
        raise InstallError(f"{path} is a link that points outside the project; nothing was changed")


def _install_error(path: Path, error: ConfigTextError) -> InstallError:
    location = f"{path}, line {error.line}" if error.line else f"{path}"
    return InstallError(f"{location}: {error}; nothing was changed")
