"""`rootle uninstall`: remove rootle from the configuration of coding agents."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.commands.install import add_edit_options
from rootle.cli.options import CommandParser

_EXAMPLES: Final = """\
rootle uninstall
rootle uninstall --agent claude-code --yes
rootle uninstall --scope project --dry-run"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Undo `rootle install`. A file that has not been edited since `rootle install` is "
        "restored to its original content. From other files, only the text that rootle "
        "added is removed. If several agents share an instruction file, rootle's section "
        "stays in it until rootle has been removed from all of them.",
        _EXAMPLES,
    )
    parser.add_argument(
        "--agent",
        action="append",
        metavar="NAME",
        help="coding agent from which to remove rootle (default: all); repeatable",
    )
    add_edit_options(parser, "default: both")


def run(args: argparse.Namespace) -> int:
    from rootle.agents.agent import SCOPES
    from rootle.agents.catalog import AGENTS
    from rootle.agents.file_edits import FileEdits
    from rootle.agents.install_records import InstallRecords
    from rootle.agents.locations import Machine
    from rootle.agents.uninstall_plan import uninstall
    from rootle.cli.agent_edits import agents_by_name, apply_edits, plan_edits
    from rootle.cli.context import root_folder
    from rootle.cli.terminal import write_line

    machine = Machine.this(root_folder(args))
    agents = agents_by_name(args.agent) if args.agent else AGENTS
    scopes = (args.scope,) if args.scope else SCOPES
    edits, records = FileEdits(), InstallRecords()
    outcomes = [
        plan_edits(agent, lambda agent: uninstall(agent, scopes, machine, edits, records))
        for agent in agents
    ]
    if not args.agent:  # do not report agents that do not use rootle
        outcomes = [outcome for outcome in outcomes if outcome.steps or outcome.error]
    if not outcomes:
        write_line("nothing to do: rootle is not installed in any agent")
    code = apply_edits(outcomes, edits, records.write_restored, args)
    if not args.dry_run:
        records.discard_unused()
    return code
