"""The entry point of the command line: parse arguments, run a command, return its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Final

from rootle.cli.options import FAILURE, SUCCESS, CommandParser

# The modules of `rootle.cli.commands` with the summaries of their commands, in the order of the
# help. Only the module of the command that runs is imported.
COMMANDS: Final[Mapping[str, str]] = {
    "search": "find the files and lines that answer a question",
    "index": "create or update the index",
    "watch": "update the index whenever files change, until Ctrl-C",
    "status": "show the state of the index",
    "clear": "delete the index",
    "config": "show the configuration or create a configuration file",
    "memory": "manage stored memories",
    "install": "add rootle to the configuration of coding agents",
    "uninstall": "remove rootle from the configuration of coding agents",
    "mcp": "serve rootle's tools to a coding agent over MCP",
}
_EXAMPLES: Final = """\
rootle search "where is the retry backoff computed"
rootle index --dry-run
rootle install --agent claude-code"""
_NOTES: Final = """\
exit codes: 0 success, 1 no results, 2 error
Results are printed to standard output, and messages to standard error."""
_INTERRUPTED: Final = 130  # the exit code that shells use after Ctrl-C


def entry() -> None:
    """Run the `rootle` command and exit."""
    # For the small vectors of one query, the threads of OpenBLAS use more processor time before
    # they go to sleep than the search itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    args = build_parser([word for word in words if word in COMMANDS][:1]).parse_args(words)
    from rootle.cli.terminal import warn
    from rootle.errors import RootleError
    from rootle.telemetry.exporter import export_telemetry

    try:
        with export_telemetry(warn):
            return int(args.run(args))
    except RootleError as error:
        warn(str(error))
        return FAILURE
    except KeyboardInterrupt:
        warn("interrupted; the index is still usable")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe. Without the redirection, Python prints an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS


def build_parser(names: Collection[str] = COMMANDS) -> CommandParser:
    """Return the parser with all commands; only the commands in `names` get their arguments."""
    from rootle import __version__

    parser = CommandParser(prog="rootle")
    parser.describe(
        "Search the code and documents in a folder by keyword and by meaning.", _EXAMPLES, _NOTES
    )
    parser.add_argument("--version", action="version", version=f"rootle {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name in names:
            module = import_module(f"rootle.cli.commands.{name}")
            module.register(command)
            command.set_defaults(run=module.run)
    return parser
