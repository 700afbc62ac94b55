"""MCP's transport over two streams: one JSON message a line."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from rootle.server.request_limiter import RequestLimiter
from rootle.server.streams import MAX_LINE_BYTES, ProtocolStreams

_LOG = logging.getLogger(__name__)
_SHOWN_BYTES: Final = 80

Inbox = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbox = MemoryObjectSendStream[SessionMessage]
# The session or the whole loop has ended.
_NOBODY_LISTENS: Final = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    CancelledError,
    RuntimeError,
)


class _NoMessageError(Exception):
    """A line that is no message, with the answer that it gets."""

    def __init__(self, answer: types.JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


@asynccontextmanager
async def message_streams(
    wire: ProtocolStreams, gone: Callable[[], None]
) -> AsyncIterator[tuple[Inbox, Outbox]]:
    """What the client sends and what it is sent, as the SDK's messages.

    When the client closes its end or dies `gone` is called, and the first ends. A line that is no
    message is answered with an error, and nothing else happens.
    """
    to_server, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = outbox.clone()
    open_requests = RequestLimiter()

    async def take(line: bytes) -> None:
        try:
            message = _parsed(line)
        except _NoMessageError as refusal:
            _LOG.warning("%s: %r", refusal, line[:_SHOWN_BYTES])
            await refusals.send(SessionMessage(refusal.answer))
        else:
            await open_requests.add(message)
            await to_server.send(SessionMessage(message))

    read = partial(_read, wire, asyncio.get_running_loop(), take, to_server.aclose, gone)
    # Not one of the pool's threads: a read that never ends must not keep the process alive.
    threading.Thread(target=read, name="rootle-mcp-read", daemon=True).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, wire, to_client, open_requests, tasks.cancel_scope)
        yield inbox, outbox
        tasks.cancel_scope.cancel()


def _read(
    wire: ProtocolStreams,
    loop: asyncio.AbstractEventLoop,
    take: Callable[[bytes], Coroutine[Any, Any, None]],
    end: Callable[[], Coroutine[Any, Any, None]],
    gone: Callable[[], None],
) -> None:
    """Hand over line after line, each when the one before it was taken."""
    with suppress(OSError, *_NOBODY_LISTENS):
        for line in wire.lines():
            if not line.isspace():
                asyncio.run_coroutine_threadsafe(take(line), loop).result()
    gone()
    with suppress(*_NOBODY_LISTENS):
        asyncio.run_coroutine_threadsafe(end(), loop).result()


def _parsed(line: bytes) -> types.JSONRPCMessage:
    """Raises _NoMessageError."""
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        raise _NoMessageError(_refusal(line)) from None


def _refusal(line: bytes) -> types.JSONRPCError:
    if len(line) == MAX_LINE_BYTES:
        return _error(None, types.PARSE_ERROR, f"the line is longer than {MAX_LINE_BYTES} bytes")
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "the line is no JSON")
    number = data.get("id") if isinstance(data, dict) else None
    known = number if isinstance(number, int | str) and not isinstance(number, bool) else None
    return _error(known, types.INVALID_REQUEST, "the line is no JSON-RPC message")


def _error(number: int | str | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
    )


async def _write(
    wire: ProtocolStreams,
    to_client: MemoryObjectReceiveStream[SessionMessage],
    open_requests: RequestLimiter,
    session: anyio.CancelScope,
) -> None:
    """Send what there is to send; the session ends where nobody takes it."""
    async with to_client:
        async for outgoing in to_client:
            open_requests.remove(outgoing.message)
            line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                # A client that does not read its answers holds up its own session alone.
                await anyio.to_thread.run_sync(
                    wire.send, line.encode("utf-8"), abandon_on_cancel=True
                )
            except OSError as error:
                _LOG.info("the client is gone: %s", error)
                session.cancel()
