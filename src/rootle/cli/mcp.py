"""`rootle mcp`."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rootle.cli.context import folder_of, opened, say
from rootle.cli.main import RESULTS
from rootle.errors import ConfigError

# Most folders are indexed within this time; of larger ones an agent gets what there is by then.
_FIRST_PATIENCE_S: Final = 5.0
# The folder that is open in it, as Claude Code tells the servers that it starts.
_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"


def run_mcp(options: argparse.Namespace) -> int:
    options.root = options.root or os.environ.get(_PROJECT_VARIABLE) or None
    _check_folder(options)
    if options.http is not None:
        return _run_http(options)
    from rootle.server.streams import claim_standard_streams

    wire = claim_standard_streams()  # before anything is loaded that might print
    with _without_collection():
        from rootle.server.runner import serve_stdio
    with opened(options, initial_index_timeout_s=_FIRST_PATIENCE_S) as app:
        serve_stdio(app, wire)
    return RESULTS


def _run_http(options: argparse.Namespace) -> int:
    from rootle.server.address import parse_address

    address = parse_address(options.http)
    with _without_collection():
        from rootle.server.runner import serve_http
    with opened(options, initial_index_timeout_s=_FIRST_PATIENCE_S) as app:
        serve_http(app, address, say)
    return RESULTS


def _check_folder(options: argparse.Namespace) -> None:
    """Raise ConfigError where an agent started the server in no project: nobody asked for all."""
    folder = folder_of(options)
    if options.root is None and folder in (Path.home(), Path(folder.anchor)):
        raise ConfigError(
            f"rootle mcp was started in {folder}, which is no project; "
            "name the folder to search with --root"
        )


@contextmanager
def _without_collection() -> Iterator[None]:
    """Nothing that is loaded here is ever garbage: looking through it is a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
