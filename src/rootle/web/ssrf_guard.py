"""Which addresses are of the public internet: not of this machine, its network, or its cloud."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# The registries of special addresses, RFC 6890 and later. Python has them too, but which ones
# depends on its version.
_NOT_PUBLIC_V4: Final = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16"),
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
            *("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
            *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            # Azure hands out a machine's secrets there, though the address is a public one.
            "168.63.129.16/32",
        ),
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_V6: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: the last four bytes are an IPv4 address


def is_public(text: str) -> bool:
    """Whether a numeric address, as the system writes it, is of the public internet."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        inside = _embedded(address)
        if inside is None:
            return address in _GLOBAL_V6 and not any(address in net for net in _NOT_PUBLIC_V6)
        address = inside
    return not any(address in net for net in _NOT_PUBLIC_V4)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The address of the older kind that one of the newer kind leads to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
