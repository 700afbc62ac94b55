"""MCP over streamable HTTP, for many clients at the same time."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any, Final

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    TransportSecuritySettings,
)
from mcp_types import JSONRPCError

from rootle.config.api_key import read_key
from rootle.config.fields import Config
from rootle.server.address import Address
from rootle.server.auth_middleware import (
    AsgiApplication,
    AsgiMessage,
    AsgiReceive,
    AsgiSend,
    AuthMiddleware,
    discard_body,
)
from rootle.server.http_server import LimitedHttpProtocol, LimitedHttpServer
from rootle.server.request_id import find_invalid_id

PATH: Final = "/mcp"
_SHUTDOWN_TIMEOUT_S: Final = 2

# Shows a message to the user.
_Notify = Callable[[str], None]


def choose_token(address: Address, config: Config, notify: _Notify) -> str:
    """Return the token that clients must send, or an empty string if they need none.

    Without a configured token, a random one is created if other machines can connect.
    """
    token = read_key(config.mcp_token, config.mcp_token_command, "mcpTokenCommand")
    if not token and not address.is_loopback:
        token = secrets.token_urlsafe(32)
        notify(f"the token of this server, valid until it stops, is {token}")
    return token


def serve_http(server: Server[Any], address: Address, token: str, notify: _Notify) -> None:
    """Serve until SIGINT or SIGTERM. Raise UnavailableError if the address cannot be used."""
    with address.listen() as listener:
        bound = replace(address, port=listener.getsockname()[1])
        notify(f"serving MCP at http://{_format(bound)}{PATH}")
        with _sigterm_as_interrupt(), suppress(KeyboardInterrupt):
            asyncio.run(_serve(server, bound, token, listener))


async def _serve(
    server: Server[Any], address: Address, token: str, listener: socket.socket
) -> None:
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        # No tool depends on an earlier call, so sessions are not needed and cannot expire.
        stateless_http=True,
        # AuthMiddleware checks the same headers, and the token.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    config = uvicorn.Config(
        AuthMiddleware(_accept_only_post(_check_body(application)), address, token),
        http=LimitedHttpProtocol,
        loop="asyncio",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
    )
    await LimitedHttpServer(config, listener).serve()


def _accept_only_post(application: AsgiApplication) -> AsgiApplication:
    """Refuse methods other than POST.

    A GET request would ask for the notifications of a session, and DELETE would end a session, but
    there are no sessions.
    """

    async def handle(scope: AsgiMessage, receive: AsgiReceive, send: AsgiSend) -> None:
        if scope["type"] == "http" and scope["method"] != "POST":
            await discard_body(receive)
            headers = [(b"allow", b"POST"), (b"content-length", b"0"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 405, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await application(scope, receive, send)

    return handle


def _check_body(application: AsgiApplication) -> AsgiApplication:
    """Refuse requests with an invalid id, and drop those whose body does not arrive.

    The SDK would mistake requests with an invalid id for notifications, and would log a traceback
    if the body is incomplete. The whole body is received before the application is called. The
    application refuses a body that is too large.
    """

    async def handle(scope: AsgiMessage, receive: AsgiReceive, send: AsgiSend) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        received = deque[AsgiMessage]()
        body, has_more = bytearray(), True
        while has_more and len(body) <= DEFAULT_MAX_REQUEST_BODY_SIZE:
            received.append(message := await receive())
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            has_more = message.get("more_body", False)
        refusal = None if has_more else find_invalid_id(bytes(body))
        if refusal is not None:
            await _send_error(send, refusal)
            return

        async def receive_again() -> AsgiMessage:
            return received.popleft() if received else await receive()

        await application(scope, receive_again, send)

    return handle


async def _send_error(send: AsgiSend, response: JSONRPCError) -> None:
    headers = [(b"content-type", b"application/json")]
    body = response.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Turn SIGTERM into KeyboardInterrupt.

    uvicorn shuts down cleanly and then raises the signal again, which must not end the process
    before the app is closed.
    """
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _format(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"
