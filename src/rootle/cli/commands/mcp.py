"""`rootle mcp`: serve rootle's tools to coding agents over MCP."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Final

from rootle.cli.options import (
    DEFAULT_ROOT,
    SUCCESS,
    CommandParser,
    add_index_dir,
    add_root,
    add_settings,
)

# The maximum time that a call waits for the first index. Most folders are indexed within this time.
# In larger folders, the agent gets answers from the part that is indexed by then.
_INITIAL_INDEX_TIMEOUT_S: Final = 5.0
# Set by Claude Code for the servers that it starts.
_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
_DEFAULT_ROOT: Final = f"{_PROJECT_VARIABLE} if this variable is set, or else {DEFAULT_ROOT}"
_EXAMPLES: Final = """\
rootle mcp
rootle mcp --root ~/projects/shop
rootle mcp --http 8765"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Serve rootle's tools to coding agents over the Model Context Protocol (MCP). "
        "By default, the server uses standard input and output. With --http, it serves "
        "many clients over HTTP.",
        _EXAMPLES,
    )
    parser.add_argument(
        "--http",
        metavar="ADDRESS",
        help="listen for HTTP clients on PORT or HOST:PORT; without HOST, only clients on this "
        "machine can connect",
    )
    add_root(parser, "folder to search", _DEFAULT_ROOT)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow a folder that is or contains your home folder; without this option, the "
        "server refuses to index or read such a folder",
    )
    add_index_dir(parser)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    args.root = args.root or os.environ.get(_PROJECT_VARIABLE) or None
    from rootle.server.stderr_relay import relay_stderr

    with relay_stderr():
        return _serve_stdio(args) if args.http is None else _serve_http(args)


def _serve_stdio(args: argparse.Namespace) -> int:
    from rootle.server.streams import claim_standard_streams

    streams = claim_standard_streams()  # before importing anything that might print
    from rootle.cli.context import open_app_from, root_folder
    from rootle.errors import ConfigError

    with _disable_garbage_collection():
        from rootle.server.runner import serve_after_correction, serve_stdio
    refusal = _refusal(args)
    open_configured = partial(open_app_from, args, initial_index_timeout_s=_INITIAL_INDEX_TIMEOUT_S)
    with ExitStack() as stack:
        try:
            app = stack.enter_context(open_configured())
        except ConfigError as problem:
            from rootle.cli.terminal import warn

            # Most agents would show only "Connection closed" if the server exited.
            warn(str(problem))
            serve_after_correction(root_folder(args), open_configured, streams, refusal)
        else:
            serve_stdio(app, streams, refusal)
    return SUCCESS


def _serve_http(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.terminal import warn
    from rootle.server.address import parse_address

    address = parse_address(args.http)
    with _disable_garbage_collection():
        from rootle.server.runner import serve_http
    with open_app_from(args, initial_index_timeout_s=_INITIAL_INDEX_TIMEOUT_S) as app:
        serve_http(app, address, warn, _refusal(args))
    return SUCCESS


def _refusal(args: argparse.Namespace) -> str:
    """Return "", or the refusal of all calls if the folder contains all files of the user.

    The server must not index such a folder. It does not exit, because most agents would show only
    "Connection closed".
    """
    from rootle.cli.context import root_folder
    from rootle.storage.paths import contains_home

    folder = root_folder(args)
    if args.yes or not contains_home(folder):
        return ""
    return (
        f"rootle was started for {folder}, which contains all files of the user and is not a "
        "project, so it indexes and reads nothing there; tell the user to start the agent in the "
        "folder of a project, or to add `--root FOLDER` to the arguments of `rootle mcp` in the "
        "agent's configuration (`--yes` searches all files)"
    )


@contextmanager
def _disable_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector during imports, because it takes a tenth of their time.

    Imported modules stay in use, so there is nothing to collect.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
