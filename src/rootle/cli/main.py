"""The command line: build the parser, run a command, turn errors into exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from rootle.cli.commands import (
    clear,
    config,
    index,
    install,
    mcp,
    memory,
    search,
    status,
    uninstall,
    watch,
)
from rootle.cli.options import FAILURE, SUCCESS, CommandParser, format_examples

# In the order of the help.
_COMMANDS: Final = (
    *(search, index, watch, status, clear),
    *(config, memory, install, uninstall, mcp),
)
_INTERRUPTED: Final = 130  # as a shell reports Ctrl-C
_EXAMPLES: Final = """\
rootle search "where is the retry backoff computed"
rootle index --dry-run
rootle install --agent claude-code"""
_EPILOG: Final = f"""\
{format_examples(_EXAMPLES)}

exit codes: 0 success, 1 no results, 2 error
Results go to standard output, messages to standard error."""


def entry() -> None:
    """Run the `rootle` command and exit."""
    # The vectors of one query are small. The threads that OpenBLAS starts for them use more
    # processor time, before they go to sleep, than the search itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = build_parser().parse_args(arguments)
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
        # The reader of the pipe has closed it. Without this, Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS


def build_parser() -> CommandParser:
    """Return the parser of all commands, which `docs/reference/cli.md` is generated from."""
    from rootle import __version__

    parser = CommandParser(
        prog="rootle",
        description="Search a folder of code and documents by meaning and by words.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rootle {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.register(commands)
    return parser
