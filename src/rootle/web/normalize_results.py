"""Results as one shape, whoever found them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rootle.protocols import WebResult

# Of one result, like the 500 characters of a passage; some engines send whole paragraphs.
_MAX_BODY_CHARS: Final = 1_000


def normalize_results(found: Iterable[tuple[str, str, str]], max_results: int) -> list[WebResult]:
    """At most so many of (title, address, body): pages alone, each text on one line."""
    results: list[WebResult] = []
    for title, url, body in found:
        address = "".join(url.split())
        if address.lower().startswith(("http://", "https://")) and len(results) < max_results:
            results.append(WebResult(_line(title) or address, address, _line(body)))
    return results


def _line(text: str) -> str:
    # A line break in a title could pass for a result of its own.
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= _MAX_BODY_CHARS else f"{shown[: _MAX_BODY_CHARS - 1]}…"
