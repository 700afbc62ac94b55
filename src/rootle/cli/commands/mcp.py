"""`rootle mcp`: serve rootle's tools to coding agents over MCP."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rootle.cli.options import SUCCESS, CommandParser, add_index_dir, add_root, add_settings

# Most folders are indexed within this time; for larger ones an agent gets partial answers.
_INITIAL_INDEX_TIMEOUT_S: Final = 5.0
# Set by Claude Code for the servers that it starts.
_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
_EXAMPLES: Final = """\
rootle mcp
rootle mcp --root ~/projects/shop
rootle mcp --http 8765"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Serve rootle's tools to coding agents over the Model Context Protocol (MCP).\n"
        "By default, the server uses standard input and output. With --http, it serves\n"
        "many clients over HTTP.",
        _EXAMPLES,
    )
    parser.add_argument(
        "--http",
        metavar="ADDRESS",
        help="listen for HTTP clients on PORT or HOST:PORT; without HOST, only clients on this "
        "machine can connect",
    )
    add_root(parser, "folder to search")
    add_index_dir(parser)
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    args.root = args.root or os.environ.get(_PROJECT_VARIABLE) or None
    _check_root(args)
    return _serve_stdio(args) if args.http is None else _serve_http(args)


def _serve_stdio(args: argparse.Namespace) -> int:
    from rootle.server.streams import claim_standard_streams

    streams = claim_standard_streams()  # before importing anything that might print
    from rootle.cli.context import open_app_from

    with _without_garbage_collection():
        from rootle.server.runner import serve_stdio
    with open_app_from(args, initial_index_timeout_s=_INITIAL_INDEX_TIMEOUT_S) as app:
        serve_stdio(app, streams)
    return SUCCESS


def _serve_http(args: argparse.Namespace) -> int:
    from rootle.cli.context import open_app_from
    from rootle.cli.terminal import warn
    from rootle.server.address import parse_address

    address = parse_address(args.http)
    with _without_garbage_collection():
        from rootle.server.runner import serve_http
    with open_app_from(args, initial_index_timeout_s=_INITIAL_INDEX_TIMEOUT_S) as app:
        serve_http(app, address, warn)
    return SUCCESS


def _check_root(args: argparse.Namespace) -> None:
    """Raise ConfigError if the server was started in the home folder or the file system root.

    It would index all files of the user.
    """
    from pathlib import Path

    from rootle.cli.context import root_folder
    from rootle.errors import ConfigError

    folder = root_folder(args)
    if args.root is None and folder in (Path.home(), Path(folder.anchor)):
        raise ConfigError(
            f"rootle mcp was started in {folder}, which is not a project; "
            "pass the folder to search with --root"
        )


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector during imports, because it takes a tenth of their time.

    Imported modules are never garbage.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
