"""Block network access in every Python process that a test starts.

The folder of this module is on PYTHONPATH during a test. If ROOTLE_TEST_NO_SOCKETS is set, any use
of a socket is an error.
"""

from __future__ import annotations

import os
import sys

_REACHING_OUT = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_LOOKING_UP = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost", "", None})


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Raise RuntimeError on network access; code under test cannot remove an audit hook."""
    if not event.startswith("socket."):
        return
    if os.environ.get("ROOTLE_TEST_NO_SOCKETS"):
        raise RuntimeError(f"a socket was used: {event} {arguments!r}")
    if event in _REACHING_OUT and not _is_local(arguments[1]):
        raise RuntimeError(f"a test connected to the network: {arguments[1]!r}")
    if event in _LOOKING_UP and arguments[0] not in _LOOPBACK:
        raise RuntimeError(f"a test resolved a host name: {arguments[0]!r}")


def _is_local(address: object) -> bool:
    # The address of a Unix socket is a path; a network address is a tuple.
    return not isinstance(address, tuple) or address[0] in _LOOPBACK


sys.addaudithook(refuse_network)
