"""`rootle install` and `rootle uninstall`."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rootle.agents.catalog import AGENTS, SCOPES, Agent, Scope
from rootle.agents.file_edits import FileEdit, FileEdits, target, write
from rootle.agents.install_plan import InstallStep, install, uninstall
from rootle.agents.launch_command import NAME
from rootle.agents.locations import Machine
from rootle.cli.context import folder_of, printable, say
from rootle.cli.main import FAILED, RESULTS
from rootle.errors import InstallError


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of one agent: its steps, or why there are none."""

    agent: Agent
    steps: Sequence[InstallStep] = ()
    error: str = ""


def run_install(options: argparse.Namespace) -> int:
    machine = Machine.this(folder_of(options))
    agents = _chosen(options, machine)
    drafts = FileEdits()
    outcomes = [
        _tried(agent, lambda agent: install(agent, options.scope, machine, drafts))
        for agent in agents
    ]
    code = _carry_out(outcomes, drafts, options)
    if options.scope == "project" and shutil.which(NAME) is None:
        say(f"there is no {NAME} on the PATH, and that is what the files of a project name")
    return code


def run_uninstall(options: argparse.Namespace) -> int:
    machine = Machine.this(folder_of(options))
    agents = _named(options.agent) if options.agent else AGENTS
    scopes = (options.scope,) if options.scope else SCOPES
    drafts = FileEdits()
    outcomes = [
        _tried(agent, lambda agent: uninstall(agent, scopes, machine, drafts)) for agent in agents
    ]
    if not options.agent:  # those without rootle are not worth a line
        outcomes = [outcome for outcome in outcomes if outcome.steps or outcome.error]
    if not outcomes:
        print("nothing to do: no agent has rootle")
    return _carry_out(outcomes, drafts, options)


def _chosen(options: argparse.Namespace, machine: Machine) -> Sequence[Agent]:
    """The agents to install into; raises InstallError where none is named or found."""
    found = [agent for agent in AGENTS if machine.is_installed(agent)]
    if options.all_detected:
        if not found:
            raise InstallError(f"no agent is found here; name one with --agent: {_names(AGENTS)}")
        return _with_files(found, options.scope or "user")
    if options.agent:
        return _named(options.agent)
    here = f"found here: {_names(found)}" if found else "none is found here"
    raise InstallError(
        f"name an agent with --agent, or all that are found with --all-detected; {here}"
    )


def _with_files(agents: Sequence[Agent], scope: Scope) -> Sequence[Agent]:
    """The agents that have files of a scope; the others are told of, since nobody named them."""
    chosen = [agent for agent in agents if (agent.user if scope == "user" else agent.project)]
    for agent in agents:
        if agent not in chosen:
            say(f"{agent.name} is left out: it has no configuration that serves as --scope {scope}")
    return chosen


def _named(names: Sequence[str]) -> Sequence[Agent]:
    """The agents of these names, each once."""
    by_name = {agent.name: agent for agent in AGENTS}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_name, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {_names(AGENTS)}"
        raise InstallError(f"there is no agent {unknown[0]!r}; {hint}")
    return [by_name[name] for name in dict.fromkeys(names)]


def _names(agents: Sequence[Agent]) -> str:
    return ", ".join(agent.name for agent in agents)


def _tried(agent: Agent, plan: Callable[[Agent], list[InstallStep]]) -> _Outcome:
    """One agent whose files cannot be changed does not keep the others waiting."""
    try:
        return _Outcome(agent, plan(agent))
    except InstallError as error:
        return _Outcome(agent, error=str(error))


def _carry_out(outcomes: Sequence[_Outcome], drafts: FileEdits, options: argparse.Namespace) -> int:
    """Show, ask, write, and tell of each agent."""
    changes = drafts.changes()
    for change in changes:
        _show(change)
    if changes and not options.dry_run:
        if not options.yes and not _agreed(len(changes)):
            say("nothing was written")
            return FAILED
        outcomes = _written(outcomes, changes)
    for outcome in outcomes:
        _tell(outcome, options.dry_run)
    return FAILED if any(outcome.error for outcome in outcomes) else RESULTS


def _show(change: FileEdit) -> None:
    """The lines that differ and no others: beside them there may stand keys."""
    before, after = (_lines(data) for data in (change.before, change.after))
    names = str(change.path), str(change.path)
    for line in difflib.unified_diff(before, after, *names, n=0, lineterm=""):
        _print(line)


def _print(line: str) -> None:
    """A line that may have characters of any file, on a terminal that may not."""
    encoding = sys.stdout.encoding or "utf-8"
    print(printable(line).encode(encoding, "backslashreplace").decode(encoding))


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _agreed(files: int) -> bool:
    """What a person says; raises InstallError where there is none."""
    if not sys.stdin.isatty():
        raise InstallError("nothing was written: nobody can be asked here; --yes agrees")
    what = "this file" if files == 1 else f"these {files} files"
    print(f"change {what}? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _written(outcomes: Sequence[_Outcome], changes: Sequence[FileEdit]) -> list[_Outcome]:
    """The outcomes after the files were written. A file can matter to several agents."""
    failed: dict[Path, str] = {}
    for change in changes:
        try:
            write(change)
        except InstallError as error:
            failed[change.path] = str(error)
    return [_after(outcome, failed) for outcome in outcomes]


def _after(outcome: _Outcome, failed: dict[Path, str]) -> _Outcome:
    errors = [failed[target(step.path)] for step in outcome.steps if target(step.path) in failed]
    done = [step for step in outcome.steps if target(step.path) not in failed]
    return replace(outcome, steps=done, error="; ".join(errors)) if errors else outcome


def _tell(outcome: _Outcome, is_dry: bool) -> None:
    parts = [f"{step.path}: {'would be ' if is_dry else ''}{step.what}" for step in outcome.steps]
    if outcome.error:
        parts.append(f"error: {outcome.error}")
    _print(f"{outcome.agent.name}: {'; '.join(parts) or 'nothing to do'}")
