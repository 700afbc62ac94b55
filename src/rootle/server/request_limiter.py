"""What a client waits for, so that one that takes no answers cannot send for ever."""

from __future__ import annotations

from typing import Final

import anyio
import mcp_types as types

# Twice what may wait for a tool; more calls than that are turned down at once.
_MAX_OPEN: Final = 2_000
_CANCELLED: Final = "notifications/cancelled"


class RequestLimiter:
    """The requests of one client that were not answered yet."""

    def __init__(self) -> None:
        self._known: set[types.RequestId] = set()
        self._fewer = anyio.Event()

    async def add(self, message: types.JSONRPCMessage) -> None:
        """Count what comes in; waits where there are too many."""
        if isinstance(message, types.JSONRPCRequest):
            while len(self._known) >= _MAX_OPEN:
                self._fewer = anyio.Event()
                await self._fewer.wait()
            self._known.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._forget((message.params or {}).get("requestId"))

    def remove(self, message: types.JSONRPCMessage) -> None:
        """What went out."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._forget(message.id)

    def _forget(self, number: object) -> None:
        if isinstance(number, int | str):
            self._known.discard(number)
            self._fewer.set()
