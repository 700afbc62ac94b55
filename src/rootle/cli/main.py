"""The command line: parse, call the app, print, and turn errors into exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

RESULTS, NO_RESULTS, FAILED = 0, 1, 2

_EPILOG = """\
exit codes: 0 results, 1 no results, 2 an error
results go to standard output, everything else to standard error
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(FAILED, f"rootle: {message}\ntry `{self.prog} --help`\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    options = build_parser().parse_args(arguments)
    from rootle.cli.exporting import exporting
    from rootle.errors import RootleError

    try:
        with exporting():
            return int(_run(options))
    except RootleError as error:
        from rootle.cli.context import say

        say(str(error))
        return FAILED
    except KeyboardInterrupt:
        print("rootle: stopped; the index stays usable", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Without this Python complains when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return RESULTS


def entry() -> None:
    """The `rootle` command."""
    # Products of one question's vector are small. A pool of threads for them would, before it
    # falls asleep, use more processor time than the search itself. Whoever wants one sets it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())


def _run(options: argparse.Namespace) -> int:
    if options.command == "search":
        from rootle.cli.search import run_search

        return run_search(options)
    if options.command == "index":
        from rootle.cli.index import run_index

        return run_index(options)
    if options.command == "status":
        from rootle.cli.status import run_status

        return run_status(options)
    if options.command == "config":
        from rootle.cli.config import run_config_init, run_config_show

        return run_config_show(options) if options.action == "show" else run_config_init(options)
    if options.command == "memory":
        from rootle.cli.memory import run_memory

        return run_memory(options)
    if options.command == "watch":
        from rootle.cli.watch import run_watch

        return run_watch(options)
    if options.command == "install":
        from rootle.cli.install import run_install

        return run_install(options)
    if options.command == "uninstall":
        from rootle.cli.install import run_uninstall

        return run_uninstall(options)
    if options.command == "mcp":
        from rootle.cli.mcp import run_mcp

        return run_mcp(options)
    from rootle.cli.status import run_clear

    return run_clear(options)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; its help texts are also the source of `docs/reference/cli.md`."""
    from rootle import __version__

    parser = _Parser(
        prog="rootle",
        description="Ask a folder of code and documents in plain words.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rootle {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_search(commands)
    _add_index(commands)
    _add_watch(commands)
    _add_status(commands)
    _add_clear(commands)
    _add_config(commands)
    _add_memory(commands)
    _add_install(commands)
    _add_uninstall(commands)
    _add_mcp(commands)
    return parser


_Commands = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it


def _add_search(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "search",
        help="answer a question, bringing the index up to date first",
        description="Answer a question. The index is made or brought up to date first.",
    )
    command.add_argument(
        "question",
        nargs="*",
        help='words, a name, "an exact phrase" or /a regex/; also path:, lang: and -word',
    )
    command.add_argument(
        "--root", metavar="DIR", help="search this folder (default: the work tree around here)"
    )
    command.add_argument("-n", "--limit", type=int, metavar="N", help="results (default 10)")
    command.add_argument(
        "--path", action="append", metavar="P", help="only this file, folder or glob; repeatable"
    )
    command.add_argument(
        "--lang", action="append", metavar="L", help="only this language; repeatable"
    )
    command.add_argument("--days", type=float, metavar="N", help="only files changed within N days")
    command.add_argument("--cursor", metavar="C", help="the next page, from `nextCursor`")
    command.add_argument(
        "--context", action="store_true", help="each result with the lines around it"
    )
    command.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help="the best passages in N tokens, of four characters each, as Markdown",
    )
    command.add_argument(
        "--seen",
        action="append",
        metavar="PLACE",
        help="lines not to show in a context, as `path:start-end`; repeatable",
    )
    command.add_argument(
        "--markdown", action="store_true", help="print Markdown, for a reader that is a model"
    )
    command.add_argument(
        "--explain",
        action="store_true",
        help="how the question was read, and what each feature gave a result",
    )
    command.add_argument(
        "--batch",
        action="store_true",
        help='JSON lines in ({"textQuery": …, "limit": 10}), JSON lines out, in order',
    )
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours (default: auto, on a terminal)",
    )
    _add_common(command)


def _add_index(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "index",
        help="make the index or bring it up to date",
        description="Make the index of a folder or bring it up to date.",
    )
    _add_path(command)
    command.add_argument(
        "--dry-run", action="store_true", help="show what would be indexed or skipped, and why"
    )
    command.add_argument("--rebuild", action="store_true", help="delete the index and start over")
    _add_common(command)


def _add_watch(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "watch",
        help="keep the index fresh until Ctrl-C",
        description="Keep the index of a folder fresh until Ctrl-C, with a line on standard error "
        "for each batch of changes; or tell the `rootle watch` that runs to pause.",
    )
    _add_path(command)
    wish = command.add_mutually_exclusive_group()
    wish.add_argument("--pause", action="store_true", help="have the running one index nothing")
    wish.add_argument(
        "--slow", type=float, metavar="S", help="have it index at most every S seconds"
    )
    wish.add_argument("--resume", action="store_true", help="have it go on as usual")
    _add_common(command)


def _add_status(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "status",
        help="show the index as it stands",
        description="Show the index of a folder as it stands, without changing it.",
    )
    _add_path(command)
    command.add_argument("--skipped", action="store_true", help="list every skipped file")
    _add_common(command)


def _add_clear(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "clear", help="delete the index", description="Delete the index of a folder."
    )
    _add_path(command)
    _add_common(command)


def _add_config(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "config",
        help="show the settings, or write a file for them",
        description="The settings of a folder, and a file to change them in.",
    )
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser(
        "show",
        help="every setting, and where its value comes from",
        description="Show every setting, and where its value comes from. Keys are not shown.",
    )
    _add_path(show)
    show.add_argument("--json", action="store_true", help="print JSON")
    _add_settings(show)
    init = actions.add_parser(
        "init",
        help="write a file with every setting explained",
        description="Write a settings file with every key, its meaning and its default, all of "
        "them commented out.",
    )
    init.add_argument(
        "file", nargs="?", metavar="FILE", help="where (default: config.json in rootle's folder)"
    )
    init.add_argument("--force", action="store_true", help="write over a file that is there")


def _add_install(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "install",
        help="enter rootle into the configuration of coding agents",
        description="Enter rootle as an MCP server into the configuration of coding agents, and a "
        "section on when to ask it into the instructions that they read. What will change is shown "
        "before it is written, and every file is kept beside the new one.",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--agent",
        action="append",
        metavar="NAME",
        help="this agent, such as `claude-code` or `codex`; repeatable",
    )
    which.add_argument("--all-detected", action="store_true", help="all that are found here")
    _add_files(command, "the user's files or the project's (default: the user's, if there are any)")


def _add_uninstall(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "uninstall",
        help="take rootle out of the configuration of coding agents",
        description="Take out what `rootle install` has entered, and nothing else.",
    )
    command.add_argument(
        "--agent", action="append", metavar="NAME", help="this agent (default: all); repeatable"
    )
    _add_files(command, "the user's files or the project's (default: both)")


def _add_files(command: argparse.ArgumentParser, scope: str) -> None:
    command.add_argument("--scope", choices=("user", "project"), help=scope)
    command.add_argument(
        "--root", metavar="DIR", help="the project (default: the work tree around here)"
    )
    command.add_argument("--yes", action="store_true", help="write without asking")
    command.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")


def _add_mcp(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "mcp",
        help="serve an agent over MCP",
        description="Serve an agent over the Model Context Protocol: on standard input and output, "
        "as programs start it, or over HTTP.",
    )
    command.add_argument(
        "--http",
        metavar="ADDRESS",
        help="serve any number of clients at this port, or HOST:PORT, of this machine alone "
        "unless HOST says otherwise",
    )
    command.add_argument(
        "--root", metavar="DIR", help="serve this folder (default: the work tree around here)"
    )
    command.add_argument(
        "--index-dir", metavar="DIR", help="where the index lies (default: the user's cache)"
    )
    _add_settings(command)


def _add_memory(commands: _Commands[_Parser]) -> None:
    command = commands.add_parser(
        "memory",
        help="show, change, save and check what is remembered",
        description="What agents were told to remember, for the person whom it is about.",
    )
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION")
    parts = {
        name: actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        for name, about in (
            ("list", "every memory, the newest first"),
            ("search", "the memories that fit a topic, as an agent gets them"),
            ("add", "remember a fact"),
            ("forget", "wipe memories out, by the ids that `list` shows"),
            ("export", "write every memory as a line of JSON"),
            ("import", "read what `export` wrote; what is known already is passed over"),
            ("audit", "what was told and forgotten when; secrets, likely doubles, stale ones"),
        )
    }
    parts["list"].add_argument("-n", "--limit", type=int, metavar="N", help="at most N")
    parts["search"].add_argument("topic", nargs="+", metavar="TOPIC", help="a topic or question")
    parts["add"].add_argument("fact", nargs="+", metavar="FACT", help="a sentence")
    parts["add"].add_argument(
        "--about", action="append", metavar="PLACE", help="path, path#name or name; repeatable"
    )
    parts["forget"].add_argument("ids", nargs="*", metavar="ID", help="ids of memories")
    parts["forget"].add_argument("--all", action="store_true", help="every memory")
    for name, what in (("export", "standard output"), ("import", "standard input")):
        parts[name].add_argument(
            "file", nargs="?", default="-", metavar="FILE", help=f"default: {what}"
        )
    for part in parts.values():
        part.add_argument("--root", metavar="DIR", help="the folder whose files they may be about")
        _add_common(part)


def _add_path(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "root", nargs="?", metavar="PATH", help="the folder (default: the work tree around here)"
    )


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--index-dir", metavar="DIR", help="where the index lies (default: the user's cache)"
    )
    _add_settings(command)


def _add_settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--config", metavar="FILE", help="settings that go before those of the other files"
    )
    command.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="one setting, before all files; repeatable",
    )
