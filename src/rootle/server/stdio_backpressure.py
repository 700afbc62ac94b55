"""A limit on the unanswered requests of one client."""

from __future__ import annotations

from typing import Final

import anyio
import mcp_types as types

# The maximum number of unanswered requests. It is twice the number of calls that a server accepts;
# the server answers further calls with an error immediately.
_MAX_OPEN: Final = 2_000
_CANCELLED: Final = "notifications/cancelled"


class RequestLimiter:
    """Counts unanswered requests, and slows down a client that reads no responses."""

    def __init__(self) -> None:
        self._open: set[types.RequestId] = set()
        self._is_removed = anyio.Event()

    async def add(self, message: types.JSONRPCMessage) -> None:
        """Count an incoming message; wait while there are too many open requests."""
        if isinstance(message, types.JSONRPCRequest):
            while len(self._open) >= _MAX_OPEN:
                self._is_removed = anyio.Event()
                await self._is_removed.wait()
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._discard((message.params or {}).get("requestId"))

    def remove(self, message: types.JSONRPCMessage) -> None:
        """Stop counting the request that an outgoing message answers."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._discard(message.id)

    def _discard(self, request_id: object) -> None:
        if isinstance(request_id, int | str):
            self._open.discard(request_id)
            self._is_removed.set()
