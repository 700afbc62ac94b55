"""From an app to a server that runs until nobody wants it any more."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server

from rootle.app import App
from rootle.server.address import Address
from rootle.server.background_indexing import BackgroundIndexing
from rootle.server.mcp import ToolServer
from rootle.server.shutdown import end_soon, when_parent_dies
from rootle.server.stdio import message_streams
from rootle.server.streams import ProtocolStreams
from rootle.tools.registry import tools_of


def serve_stdio(app: App, wire: ProtocolStreams) -> None:
    """Answer one client until it closes its end, or it or the parent process is gone."""
    with _serving(app) as server:
        asyncio.run(_answer(server, wire))


def serve_http(app: App, address: Address, notice: Callable[[str], None]) -> None:
    """Answer any number of clients until SIGINT or SIGTERM.

    Raises UnavailableError where nobody can listen at the address.
    """
    from rootle.server import mcp_http

    token = mcp_http.token_for(address, app.config, notice)
    with _serving(app) as server:
        mcp_http.serve_http(server, address, token, notice)


@contextmanager
def _serving(app: App) -> Iterator[Server[Any]]:
    upkeep = BackgroundIndexing(app)
    upkeep.start()
    try:
        yield ToolServer(tools_of(app), app.index_progress, upkeep.begin).as_mcp()
    finally:
        end_soon()
        upkeep.stop()


async def _answer(server: Server[Any], wire: ProtocolStreams) -> None:
    loop = asyncio.get_running_loop()
    async with message_streams(wire, end_soon) as (inbox, outbox):
        with anyio.CancelScope() as session:

            def end() -> None:
                end_soon()
                loop.call_soon_threadsafe(session.cancel)

            when_parent_dies(end)
            for number in (signal.SIGTERM, signal.SIGINT):
                with suppress(NotImplementedError):  # Windows ends a process without asking
                    loop.add_signal_handler(number, session.cancel)
            await server.run(inbox, outbox, server.create_initialization_options())
