"""Normalizes the results of search providers: keeps HTTP links only, and puts texts on one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rootle.protocols import WebResult

# The maximum length of a title or body, in characters. Some providers return whole paragraphs.
_MAX_TEXT_CHARS: Final = 1_000


def normalize_results(rows: Iterable[tuple[str, str, str]], max_results: int) -> list[WebResult]:
    """Return at most `max_results` results from rows of title, URL and body."""
    results: list[WebResult] = []
    for title, url, body in rows:
        address = "".join(url.split())
        if address.lower().startswith(("http://", "https://")) and len(results) < max_results:
            results.append(WebResult(_to_line(title) or address, address, _to_line(body)))
    return results


def _to_line(text: str) -> str:
    # A line break in a title could imitate another result.
    printable = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(printable.split())
    return line if len(line) <= _MAX_TEXT_CHARS else f"{line[: _MAX_TEXT_CHARS - 1]}…"
