"""Run an app as an MCP server, from start to shutdown."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.server.lowlevel.server import Server

from rootle.app import App, open_app
from rootle.server.address import Address
from rootle.server.background_indexing import BackgroundIndexing
from rootle.server.corrected_app import CorrectedApp
from rootle.server.mcp import ToolServer
from rootle.server.shutdown import (
    GRACE_PERIOD_S,
    call_when_parent_exits,
    exit_after_grace_period,
)
from rootle.server.stdio import open_message_streams
from rootle.server.streams import ProtocolStreams
from rootle.tools.registry import create_tools
from rootle.tools.sent_passages import SentPassages
from rootle.tools.tool import error

_INTERRUPT_GRACE_PERIOD_S: Final = 1.0


def serve_stdio(app: App, streams: ProtocolStreams, refusal: str = "") -> None:
    """Serve one client until it closes its end of the connection, or the parent process exits.

    If `refusal` is not empty, it is the answer to every call, and nothing is indexed.
    """
    with _create_server(app, refusal, SentPassages()) as server:
        asyncio.run(_serve_client(server, streams))


def serve_after_correction(
    folder: Path,
    open_configured: Callable[[], AbstractContextManager[App]],
    streams: ProtocolStreams,
    refusal: str = "",
) -> None:
    """Serve one client although the configuration of a folder is invalid.

    The client gets the tools of the default configuration. Each call reads the configuration again
    with `open_configured`, and returns the configuration error until the user has corrected the
    file.
    """
    with open_app(folder) as default:
        if refusal:
            serve_stdio(default, streams, refusal)
            return
        with closing(CorrectedApp(open_configured)) as corrected:
            tools = [
                replace(tool, execute=partial(corrected.call, tool.name))
                for tool in create_tools(default)
            ]
            server = ToolServer(tools, corrected.index_progress, lambda: None, folder)
            try:
                asyncio.run(_serve_client(server.as_mcp(), streams))
            finally:
                exit_after_grace_period()


def serve_http(
    app: App, address: Address, notify: Callable[[str], None], refusal: str = ""
) -> None:
    """Serve any number of clients until SIGINT or SIGTERM.

    `notify` receives the URL and the token. Raise UnavailableError if the address cannot be used.
    """
    from rootle.server import mcp_http

    token = mcp_http.choose_token(address, app.config, notify)
    with _create_server(app, refusal) as server:
        mcp_http.serve_http(server, address, token, notify)


@contextmanager
def _create_server(
    app: App, refusal: str, shown: SentPassages | None = None
) -> Iterator[Server[Any]]:
    """Create a server, and index in the background until the end of the `with` block."""
    if refusal:
        tools = [replace(tool, execute=lambda _: error(refusal)) for tool in create_tools(app)]
        yield ToolServer(tools, lambda: None, lambda: None, app.root).as_mcp()
        exit_after_grace_period()
        return
    indexing = BackgroundIndexing(app)
    indexing.start()
    try:
        offered = create_tools(app, shown)
        yield ToolServer(offered, app.index_progress, indexing.begin, app.root).as_mcp()
    finally:
        exit_after_grace_period()
        indexing.stop()


async def _serve_client(server: Server[Any], streams: ProtocolStreams) -> None:
    loop = asyncio.get_running_loop()
    async with open_message_streams(streams, exit_after_grace_period) as (inbox, outbox):
        with anyio.CancelScope() as session:

            def end(grace_period_s: float = GRACE_PERIOD_S) -> None:
                exit_after_grace_period(grace_period_s)
                # If the client closes its input before it exits, the loop may already have ended.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(session.cancel)

            call_when_parent_exits(end)
            with suppress(NotImplementedError):  # on Windows
                loop.add_signal_handler(signal.SIGTERM, end)
                # A user who presses Ctrl-C should not have to wait for a question that is running.
                loop.add_signal_handler(signal.SIGINT, end, _INTERRUPT_GRACE_PERIOD_S)
            await server.run(inbox, outbox, server.create_initialization_options())
