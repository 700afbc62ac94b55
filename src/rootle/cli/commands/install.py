"""`rootle install`: add rootle to the configuration of coding agents."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rootle.cli.options import CommandParser, add_root, add_yes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rootle.agents.agent import Agent, Scope
    from rootle.agents.install_plan import InstallStep
    from rootle.agents.locations import Machine

_EXAMPLES: Final = """\
rootle install --agent claude-code
rootle install --all-detected --dry-run
rootle install --agent cursor --agent codex --scope project --yes
rootle install --agent claude-code --memory-hook"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Add rootle as an MCP server to the configuration of coding agents. Also add a "
        "section about rootle to their instruction files. The changes "
        "are shown before they are written. `rootle uninstall` undoes them. Choose the agents "
        "with --agent or --all-detected. Without either, the command names the agents that it "
        "finds on this machine, and changes nothing.",
        _EXAMPLES,
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--agent",
        action="append",
        metavar="NAME",
        help="coding agent to configure, such as claude-code or codex; repeatable",
    )
    choice.add_argument(
        "--all-detected",
        action="store_true",
        help="configure every coding agent that is found on this machine",
    )
    parser.add_argument(
        "--memory-hook",
        action="store_true",
        help="also add a hook that runs for each of your messages: it finds the memories that "
        "match the message, and sends them to the agent together with the message",
    )
    add_edit_options(parser, "default: user; for agents without user-level files: project")


def add_edit_options(parser: CommandParser, default_scope: str) -> None:
    """Add the options that `install` and `uninstall` share."""
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        help=f"edit user-level or project-level files ({default_scope})",
    )
    add_root(parser, "project folder")
    add_yes(parser, "writing the files")
    parser.add_argument(
        "--dry-run", action="store_true", help="show the changes without writing them"
    )


def run(args: argparse.Namespace) -> int:
    import shutil

    from rootle.agents.file_edits import FileEdits
    from rootle.agents.install_plan import install
    from rootle.agents.install_records import InstallRecords
    from rootle.agents.launch_command import NAME
    from rootle.agents.locations import Machine
    from rootle.cli.agent_edits import apply_edits, plan_edits
    from rootle.cli.context import root_folder
    from rootle.cli.terminal import warn

    machine = Machine.this(root_folder(args))
    edits = FileEdits(is_private=args.scope != "project")
    agents = _choose_agents(args, machine)

    def plan(agent: Agent) -> list[InstallStep]:
        with_hook = _wants_hook(agent, args)
        return install(agent, args.scope, machine, edits, with_memory_hook=with_hook)

    outcomes = [plan_edits(agent, plan) for agent in agents]
    code = apply_edits(outcomes, edits, InstallRecords().write_installed, args)
    for agent in agents if args.memory_hook else ():
        if agent.prompt_hook is not None and agent.prompt_hook.note:
            warn(agent.prompt_hook.note)
    if args.scope == "project" and shutil.which(NAME) is None:
        warn(f"{NAME} is not on the PATH, but the project files start it by that name")
    return code


def _wants_hook(agent: Agent, args: argparse.Namespace) -> bool:
    """Return whether to add the hook; warn if a detected agent does not support it.

    For an agent that the user names, planning the hook raises InstallError instead.
    """
    from rootle.cli.terminal import warn

    if args.memory_hook and args.all_detected and agent.prompt_hook is None:
        warn(f"{agent.name}: it has no hook that adds memories to a message")
        return False
    return bool(args.memory_hook)


def _choose_agents(args: argparse.Namespace, machine: Machine) -> Sequence[Agent]:
    """Return the agents to configure; raise InstallError if none is named or detected."""
    from rootle.agents.catalog import AGENTS
    from rootle.cli.agent_edits import agents_by_name, join_names
    from rootle.errors import InstallError

    if args.agent:
        return agents_by_name(args.agent)
    detected = [agent for agent in AGENTS if machine.is_installed(agent)]
    if not args.all_detected:
        found = f"detected: {join_names(detected)}" if detected else "none was detected"
        raise InstallError(f"choose agents with --agent NAME or --all-detected; {found}")
    if not detected:
        raise InstallError(f"no agent was detected; choose one with --agent: {join_names(AGENTS)}")
    return _filter_by_scope(detected, args.scope or "user")


def _filter_by_scope(agents: Sequence[Agent], scope: Scope) -> Sequence[Agent]:
    """Return the agents that have files of this scope; warn about the others."""
    from rootle.cli.terminal import warn

    for agent in agents:
        if not agent.has_config(scope):
            warn(f"skipped {agent.name}: it has no configuration file for --scope {scope}")
    return [agent for agent in agents if agent.has_config(scope)]
