"""Keeps every Python process that a test starts away from the network.

It stands on PYTHONPATH during a test. ROOTLE_TEST_NO_SOCKETS forbids sockets altogether.
"""

from __future__ import annotations

import os
import sys

_REACHING_OUT = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKING_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost", "", None})


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook; it cannot be taken off, so that no code under test can get around it."""
    if not event.startswith("socket."):
        return
    if os.environ.get("ROOTLE_TEST_NO_SOCKETS"):
        raise RuntimeError(f"a socket was touched: {event} {arguments!r}")
    if event in _REACHING_OUT and not _is_local(arguments[1]):
        raise RuntimeError(f"a test reached for the network: {arguments[1]!r}")
    if event in _LOOKING_UP and arguments[0] not in _LOOPBACK:
        raise RuntimeError(f"a test looked up a name: {arguments[0]!r}")


def _is_local(address: object) -> bool:
    # The address of a Unix socket is a path, that of a network is a tuple.
    return not isinstance(address, tuple) or address[0] in _LOOPBACK


sys.addaudithook(refuse_network)
