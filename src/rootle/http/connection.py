"""A connection for HTTP whose every wait ends at one deadline, however slowly bytes drip in."""

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
    _Mixed = socket.socket
else:
    _Mixed = object

_NO_LOOKUP: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_Address = tuple[Any, ...]  # Any: of two parts or of four, by the family


class _Timed(_Mixed):
    """Gives every wait no more time than is left."""

    remaining_s: Callable[[], float]

    def recv_into(self, *args: Any, **kwargs: Any) -> int:  # Any: handed on as it comes
        self.settimeout(self.remaining_s())
        return super().recv_into(*args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> int:
        self.settimeout(self.remaining_s())
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.settimeout(self.remaining_s())
        super().sendall(*args, **kwargs)


class _TimedSocket(_Timed, socket.socket):
    pass


class _TimedTLS(_Timed, ssl.SSLSocket):
    pass


class ForbiddenAddressError(OSError):
    """The host is at an address that may not be connected to, which is the message."""


class Connection(HTTPConnection):
    """To be used by one thread at a time; `deadline` is set before each request.

    Raises TimeoutError where it passes, in whatever step: the look-up of the name, connecting,
    the TLS handshake, sending, waiting, reading.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        is_tls: bool,
        clock: Callable[[], float],
        allows: Callable[[str], bool] | None = None,
    ) -> None:
        """`allows` says which numeric addresses are connected to, without it all of them."""
        super().__init__(host, port)
        # So that the header Host has no port in it where there is none in the address.
        self.default_port = 443 if is_tls else 80
        self._is_tls = is_tls
        self._clock = clock
        self._allows = allows
        self.deadline = float("inf")

    def connect(self) -> None:
        opened = self._opened()
        try:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = self._secured(opened) if self._is_tls else opened
        except BaseException:
            opened.close()
            raise

    def _opened(self) -> socket.socket:
        """The first address of the host that lets us in."""
        failure: OSError = OSError(f"{self.host} has no address")
        # Looked up once, so that what is allowed is what is connected to.
        addresses = self._addresses()
        for *_, address in addresses:
            if self._allows is not None and not self._allows(address[0]):
                raise ForbiddenAddressError(address[0])
        for family, kind, protocol, _, address in addresses:
            opened = _TimedSocket(family, kind, protocol)
            opened.remaining_s = self._remaining_s
            try:
                opened.settimeout(self._remaining_s())
                opened.connect(address)
                return opened
            except OSError as error:
                opened.close()
                failure = error
        raise failure

    def _addresses(self) -> list[tuple[Any, Any, int, str, _Address]]:
        """What the system says, which takes no deadline itself."""

        def look_up() -> None:
            try:
                found.put(socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
            except OSError as error:
                found.put(error)

        found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        if self.host in _NO_LOOKUP:
            look_up()
        else:
            threading.Thread(target=look_up, daemon=True).start()
        try:
            answer = found.get(timeout=self._remaining_s())
        except queue.Empty as error:
            raise TimeoutError from error
        if isinstance(answer, OSError):
            raise answer
        return list(answer)

    def _secured(self, opened: socket.socket) -> socket.socket:
        opened.settimeout(self._remaining_s())
        secured = _tls().wrap_socket(opened, server_hostname=self.host)
        assert isinstance(secured, _TimedTLS)
        secured.remaining_s = self._remaining_s
        return secured

    def _remaining_s(self) -> float:
        left = self.deadline - self._clock()
        if left <= 0:
            raise TimeoutError
        return left


@cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.sslsocket_class = _TimedTLS
    return context
