"""The address of a server, and the host names that it accepts."""

from __future__ import annotations

import pytest

from rootle.errors import ConfigError
from rootle.server.address import Address, are_same_host, parse_address


@pytest.mark.parametrize(
    ("text", "address", "is_loopback"),
    [
        ("8765", Address("127.0.0.1", 8765), True),
        ("0", Address("127.0.0.1", 0), True),
        ("localhost:80", Address("localhost", 80), True),
        ("[::1]:80", Address("::1", 80), True),
        ("127.0.0.2:80", Address("127.0.0.2", 80), True),
        ("0.0.0.0:80", Address("0.0.0.0", 80), False),
        ("[::]:80", Address("::", 80), False),
        ("build.example:80", Address("build.example", 80), False),
    ],
)
def test_an_address_is_a_port_or_a_host_and_a_port(
    text: str, address: Address, is_loopback: bool
) -> None:
    assert parse_address(text) == address
    assert address.is_loopback == is_loopback


@pytest.mark.parametrize("text", ["", "http", "host", "host:", "1.2.3.4:70000", "a b:1", "::1:80"])
def test_an_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a port or HOST:PORT"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "header", "is_accepted"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "evil.example:8765", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "192.168.1.5:8765", False),
        ("127.0.0.1", "", False),
        ("0.0.0.0", "192.168.1.5:8765", True),
        ("0.0.0.0", "localhost:8765", True),
        ("0.0.0.0", "evil.example", False),
        ("build.example", "build.example:8765", True),
        ("build.example", "evil.example:8765", False),
    ],
)
def test_only_names_of_the_server_are_accepted_as_host(
    host: str, header: str, is_accepted: bool
) -> None:
    assert Address(host, 8765).accepts_host(header) == is_accepted


def test_all_loopback_names_are_the_same_host() -> None:
    assert are_same_host("localhost", "127.0.0.1")
    assert not are_same_host("evil.example", "127.0.0.1")
    assert not are_same_host(None, None)
