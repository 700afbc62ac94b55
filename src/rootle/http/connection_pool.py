"""Idle HTTP connections to one server, kept for later requests."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Final

from rootle.http.connection import Connection

_MAX_IDLE: Final = 4


class ConnectionPool:
    """Connections to one host. Safe to use from several threads."""

    def __init__(self, host: str, port: int, *, is_tls: bool, clock: Callable[[], float]) -> None:
        self._host, self._port, self._is_tls = host, port, is_tls
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def acquire(self) -> Connection:
        """Return an idle connection, or a new one if there is none."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self.create()

    def create(self) -> Connection:
        """Return a new connection, which connects with its first request."""
        return Connection(self._host, self._port, is_tls=self._is_tls, clock=self._clock)

    def release(self, connection: Connection) -> None:
        """Keep an open connection for later, or close it if enough connections are idle."""
        with self._lock:
            if connection.sock is not None and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()


def _close_all(connections: list[Connection]) -> None:
    for connection in connections:
        connection.close()
