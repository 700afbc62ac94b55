"""Guard against server-side request forgery: accepts only public IP addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

# Networks in the special-purpose address registries (RFC 6890 and later). The list in `ipaddress`
# is not used, because it depends on the Python version.
_NOT_PUBLIC_V4: Final = tuple(
    map(
        IPv4Network,
        (
            *("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16"),
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
            *("192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
            *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
            *("224.0.0.0/4", "240.0.0.0/4"),
            # This address is public, but Azure serves the secrets of a virtual machine there.
            "168.63.129.16/32",
        ),
    )
)
_GLOBAL_V6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_V6: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: the last four bytes are an IPv4 address


def is_public(text: str) -> bool:
    """Return whether a numeric address belongs to the public internet."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        inner = _inner_ipv4(address)
        if inner is None:
            return address in _GLOBAL_V6 and not any(address in net for net in _NOT_PUBLIC_V6)
        address = inner
    return not any(address in net for net in _NOT_PUBLIC_V4)


def _inner_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address contains, if any."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
