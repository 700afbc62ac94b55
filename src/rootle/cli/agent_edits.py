"""Show, confirm, write and report the edits of `rootle install` and `rootle uninstall`."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rootle.agents.agent import Agent
from rootle.agents.catalog import AGENTS
from rootle.agents.file_edits import FileEdit, FileEdits, resolve
from rootle.agents.install_plan import InstallStep
from rootle.cli.options import FAILURE, SUCCESS
from rootle.cli.terminal import confirm, printable, warn, write_line, write_lines
from rootle.errors import InstallError


@dataclass(frozen=True, slots=True)
class InstallOutcome:
    """The steps for one agent, or the error that prevents them."""

    agent: Agent
    steps: Sequence[InstallStep] = ()
    error: str = ""


def agents_by_name(names: Sequence[str]) -> Sequence[Agent]:
    """Return the named agents without duplicates; raise InstallError for an unknown name."""
    by_name = {agent.name: agent for agent in AGENTS}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_name, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known agents: {join_names(AGENTS)}"
        raise InstallError(f"unknown agent {unknown[0]!r}; {hint}")
    return [by_name[name] for name in dict.fromkeys(names)]


def join_names(agents: Sequence[Agent]) -> str:
    return ", ".join(agent.name for agent in agents)


def plan_edits(agent: Agent, plan: Callable[[Agent], list[InstallStep]]) -> InstallOutcome:
    """Return the planned steps for an agent, or the error that prevents them."""
    try:
        return InstallOutcome(agent, plan(agent))
    except InstallError as error:
        return InstallOutcome(agent, error=str(error))


def apply_edits(
    outcomes: Sequence[InstallOutcome],
    edits: FileEdits,
    write: Callable[[FileEdit], None],
    args: argparse.Namespace,
) -> int:
    """Show the edits, ask for confirmation, write them and report; return the exit code.

    `write` writes one file or raises InstallError.
    """
    changes = edits.changes()
    for change in changes:
        _print_diff(change)
    if changes and not args.dry_run:
        if not args.yes and not _confirm(len(changes)):
            warn("nothing was written")
            return FAILURE
        outcomes = _write_all(outcomes, changes, write)
    for outcome in outcomes:
        _report(outcome, is_dry_run=args.dry_run)
    return FAILURE if any(outcome.error for outcome in outcomes) else SUCCESS


def _print_diff(change: FileEdit) -> None:
    """Print only the changed lines, because the lines around them may contain secrets."""
    before, after = (_decode_lines(data) for data in (change.before, change.after))
    names = str(change.path), str(change.path)
    write_lines(difflib.unified_diff(before, after, *names, n=0, lineterm=""))


def _decode_lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _confirm(files: int) -> bool:
    """Return whether the user confirms; raise InstallError if standard input is not a terminal."""
    answer = confirm(f"change {'this file' if files == 1 else f'these {files} files'}?")
    if answer is None:
        raise InstallError("nothing was written: not interactive; pass --yes")
    return answer


def _write_all(
    outcomes: Sequence[InstallOutcome],
    changes: Sequence[FileEdit],
    write: Callable[[FileEdit], None],
) -> list[InstallOutcome]:
    """Write the files, and add an error to the outcome of each agent whose file was not written."""
    errors: dict[Path, str] = {}
    for change in changes:
        try:
            write(change)
        except InstallError as error:
            errors[change.path] = str(error)
    return [_report_errors(outcome, errors) for outcome in outcomes]


def _report_errors(outcome: InstallOutcome, errors: dict[Path, str]) -> InstallOutcome:
    failed = [errors[resolve(step.path)] for step in outcome.steps if resolve(step.path) in errors]
    done = [step for step in outcome.steps if resolve(step.path) not in errors]
    return replace(outcome, steps=done, error="; ".join(failed)) if failed else outcome


def _report(outcome: InstallOutcome, *, is_dry_run: bool) -> None:
    parts = [step.describe(is_dry_run=is_dry_run) for step in outcome.steps]
    if outcome.error:
        parts.append(f"error: {outcome.error}")
    write_line(printable(f"{outcome.agent.name}: {'; '.join(parts) or 'nothing to do'}"))
