"""The guard against server-side request forgery: public and private IP addresses."""

from __future__ import annotations

import pytest

from rootle.web.ssrf_guard import is_public


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.215.14", "8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2001:4860:4860::8888"),
        # IPv6 addresses that contain a public IPv4 address.
        *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"),
    ],
)
def test_public_addresses_are_accepted(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        # Loopback and unspecified.
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "::1", "::", "::127.0.0.1"),
        # Private networks and carrier-grade NAT.
        *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1"),
        *("fc00::1", "fd12:3456::1", "fec0::1"),
        # Link-local addresses and metadata services of clouds.
        *("169.254.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"),
        *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
        # Multicast, reserved and documentation.
        *("224.0.0.1", "239.255.255.255", "ff02::1", "255.255.255.255", "240.0.0.1"),
        *("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"),
        # IPv6 addresses that contain a private IPv4 address.
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1"),
        *("64:ff9b::169.254.169.254", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1"),
        "2001:0:7f00:1:0:0:f5ff:fffe",
        # Not an address.
        *("", "localhost", "0x7f.1", "2130706433"),
    ],
)
def test_other_addresses_are_rejected(address: str) -> None:
    assert not is_public(address)
