"""The rules of `robots.txt` (RFC 9309)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote_to_bytes

AGENT: Final = "rootle"
_AGENTS: Final = frozenset({AGENT, "*"})
_MAX_BYTES: Final = 500_000
_MAX_RULES: Final = 2_000
_MAX_PATTERN_CHARS: Final = 1_000
_PRODUCT: Final = re.compile(r"\*|[a-z_-]+")  # the product name in "rootle/1.0"
_SAFE: Final = "/:@!$&'()*+,;=~?-._"


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The paths of a site that a crawler may read. Without rules, it may read all paths."""

    rules: tuple[tuple[str, bool], ...] = ()  # (pattern, whether it allows or forbids)
    delay_s: float = 0.0  # the minimum delay between two requests
    sitemaps: tuple[str, ...] = ()

    def allows(self, target: str) -> bool:
        """Return whether a path with its query may be read.

        The longest matching pattern decides.
        """
        path = _normalize(target)
        best, is_allowed = -1, True
        for pattern, allows in self.rules:
            size = len(pattern)
            if (size > best or (size == best and allows)) and matches(pattern, path):
                best, is_allowed = size, allows
        return is_allowed


FORBIDDEN: Final = RobotsRules((("/", False),))


def parse_robots(content: bytes) -> RobotsRules:
    """Return the rules for rootle or, if there are none, those for all crawlers."""
    groups: dict[str, list[tuple[str, bool]]] = {}  # name in _AGENTS -> rules
    delays: dict[str, float] = {}
    sitemaps: list[str] = []
    agents: set[str] = set()
    in_rules = False
    for line in content[:_MAX_BYTES].decode("utf-8", "replace").splitlines():
        key, sign, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not sign:
            continue
        if key == "user-agent":
            product = _PRODUCT.match(value.lower())
            named = {product[0]} & _AGENTS if product else set()
            agents = named if in_rules else agents | named
            in_rules = False
            for agent in named:
                groups.setdefault(agent, [])
        elif key in ("allow", "disallow"):
            in_rules = True
            if value:
                _add_rule(groups, agents, value, allows=key == "allow")
        elif key == "crawl-delay":
            in_rules = True
            delays |= dict.fromkeys(agents, _read_delay(value))
        elif key == "sitemap":
            sitemaps.append(value)
    name = AGENT if AGENT in groups else "*"
    return RobotsRules(tuple(groups.get(name, ())), delays.get(name, 0.0), tuple(sitemaps))


def _add_rule(
    groups: dict[str, list[tuple[str, bool]]], agents: Collection[str], value: str, *, allows: bool
) -> None:
    pattern = _normalize(value)[:_MAX_PATTERN_CHARS]
    for agent in agents:
        if len(groups[agent]) < _MAX_RULES:
            groups[agent].append((pattern, allows))


def matches(pattern: str, path: str) -> bool:
    """Return whether a pattern matches the start of a path.

    "*" matches any text, and a final "$" matches the end of the path.
    Each part between two stars is searched once, so the time does not grow exponentially.
    """
    is_whole = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if not parts:
        return not is_whole or at == len(path)
    for part in parts[:-1]:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    last = parts[-1]
    if is_whole:
        return len(path) - len(last) >= at and path.endswith(last)
    return path.find(last, at) >= 0


def _normalize(target: str) -> str:
    """Return a path with normalized percent-encoding, so that equivalent paths become equal."""
    return quote(unquote_to_bytes(target), safe=_SAFE)


def _read_delay(value: str) -> float:
    try:
        delay = float(value)
    except ValueError:
        return 0.0
    return max(0.0, delay) if delay == delay else 0.0
