"""What has to change for an agent to have rootle, or to have it no more."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.catalog import AGENTS, SCOPES, Agent, Scope
from rootle.agents.config_entries import depth_of, entry_at, with_entry, without_entry
from rootle.agents.file_edits import FileEdits, backup_of, target
from rootle.agents.instructions_block import has_section, with_section, without_section
from rootle.agents.launch_command import NAME, command_line, entry_for, is_ours
from rootle.agents.line_endings import TextError
from rootle.agents.locations import Machine, configurations, first_there, notes
from rootle.errors import InstallError

_SHARED: Final = "AGENTS.md"


@dataclass(frozen=True, slots=True)
class InstallStep:
    """One file of an agent, and what happens to it."""

    path: Path
    what: str


def install(
    agent: Agent, scope: Scope | None, machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    """Draft the entry and the section of one agent; returns what changes.

    Without a scope the user's, where the agent has one. Raises InstallError, with nothing drafted.
    """
    scope = scope or ("user" if agent.user else "project")
    before = drafts.state()
    try:
        steps = _add_entry(agent, scope, machine, drafts)
        return [*steps, *_add_section(agent, scope, machine, drafts)]
    except InstallError:
        drafts.go_back(before)
        raise


def uninstall(
    agent: Agent, scopes: Collection[Scope], machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    """Draft the removal of what `install` adds; returns what changes.

    A section goes with the last of the agents that have rootle and read it.
    """
    before = drafts.state()
    try:
        steps = []
        for scope in scopes:
            for path in configurations(agent, scope, machine):
                steps += _drop_entry(agent, scope, path, machine, drafts)
            for path in notes(agent, scope, machine):
                steps += _drop_section(path, scope, machine, drafts)
        return steps
    except InstallError:
        drafts.go_back(before)
        raise


def _add_entry(
    agent: Agent, scope: Scope, machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    files = configurations(agent, scope, machine)
    if not files:
        other = next(name for name in SCOPES if name != scope)
        raise InstallError(
            f"{agent.title} has no configuration that serves as --scope {scope}; "
            f"use --scope {other}"
        )
    path = first_there(files, files[0])
    _check_inside(path, scope, machine)
    text = drafts.text(path) or ""
    command = command_line(agent, scope, machine.project)
    try:
        keys = (*_keys(agent, text), NAME)
        found = entry_at(text, agent.format, keys)
        if found is not None and not is_ours(agent, found):
            raise InstallError(
                f"{path} has an entry {NAME!r} that starts something else; rename or remove it"
            )
        entry = entry_for(agent, command, is_new=found is None)
        new = with_entry(text, agent.format, keys, entry)
    except TextError as error:
        raise _located(path, error) from error
    if new == text:
        return []
    drafts.change(path, new)
    return [InstallStep(path, "entry added" if found is None else "entry updated")]


def _add_section(
    agent: Agent, scope: Scope, machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    path = _notes_file(agent, scope, machine, drafts)
    if path is None:
        return []
    _check_inside(path, scope, machine)
    text = drafts.text(path) or ""
    try:
        new = with_section(text)
    except TextError as error:
        raise _located(path, error) from error
    if new == text:
        return []
    drafts.change(path, new)
    return [InstallStep(path, "section updated" if has_section(text) else "section added")]


def _notes_file(agent: Agent, scope: Scope, machine: Machine, drafts: FileEdits) -> Path | None:
    """The file that the agent reads, and the one that it takes in, if that is shared by others."""
    files = notes(agent, scope, machine)
    if not files:
        return None
    new = files[0] if scope == "user" else machine.project / agent.new_notes
    path = first_there(files, new)
    shared = path.with_name(_SHARED)
    lines = (drafts.text(path) or "").splitlines()
    return shared if f"@{_SHARED}" in lines and shared.exists() else path


def _drop_entry(
    agent: Agent, scope: Scope, path: Path, machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    text = drafts.text(path)
    if text is None:
        return []
    try:
        keys = (*_keys(agent, text), NAME)
        if not is_ours(agent, entry_at(text, agent.format, keys)):
            return []
        _check_inside(path, scope, machine)
        old = drafts.text(backup_of(path))
        keep = depth_of(old, agent.format, keys[:-1]) if old is not None else 0
        new = without_entry(text, agent.format, keys, keep)
    except TextError as error:
        raise _located(path, error) from error
    # Where there is no copy of an earlier file, rootle has made this one.
    is_empty = old is None and new.strip() in ("", "{}")
    drafts.change(path, None if is_empty else new)
    return [InstallStep(path, "file deleted" if is_empty else "entry removed")]


def _drop_section(
    path: Path, scope: Scope, machine: Machine, drafts: FileEdits
) -> list[InstallStep]:
    text = drafts.text(path)
    if text is None or not has_section(text) or _is_needed(path, scope, machine, drafts):
        return []
    _check_inside(path, scope, machine)
    try:
        new = without_section(text)
    except TextError as error:
        raise _located(path, error) from error
    is_empty = not new and not backup_of(path).exists()
    drafts.change(path, None if is_empty else new)
    return [InstallStep(path, "file deleted" if is_empty else "section removed")]


def _is_needed(path: Path, scope: Scope, machine: Machine, drafts: FileEdits) -> bool:
    """Whether an agent that has rootle reads the section."""
    file = target(path)
    return any(
        _has_entry(agent, scope, machine, drafts)
        for agent in AGENTS
        if file in map(target, notes(agent, scope, machine))
    )


def _has_entry(agent: Agent, scope: Scope, machine: Machine, drafts: FileEdits) -> bool:
    for path in configurations(agent, scope, machine):
        try:
            text = drafts.text(path) or ""
            if is_ours(agent, entry_at(text, agent.format, (*_keys(agent, text), NAME))):
                return True
        except (InstallError, TextError):
            return True  # nobody can tell: the section stays
    return False


def _keys(agent: Agent, text: str) -> Sequence[str]:
    """The way to the servers in this file: where rootle is, or where a new one belongs."""
    newer = agent.newer_keys
    if not newer or entry_at(text, agent.format, (*agent.keys, NAME)) is not None:
        return agent.keys
    return newer if isinstance(entry_at(text, agent.format, newer), dict) else agent.keys


def _check_inside(path: Path, scope: Scope, machine: Machine) -> None:
    """Raises InstallError where a file of a project is a link that leads out of it.

    A clone is anybody's, and such a link would have rootle write where its author likes.
    """
    if scope == "project" and not target(path).is_relative_to(os.path.realpath(machine.project)):
        raise InstallError(f"{path} is a link that leads out of the project; nothing changed")


def _located(path: Path, error: TextError) -> InstallError:
    where = f"{path}, line {error.line}" if error.line else f"{path}"
    return InstallError(f"{where}: {error}; nothing changed")
