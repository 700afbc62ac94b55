"""MCP over streamable HTTP, for many clients at once."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from rootle.config.api_key import read_key
from rootle.config.fields import Config
from rootle.server.address import Address
from rootle.server.auth_middleware import AuthMiddleware

PATH: Final = "/mcp"
# Sessions that a client left behind are ended after half an hour without a request.
_IDLE_S: Final = 1_800.0
_MAX_SESSIONS: Final = 200
_GOODBYE_S: Final = 2

Notice = Callable[[str], None]


def token_for(address: Address, config: Config, notice: Notice) -> str:
    """The token that clients must know; one is made where others than this machine may ask.

    On the machine itself none is needed, unless the configuration names one.
    """
    token = read_key(config.mcp_token, config.mcp_token_command, "mcpTokenCommand")
    if not token and not address.is_loopback:
        token = secrets.token_urlsafe(32)
        notice(f"the token of this server, until it ends, is {token}")
    return token


def serve_http(server: Server[Any], address: Address, token: str, notice: Notice) -> None:
    """Answer until SIGINT or SIGTERM. Raises UnavailableError where the address is taken."""
    with address.listen() as listener:
        bound = replace(address, port=listener.getsockname()[1])
        notice(f"serving MCP at http://{_written(bound)}{PATH}")
        with _ended_by_signals(), suppress(KeyboardInterrupt):
            asyncio.run(_answer(server, bound, token, listener))


async def _answer(
    server: Server[Any], address: Address, token: str, listener: socket.socket
) -> None:
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        session_idle_timeout=_IDLE_S,
        max_sessions=_MAX_SESSIONS,
        # The guard looks at the same headers, and at the token.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    config = uvicorn.Config(
        AuthMiddleware(application, address, token),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GOODBYE_S,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """uvicorn ends cleanly and sends the signal once more, which must not end us half-way."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _written(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"
