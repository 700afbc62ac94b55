"""The stdio transport of MCP: one JSON-RPC message per line."""

from __future__ import annotations

import asyncio
import json
import logging
import re
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

from rootle.server.request_id import error_response, find_invalid_id, response_id
from rootle.server.stdio_backpressure import RequestLimiter
from rootle.server.streams import LINE_END_BYTES, MAX_LINE_BYTES, ProtocolStreams
from rootle.text.secret_masking import mask_secrets

_LOG = logging.getLogger(__name__)
_MAX_LOGGED_CHARS: Final = 80
# More than is logged, so that no secret is cut before it is masked.
_MAX_MASKED_BYTES: Final = 4_000

# The id of a request at the start or the end of a line. Quotation marks inside a string are escaped
# in JSON, so these patterns do not match the content of an argument.
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*'
_OTHER: Final = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*'
_FIRST_ID: Final = re.compile(rb"\s*\{\s*(?:" + _OTHER + rb",\s*){0,2}" + _ID + rb"[,}]")
_LAST_ID: Final = re.compile(rb",\s*" + _ID + rb"(?:,\s*" + _OTHER + rb"){0,2}\}\s*$")

Inbox = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbox = MemoryObjectSendStream[SessionMessage]
# Raised when sending to a session or an event loop that has ended.
_SESSION_ENDED: Final = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    CancelledError,
    RuntimeError,
)


class _InvalidMessageError(Exception):
    """Raised for a line that is not a message. Contains the response to the line."""

    def __init__(self, response: types.JSONRPCError) -> None:
        super().__init__(response.error.message)
        self.response = response


@asynccontextmanager
async def open_message_streams(
    streams: ProtocolStreams, on_disconnect: Callable[[], None]
) -> AsyncIterator[tuple[Inbox, Outbox]]:
    """Yield the stream of messages from the client and the stream of messages to it.

    When the client closes its end or exits, `on_disconnect` is called and the first stream ends.
    The response to a line that is not a message is an error.
    """
    to_server, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = outbox.clone()
    limiter = RequestLimiter()

    async def receive(line: bytes) -> None:
        try:
            message = _parse(line)
        except _InvalidMessageError as error:
            _LOG.warning("%s: %r", error, _mask_beginning(line))
            await refusals.send(SessionMessage(error.response))
        else:
            await limiter.add(message)
            await to_server.send(SessionMessage(message))

    loop = asyncio.get_running_loop()
    read = partial(_read, streams, loop, receive, to_server.aclose, on_disconnect=on_disconnect)
    # A daemon thread, because a read that never returns must not keep the process alive.
    threading.Thread(target=read, name="rootle-mcp-read", daemon=True).start()
    async with refusals, anyio.create_task_group() as tasks:
        tasks.start_soon(_write, streams, to_client, limiter, tasks.cancel_scope)
        yield inbox, outbox
        tasks.cancel_scope.cancel()


def _read(
    streams: ProtocolStreams,
    loop: asyncio.AbstractEventLoop,
    receive: Callable[[bytes], Coroutine[Any, Any, None]],
    close: Callable[[], Coroutine[Any, Any, None]],
    *,
    on_disconnect: Callable[[], None],
) -> None:
    """Call `receive` in the event loop with each line, and wait for the end of the call."""
    with suppress(OSError, *_SESSION_ENDED):
        for line in streams.lines():
            if not line.isspace():
                asyncio.run_coroutine_threadsafe(receive(line), loop).result()
    on_disconnect()
    with suppress(*_SESSION_ENDED):
        asyncio.run_coroutine_threadsafe(close(), loop).result()


def _mask_beginning(line: bytes) -> str:
    """Return the beginning of a line for the log, which clients keep, without secrets."""
    text = line[:_MAX_MASKED_BYTES].decode("utf-8", "replace")
    return mask_secrets(text).text[:_MAX_LOGGED_CHARS]


def _parse(line: bytes) -> types.JSONRPCMessage:
    """Return the message in a line. Raise _InvalidMessageError if the line is not a message."""
    if len(line) > MAX_LINE_BYTES:
        raise _InvalidMessageError(_explain_length(line))
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        raise _InvalidMessageError(_explain(line)) from None
    if isinstance(message, types.JSONRPCNotification) and (problem := find_invalid_id(line)):
        raise _InvalidMessageError(problem)
    return message


def _explain(line: bytes) -> types.JSONRPCError:
    """Return the error response to a line that is not a message."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return error_response(None, types.PARSE_ERROR, "the line is not JSON")
    found = data.get("id") if isinstance(data, dict) else None
    return error_response(
        response_id(found), types.INVALID_REQUEST, "the line is not a JSON-RPC message"
    )


def _explain_length(line: bytes) -> types.JSONRPCError:
    """Return the error response to a line that is too long, with the id of the request in it.

    Clients ignore a response without an id. Some clients write the id at the start of a request,
    and others at the end.
    """
    found = _FIRST_ID.match(line) or _LAST_ID.search(line, len(line) - LINE_END_BYTES)
    message = f"the line is longer than {MAX_LINE_BYTES} bytes; send a shorter argument"
    if found is None:
        return error_response(None, types.PARSE_ERROR, message)
    return error_response(json.loads(found[1]), types.INVALID_REQUEST, message)


async def _write(
    streams: ProtocolStreams,
    to_client: MemoryObjectReceiveStream[SessionMessage],
    limiter: RequestLimiter,
    session: anyio.CancelScope,
) -> None:
    """Send messages to the client. Cancel the session if the client has closed its end."""
    async with to_client:
        async for outgoing in to_client:
            limiter.remove(outgoing.message)
            line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                # A client that does not read its responses blocks only its own session.
                await anyio.to_thread.run_sync(
                    streams.send, line.encode("utf-8"), abandon_on_cancel=True
                )
            except OSError as error:
                _LOG.info("the client has disconnected: %s", error)
                session.cancel()
