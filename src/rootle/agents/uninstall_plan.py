"""Plan the edits that remove rootle from an agent. They are collected in `FileEdits`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from rootle.agents.agent import Agent, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.config_entries import existing_depth, read_entry, remove_entry
from rootle.agents.config_text import ConfigTextError
from rootle.agents.file_edits import FileEdits, backup_path, resolve
from rootle.agents.install_plan import (
    InstallStep,
    check_inside_project,
    install_error,
    server_keys,
)
from rootle.agents.instructions_block import has_block, remove_block
from rootle.agents.launch_command import NAME, starts_rootle
from rootle.agents.locations import Machine, config_files, instruction_files
from rootle.agents.prompt_hook import has_hook, hook_files, remove_hook
from rootle.errors import InstallError


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
            for path in hook_files(agent.prompt_hook, scope, machine) if agent.prompt_hook else ():
                steps += _remove_hook(path, agent, scope, machine=machine, edits=edits)
            for path in instruction_files(agent, scope, machine):
                steps += _remove_instructions(path, scope, machine, edits)
        return steps
    except InstallError:
        edits.restore(before)
        raise


def _remove_entry(
    path: Path, agent: Agent, scope: Scope, *, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    text = edits.text(path)
    if text is None:
        return []
    try:
        keys = (*server_keys(agent, text), NAME)
        if not starts_rootle(agent, read_entry(text, agent.format, keys)):
            return []
        check_inside_project(path, scope, machine)
        old = _original_text(path, agent, edits)
        keep = existing_depth(old, agent.format, keys[:-1]) if old is not None else 0
        new = remove_entry(text, agent.format, keys, keep)
    except ConfigTextError as error:
        raise install_error(path, error) from error
    # If there is no backup, rootle created the file itself.
    is_obsolete = old is None and new.strip() in ("", "{}")
    return _remove(path, "entry", None if is_obsolete else new, edits)


def _remove_hook(
    path: Path, agent: Agent, scope: Scope, *, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    text, hook = edits.text(path), agent.prompt_hook
    if text is None or hook is None:
        return []
    try:
        if not has_hook(text, hook):
            return []
        check_inside_project(path, scope, machine)
        old = _original_text(path, agent, edits)
        new = remove_hook(text, hook, old)
    except ConfigTextError as error:
        raise install_error(path, error) from error
    is_obsolete = old is None and new.strip() in ("", "{}")
    return _remove(path, "memory hook", None if is_obsolete else new, edits)


def _original_text(path: Path, agent: Agent, edits: FileEdits) -> str | None:
    """Return the file as it was before rootle was installed, None if it did not exist.

    After a second installation, for example to add the hook, the backup contains the changes of
    the first one.
    """
    backup = edits.text(backup_path(path))
    if backup is None:
        return None
    text, hook, is_json = backup, agent.prompt_hook, agent.format == "json"
    keys = (*agent.keys, NAME)
    if is_json and starts_rootle(agent, read_entry(text, agent.format, keys)):
        text = remove_entry(text, agent.format, keys, 0)
    if is_json and hook is not None and has_hook(text, hook):
        text = remove_hook(text, hook, None)
    return None if text != backup and text.strip() in ("", "{}") else text


def _remove_instructions(
    path: Path, scope: Scope, machine: Machine, edits: FileEdits
) -> list[InstallStep]:
    text = edits.text(path)
    if text is None or not has_block(text) or _is_still_read(path, scope, machine, edits):
        return []
    check_inside_project(path, scope, machine)
    try:
        new = remove_block(text)
    except ConfigTextError as error:
        raise install_error(path, error) from error
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
            keys = (*server_keys(agent, text), NAME)
            if starts_rootle(agent, read_entry(text, agent.format, keys)):
                return True
        except (InstallError, ConfigTextError):
            return True  # unknown, so the instructions stay
    return False
