"""Where a server listens, and the names under which it may be asked for."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Final

from rootle.errors import ConfigError, UnavailableError

_LOOPBACK: Final = "127.0.0.1"
_LOOPBACK_NAME: Final = "localhost"
# A host and what stands behind it: [::1]:80, 127.0.0.1:80, example.org.
_AUTHORITY: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/@\s]+))(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 is one that is free."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return _is_loopback(self.host)

    def admits(self, authority: str) -> bool:
        """Whether a request to this `Host` is meant for this server.

        A page of somebody else's may make its own name point here; names that are numbers are
        whose they are.
        """
        name = host_of(authority)
        if name is None:
            return False
        if self.is_loopback:
            return _is_loopback(name)
        own = {self.host.lower(), socket.gethostname().lower(), _LOOPBACK_NAME}
        return name in own or _is_number(name)

    def listen(self) -> socket.socket:
        """Raises UnavailableError where that is not possible."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise UnavailableError(
                f"cannot listen on {self.host} port {self.port}: {error.strerror or error}; "
                "name another one with --http [HOST:]PORT"
            ) from error


def parse_address(text: str) -> Address:
    """`8765`, `0.0.0.0:8765` or `[::1]:8765`. Raises ConfigError."""
    if text.isascii() and text.isdigit():
        text = f"{_LOOPBACK}:{text}"
    found = _AUTHORITY.fullmatch(text)
    if found is None or found[3] is None or int(found[3]) > 0xFFFF:
        raise ConfigError(f"--http is {text!r}, expected a port or HOST:PORT, such as 8765")
    return Address(found[1] or found[2], int(found[3]))


def host_of(authority: str) -> str | None:
    """The host's name or number, in small letters; None where it is none."""
    found = _AUTHORITY.fullmatch(authority)
    return None if found is None else (found[1] or found[2]).lower()


def are_same_host(one: str | None, other: str | None) -> bool:
    """Whether two names are of the same host; all names of this machine's loopback are."""
    if one is None or other is None:
        return False
    return one == other or (_is_loopback(one) and _is_loopback(other))


def _is_loopback(name: str) -> bool:
    if name.lower() == _LOOPBACK_NAME:
        return True
    return _is_number(name) and ipaddress.ip_address(name).is_loopback


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
