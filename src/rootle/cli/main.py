"""The entry point of the command line: parse arguments, run a command, return its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

# Other modules are imported by `main`, which handles Ctrl-C during imports.
if TYPE_CHECKING:
    import argparse
    import threading
    from types import FrameType

    from rootle.cli.options import CommandParser

# The modules of `rootle.cli.commands` with the summaries of their commands, in the order in which
# the help lists them. Only the module of the requested command is imported.
COMMANDS: Final[Mapping[str, str]] = {
    "search": "find the files and lines that answer a question",
    "show": "show a commit, or lines of a file",
    "symbol": "show where a name is defined and, with an option, where it is used",
    "why": "show the commits that added or changed certain lines of a file",
    "gone": "find code that no longer exists, and the commits that removed it",
    "drift": "find documents, comments and memories that refer to code that no longer exists",
    "impact": "given a change, show the other files that probably need to change",
    "index": "create or update the index",
    "watch": "update the index whenever files change, until you press Ctrl-C",
    "status": "show the state of the index",
    "add": "index a website, folder or archive from outside the project",
    "sources": "list, refresh and remove added sources",
    "clear": "delete the indexes of a folder, and the search log of all folders",
    "config": "show the configuration or create a configuration file",
    "memory": "manage memories (facts that were stored for coding agents)",
    "install": "add rootle to the configuration of coding agents",
    "uninstall": "remove rootle from the configuration of coding agents",
    "mcp": "serve rootle's tools to a coding agent over MCP",
}
# Commands whose modules are in a subfolder.
_FOLDERS: Final[Mapping[str, str]] = {
    "show": "history", "why": "history", "gone": "history", "impact": "history",
    "drift": "history", "add": "external", "sources": "external",
}  # fmt: skip
_EXAMPLES: Final = """\
rootle search "where is the retry backoff computed"
rootle index --dry-run
rootle install --agent claude-code"""
_NOTES: Final = """\
exit codes: 0 success, 1 nothing found, 2 error
Results are printed to standard output, and messages to standard error."""
# This is `FAILURE` of `cli.options`, which may be the module that cannot be imported.
_CRASHED: Final = 2
# The exit code of the hook. After exit code 2, agents discard the user's message.
_HOOK_CRASHED: Final = 1
_INTERRUPTED: Final = 130  # the exit code that shells use after Ctrl-C
# The delay before an interrupt is repeated. The main thread needs a moment to return from
# `_repeat_interrupt`, and nothing reports that it has returned.
_REPEAT_DELAY_S: Final = 0.02


def entry() -> None:
    """Run the `rootle` command and exit."""
    # The vectors of one query are small. The idle threads of OpenBLAS would use more processor time
    # than the search itself.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from rootle.cli.memory_limit import supervise_if_limited
        from rootle.cli.standard_streams import prepare_streams

        sys.unraisablehook = _repeat_interrupt
        supervise_if_limited()
        prepare_streams()
        code = main()
        import signal

        # From here on, Ctrl-C ends the interpreter without a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:  # Ctrl-C outside of `main`, or a second Ctrl-C
        with suppress(OSError):
            os.write(2, b"rootle: interrupted\n")
        os._exit(_INTERRUPTED)
    except Exception:
        code = _report_crash(sys.argv[1:])
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    with _record_interrupts() as interrupts:
        try:
            code = _run(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
        except (KeyboardInterrupt, Exception) as error:
            # If the import of an extension module is interrupted, it raises an ImportError instead.
            if interrupts or isinstance(error, KeyboardInterrupt):
                _warn("interrupted; an existing index is still usable")
                code = _INTERRUPTED
            elif isinstance(error, OSError):
                code = _explain(error)
            else:
                raise
        return _check_output(code)


def _report_crash(words: Sequence[str]) -> int:
    """Print the current exception and ask for a report; return the exit code."""
    import traceback

    with suppress(OSError):
        traceback.print_exc()
        print(
            "rootle: an unexpected error, which is a bug in rootle, ended the command; please "
            "report it with the traceback above",
            file=sys.stderr,
        )
    return _HOOK_CRASHED if list(words[:2]) == ["memory", "hook"] else _CRASHED


def _repeat_interrupt(ignored: sys.UnraisableHookArgs) -> None:
    """Raise a KeyboardInterrupt again if it occurred where Python ignores exceptions.

    A destructor cannot raise exceptions, so a Ctrl-C during a destructor would print a message and
    have no effect.
    """
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        import threading

        # If the exception were raised before this function returns, it would be ignored again.
        is_returning = threading.Event()
        threading.Thread(target=_interrupt_main_thread, args=(is_returning,)).start()
        is_returning.set()
    else:
        sys.__unraisablehook__(ignored)


def _interrupt_main_thread(is_ready: threading.Event) -> None:
    """Send SIGINT to the main thread shortly after an event."""
    import _thread
    import signal
    import threading
    import time

    is_ready.wait()
    time.sleep(_REPEAT_DELAY_S)
    main_thread = threading.main_thread().ident
    if sys.platform == "win32" or main_thread is None:
        _thread.interrupt_main()
    else:  # unlike `interrupt_main`, this also interrupts a system call
        signal.pthread_kill(main_thread, signal.SIGINT)


@contextmanager
def _record_interrupts() -> Iterator[list[int]]:
    """Yield a list to which each SIGINT is added before it raises KeyboardInterrupt."""
    import signal

    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.default_int_handler(number, frame)

    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.default_int_handler:
        yield received
        return
    with suppress(ValueError):  # only the main thread receives signals
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield received
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, previous)


def _run(words: Sequence[str]) -> int:
    try:
        args = build_parser([word for word in words if word in COMMANDS][:1]).parse_args(words)
    except SystemExit as done:  # after --help, or a usage error
        return int(done.code or 0)
    from rootle.cli.options import FAILURE, name_option
    from rootle.cli.terminal import warn
    from rootle.errors import RootleError
    from rootle.telemetry.exporter import export_telemetry

    try:
        with export_telemetry(warn):
            return int(args.run(args))
    except RootleError as error:
        warn(name_option(error, words))
        return FAILURE


def _list_commands(_: argparse.Namespace) -> int:
    """Print the commands to standard error, and return the exit code of a usage error."""
    from rootle.cli.options import FAILURE

    width = max(map(len, COMMANDS))
    rows = [f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items()]
    text = "\n".join(["rootle: no command given; the commands are:", *rows, "try `rootle --help`"])
    with suppress(OSError):
        print(text, file=sys.stderr)
    return FAILURE


def _explain(error: OSError) -> int:
    """Report an error that the environment caused, and return the exit code.

    Raise the error again if it has another cause.
    """
    from rootle.cli.options import FAILURE
    from rootle.cli.standard_streams import output_failure

    if output_failure() is None:
        if _has_current_folder():
            raise error
        _warn("the current folder was deleted; change to another folder")
    return FAILURE


def _check_output(code: int) -> int:
    """Return the exit code of a command; print a message if its output could not be written."""
    from rootle.cli.options import FAILURE, SUCCESS
    from rootle.cli.standard_streams import discard_unwritten, output_failure

    failure = output_failure()
    if isinstance(failure, BrokenPipeError):  # the reader closed the pipe, as `head` does
        code = SUCCESS
    elif failure is not None:
        _warn(f"cannot write to standard output: {failure.strerror}")
        code = FAILURE
    for stream in (sys.stdout, sys.stderr):
        discard_unwritten(stream)
    return code


def _has_current_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _warn(message: str) -> None:
    from rootle.cli.terminal import warn

    warn(message)


def build_parser(names: Collection[str] = COMMANDS) -> CommandParser:
    """Return the parser with all commands, but with arguments only for the commands in `names`."""
    from rootle import __version__
    from rootle.cli.options import CommandParser

    parser = CommandParser(prog="rootle")
    parser.describe(
        "Search the code and documents in a folder by keyword and by meaning.", _EXAMPLES, _NOTES
    )
    parser.add_argument("--version", action="version", version=f"rootle {__version__}")
    parser.set_defaults(run=_list_commands)  # if no command is given
    # Only the parsers of `names` parse arguments, so one parser suffices for all other commands.
    # Creating a parser for each of them would take longer than parsing.
    others = CommandParser(prog="rootle")

    def command_parser(prog: str, **options: Any) -> CommandParser:  # Any: as in `CommandParser`
        is_needed = prog.rpartition(" ")[2] in names
        return CommandParser(prog=prog, **options) if is_needed else others

    create: Any = command_parser  # argparse declares that it needs a class, but calls any function
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=create)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name in names:
            path = f"{_FOLDERS[name]}.{name}" if name in _FOLDERS else name
            module = import_module(f"rootle.cli.commands.{path}")
            module.register(command)
            command.set_defaults(run=module.run)
    return parser
