"""HTTP connections with one deadline for all steps of a request, however slowly bytes arrive."""

from __future__ import annotations

import queue
import socket
import ssl
import threading
from collections.abc import Callable
from functools import cache
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    _SocketBase = socket.socket
else:
    _SocketBase = object

_NO_LOOKUP: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_Address = tuple[Any, ...]  # Any: 2 or 4 items, depending on the address family


class _DeadlineMixin(_SocketBase):
    """Limits each socket call to the time that remains until the deadline."""

    remaining_s: Callable[[], float]

    def recv_into(self, *args: Any, **kwargs: Any) -> int:  # Any: passed through
        self.settimeout(self.remaining_s())
        return super().recv_into(*args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.remaining_s())
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(self.remaining_s())
        super().sendall(*args, **kwargs)


class _DeadlineSocket(_DeadlineMixin, socket.socket):
    pass


class _DeadlineTLSSocket(_DeadlineMixin, ssl.SSLSocket):
    pass


class ForbiddenAddressError(OSError):
    """Raised if the host has an IP address that is not allowed. The message is the address."""


class Connection(HTTPConnection):
    """An HTTP or HTTPS connection for one thread. Set `deadline` before each request.

    Every step raises TimeoutError once the deadline has passed: name resolution, connecting, the
    TLS handshake, sending, waiting and reading.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        is_tls: bool,
        clock: Callable[[], float],
        is_allowed: Callable[[str], bool] | None = None,
    ) -> None:
        """Create a connection that is not yet open.

        `is_allowed` is called with each IP address of the host. If it returns False for any of
        them, `connect` raises ForbiddenAddressError. By default, all addresses are allowed.
        """
        super().__init__(host, port)
        # http.client omits the default port from the Host header.
        self.default_port = 443 if is_tls else 80
        self._is_tls = is_tls
        self._clock = clock
        self._is_allowed = is_allowed
        self.deadline = float("inf")

    def connect(self) -> None:
        """Connect to the host. Raises OSError if this fails."""
        plain = self._connect_tcp()
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = self._wrap_tls(plain) if self._is_tls else plain
        except BaseException:
            plain.close()
            raise

    def _connect_tcp(self) -> socket.socket:
        """Return a socket for the host's first address that accepts a connection."""
        failure: OSError = OSError(f"{self.host} has no address")
        # Resolve the name only once, so that no unchecked address is used.
        addresses = self._resolve()
        for *_, address in addresses:
            if self._is_allowed is not None and not self._is_allowed(address[0]):
                raise ForbiddenAddressError(address[0])
        for family, kind, protocol, _, address in addresses:
            plain = _DeadlineSocket(family, kind, protocol)
            plain.remaining_s = self._remaining_s
            try:
                plain.settimeout(self._remaining_s())
                plain.connect(address)
                return plain
            except OSError as error:
                plain.close()
                failure = error
        raise failure

    def _resolve(self) -> list[tuple[Any, Any, int, str, _Address]]:
        """Return the result of getaddrinfo, which runs in a thread because it has no timeout."""

        def resolve() -> None:
            try:
                results.put(socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
            except OSError as error:
                results.put(error)

        results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        if self.host in _NO_LOOKUP:
            resolve()
        else:
            threading.Thread(target=resolve, daemon=True).start()
        try:
            result = results.get(timeout=self._remaining_s())
        except queue.Empty as error:
            raise TimeoutError from error
        if isinstance(result, OSError):
            raise result
        return list(result)

    def _wrap_tls(self, plain: socket.socket) -> socket.socket:
        plain.settimeout(self._remaining_s())
        wrapped = _tls_context().wrap_socket(plain, server_hostname=self.host)
        assert isinstance(wrapped, _DeadlineTLSSocket)
        wrapped.remaining_s = self._remaining_s
        return wrapped

    def _remaining_s(self) -> float:
        remaining_s = self.deadline - self._clock()
        if remaining_s <= 0:
            raise TimeoutError
        return remaining_s


@cache
def _tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.sslsocket_class = _DeadlineTLSSocket
    return context
