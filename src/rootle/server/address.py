"""The address that a server listens on, and the host names that clients may use for it."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Final

from rootle.errors import ConfigError, UnavailableError

_LOOPBACK: Final = "127.0.0.1"
_LOOPBACK_NAME: Final = "localhost"
_MAX_PORT: Final = 0xFFFF
# A host, with or without a port: [::1]:80, 127.0.0.1:80, example.org.
_AUTHORITY: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/@\s]+))(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 means any free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return _is_loopback(self.host)

    def accepts_host(self, authority: str) -> bool:
        """Return whether a `Host` header names this server.

        The owner of a website can make the name of the site resolve to this server (DNS rebinding),
        so unknown names are refused. A `Host` that is an IP address is safe, because it cannot be
        rebound.
        """
        name = parse_host(authority)
        if name is None:
            return False
        if self.is_loopback:
            return _is_loopback(name)
        own = {self.host.lower(), socket.gethostname().lower(), _LOOPBACK_NAME}
        return name in own or _is_ip_address(name)

    def listen(self) -> socket.socket:
        """Return a listening socket. Raise UnavailableError if the address cannot be used."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise UnavailableError(
                f"cannot listen on {self.host} port {self.port}: {error.strerror or error}; "
                "choose another address with --http [HOST:]PORT"
            ) from error


def parse_address(text: str) -> Address:
    """Parse `8765`, `0.0.0.0:8765` or `[::1]:8765`. Raise ConfigError for any other form."""
    if text.isascii() and text.isdigit():
        text = f"{_LOOPBACK}:{text}"
    found = _AUTHORITY.fullmatch(text)
    if found is None or found[3] is None or int(found[3]) > _MAX_PORT:
        raise ConfigError(f"--http is {text!r}, expected a port or HOST:PORT, such as 8765")
    return Address(found[1] or found[2], int(found[3]))


def parse_host(authority: str) -> str | None:
    """Return the host of an authority ("host:port") in lower case; None if it is invalid."""
    found = _AUTHORITY.fullmatch(authority)
    return None if found is None else (found[1] or found[2]).lower()


def are_same_host(one: str | None, other: str | None) -> bool:
    """Return whether two names are equal or both name the loopback interface."""
    if one is None or other is None:
        return False
    return one == other or (_is_loopback(one) and _is_loopback(other))


def _is_loopback(name: str) -> bool:
    if name.lower() == _LOOPBACK_NAME:
        return True
    return _is_ip_address(name) and ipaddress.ip_address(name).is_loopback


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
