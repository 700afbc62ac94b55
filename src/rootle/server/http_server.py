"""An HTTP server with limits on the number of connections and on the size and time of requests."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_LOG = logging.getLogger(__name__)

# The time limit for receiving the headers of a request, and the one for its body. The limit for
# headers also closes a connection on which no request starts.
_TIMEOUTS_S: Final[Mapping[object, float]] = {h11.IDLE: 10.0, h11.SEND_BODY: 30.0}
# The time limit for a client to read responses that do not fit into the send buffer of the system.
# This limit is needed because a connection that another limit closes stays open until everything is
# sent.
_READ_TIMEOUT_S: Final = 30.0
# The maximum number of bytes that are received for one request. The application refuses bodies of
# more than half this size, but the server continues to receive them, because a client that is still
# sending would not read the response otherwise. The other half also leaves room for the framing
# of chunked bodies.
_MAX_REQUEST_BYTES: Final = 8 * 1024 * 1024
# The maximum number of bytes of further requests that are received before the response to a request
# is sent. It is small, because clients usually wait for the response.
_MAX_PIPELINED_BYTES: Final = 256 * 1024
# The size limits for the two states of the client: it is sending a body, or it has sent the request
# and may send further ones.
_SIZE_LIMITS: Final[Mapping[object, int]] = {
    h11.SEND_BODY: _MAX_REQUEST_BYTES,
    h11.DONE: _MAX_PIPELINED_BYTES,
}
# The maximum number of open connections. Further ones wait until another one is closed.
_MAX_CONNECTIONS: Final = 512
_POLL_INTERVAL_S: Final = 0.05
_RETRY_INTERVAL_S: Final = 1.0


class LimitedHttpProtocol(H11Protocol):
    """Closes the connection if a request takes too long to arrive or is too large.

    The connection is also closed if the client does not read the responses.
    """

    _part: object = None  # the part of a request that the timer limits
    _timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None  # runs while responses wait to be sent
    _received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # An event loop gives a Transport, or an object with the same methods, to this method.
        super().connection_made(cast("asyncio.Transport", transport))
        self._restart_timer()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._restart_timer()
        if self._received > _SIZE_LIMITS.get(self._part, sys.maxsize):
            self.transport.close()
        if self.transport.is_closing() and self._read_timer is None:
            self._restart_read_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._restart_timer()
        self._restart_read_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._restart_read_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._restart_read_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._stop_read_timer()
        super().connection_lost(exc)

    def _restart_timer(self) -> None:
        """Start the timer and the count of bytes if the next part of a request has begun."""
        part = self.conn.their_state
        if part is self._part:
            return
        self._stop_timer()
        self._part, self._received = part, 0
        if part in _TIMEOUTS_S:
            self._timer = self.loop.call_later(_TIMEOUTS_S[part], self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _restart_read_timer(self) -> None:
        self._stop_read_timer()
        if self.transport.get_write_buffer_size():
            self._read_timer = self.loop.call_later(_READ_TIMEOUT_S, self._end_unread)

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _end_unread(self) -> None:
        self._read_timer = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()


class LimitedHttpServer(uvicorn.Server):
    """Limits the number of open connections, and keeps running if no file handle is free.

    If the process has no free file handle, asyncio's own accept loop would log a traceback for each
    connection in the backlog, again and again.
    """

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        super().__init__(config)
        self._listener = listener
        self._max_connections = min(_MAX_CONNECTIONS, _file_handle_limit() // 2)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets or [])
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._accepting.cancel()
        await super().shutdown(sockets=sockets)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        is_failing = False
        while True:
            while len(self.server_state.connections) >= self._max_connections:
                await asyncio.sleep(_POLL_INTERVAL_S)
            try:
                connection, _ = await loop.sock_accept(self._listener)
                await loop.connect_accepted_socket(self._create_protocol, connection)
                is_failing = False
            except OSError as error:
                if not is_failing:
                    _LOG.warning("cannot accept connections for now: %s", error.strerror or error)
                is_failing = True
                await asyncio.sleep(_RETRY_INTERVAL_S)

    def _create_protocol(self) -> asyncio.Protocol:
        options: dict[str, Any] = {  # Any: the arguments of uvicorn's protocols
            "config": self.config,
            "server_state": self.server_state,
            "app_state": self.lifespan.state,
        }
        return LimitedHttpProtocol(**options)


def _file_handle_limit() -> int:
    """Return the number of files that this process may open, after raising it if possible."""
    if sys.platform == "win32":
        return 2 * _MAX_CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4 * _MAX_CONNECTIONS:
        with suppress(ValueError, OSError):
            wanted = 4 * _MAX_CONNECTIONS
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
