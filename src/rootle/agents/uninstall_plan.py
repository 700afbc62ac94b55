"""Plan the file edits that remove rootle from an agent, and collect them in `FileEdits`."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.agents.agent import Agent, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.config_entries import existing_depth, read_entry, remove_entry
from rootle.agents.config_text import ConfigTextError
from rootle.agents.file_edits import FileEdits, resolve
from rootle.agents.hook_entry import has_hook, hook_files, remove_hook
from rootle.agents.install_plan import (
    InstallStep,
    check_inside_project,
    install_error,
    server_keys,
)
from rootle.agents.install_records import FileRecord, InstallRecords
from rootle.agents.instructions_block import has_block, remove_block
from rootle.agents.launch_command import NAME, starts_rootle
from rootle.agents.locations import Machine, config_files, instruction_files
from rootle.errors import InstallError

_MARK: Final = "\ufeff"  # the byte order mark


def uninstall(
    agent: Agent,
    scopes: Collection[Scope],
    machine: Machine,
    edits: FileEdits,
    records: InstallRecords,
) -> list[InstallStep]:
    """Add edits that undo `install`; return the steps.

    A file that has not changed since rootle wrote it is restored from its record. From any other
    file, only rootle's text is removed. Instructions stay if an agent that still uses rootle reads
    them. Raise InstallError, and leave the edits unchanged, if one of the files cannot be edited.
    """
    before = edits.snapshot()
    try:
        steps = []
        for scope in scopes:
            undo = _Undo(agent, scope, machine, edits, records)
            for path in config_files(agent, scope, machine):
                steps += undo.remove_entry(path)
            for path in hook_files(agent.prompt_hook, scope, machine) if agent.prompt_hook else ():
                steps += undo.remove_hook(path)
            for path in instruction_files(agent, scope, machine):
                steps += undo.remove_instructions(path)
        return steps
    except InstallError:
        edits.restore(before)
        raise


@dataclass(frozen=True, slots=True)
class _Undo:
    """Removes the entry, the hook and the instructions of one agent in one scope."""

    agent: Agent
    scope: Scope
    machine: Machine
    edits: FileEdits
    records: InstallRecords

    def remove_entry(self, path: Path) -> list[InstallStep]:
        text, agent = self.edits.text(path), self.agent
        if text is None:
            return []
        try:
            keys = (*server_keys(agent, text), NAME)
            if not starts_rootle(agent, read_entry(text, agent.format, keys)):
                return []
            check_inside_project(path, self.scope, self.machine)
            old = self._text_before(path)
            keep = existing_depth(old, agent.format, keys[:-1]) if old is not None else 0
            new = remove_entry(text, agent.format, keys, keep)
        except ConfigTextError as error:
            raise install_error(path, error) from error
        return self._finish_config(path, "entry", new, has_before=old is not None)

    def remove_hook(self, path: Path) -> list[InstallStep]:
        text, hook = self.edits.text(path), self.agent.prompt_hook
        if text is None or hook is None:
            return []
        try:
            if not has_hook(text, hook):
                return []
            check_inside_project(path, self.scope, self.machine)
            old = self._text_before(path)
            new = remove_hook(text, hook, old)
        except ConfigTextError as error:
            raise install_error(path, error) from error
        return self._finish_config(path, "memory hook", new, has_before=old is not None)

    def remove_instructions(self, path: Path) -> list[InstallStep]:
        text = self.edits.text(path)
        if text is None or not has_block(text):
            return []
        if _is_still_read(path, self.scope, self.machine, self.edits):
            return []
        check_inside_project(path, self.scope, self.machine)
        try:
            new = remove_block(text)
        except ConfigTextError as error:
            raise install_error(path, error) from error
        record = self.records.get(path)
        if record is not None and self._is_unchanged(path, record) and not _has_block(record):
            self.edits.restore_before(path, record.before)
        else:
            was_missing = record is None or record.before is None
            self.edits.change(path, None if was_missing and not new else new)
        return self._steps(path, "instructions")

    def _finish_config(
        self, path: Path, subject: str, new: str, *, has_before: bool
    ) -> list[InstallStep]:
        record = self.records.get(path)
        is_first = record is not None and not self._has_rootle(record.before or "")
        if record is not None and is_first and self._is_unchanged(path, record):
            if self._has_rootle(new):
                # the next step removes the hook
                self.edits.change(path, new)
            else:
                self.edits.restore_before(path, record.before)
        else:
            is_obsolete = not has_before and new.strip() in ("", "{}")
            self.edits.change(path, None if is_obsolete else new)
        return self._steps(path, subject)

    def _steps(self, path: Path, subject: str) -> list[InstallStep]:
        if self.edits.text(path) is None:
            return [InstallStep(path, "file", "deleted")]
        return [InstallStep(path, subject, "removed")]

    def _is_unchanged(self, path: Path, record: FileRecord) -> bool:
        return self.edits.is_on_disk(path, record.is_current)

    def _text_before(self, path: Path) -> str | None:
        """Return the text that the file had before rootle was installed.

        Return None if the file did not exist or has no record. If the recorded text already
        contains rootle's entry or hook, they are removed from it.
        """
        record = self.records.get(path)
        if record is None or record.before is None:
            return None
        agent, hook = self.agent, self.agent.prompt_hook
        text = before = record.before.removeprefix(_MARK)
        if self._has_entry(text):
            text = remove_entry(text, agent.format, (*server_keys(agent, text), NAME), 0)
        if hook is not None and self._has_hook(text):
            text = remove_hook(text, hook, None)
        return None if text != before and text.strip() in ("", "{}") else text

    def _has_rootle(self, text: str) -> bool:
        """Return whether a configuration file contains rootle's entry or hook."""
        text = text.removeprefix(_MARK)
        return self._has_entry(text) or self._has_hook(text)

    def _has_entry(self, text: str) -> bool:
        # Ignore a file in another format: it may be a separate file for the hook.
        with suppress(ConfigTextError):
            keys = (*server_keys(self.agent, text), NAME)
            return starts_rootle(self.agent, read_entry(text, self.agent.format, keys))
        return False

    def _has_hook(self, text: str) -> bool:
        with suppress(ConfigTextError):
            return self.agent.prompt_hook is not None and has_hook(text, self.agent.prompt_hook)
        return False


def _has_block(record: FileRecord) -> bool:
    return record.before is not None and has_block(record.before)


def _is_still_read(path: Path, scope: Scope, machine: Machine, edits: FileEdits) -> bool:
    """Return whether an agent that uses rootle reads the instructions in a file."""
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
            return True  # it is not known whether the agent uses rootle, so the instructions stay
    return False
