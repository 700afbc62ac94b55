"""Search provider: a SearXNG instance (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from rootle.errors import RefusedError, Unavailable
from rootle.protocols import WebResult
from rootle.web.engines.json_api import JsonApi

_FORBIDDEN: Final = 403


class SearXNG:
    """A SearXNG instance, whose settings must allow JSON."""

    label = "SearXNG"

    def __init__(self, endpoint: str, *, timeout_s: float) -> None:
        base = endpoint.rstrip("/").removesuffix("/search")
        self._api = JsonApi(f"{base}/search", timeout_s=timeout_s)

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """Return the first page of results. Raise Unavailable if SearXNG cannot answer now."""
        path = f"?{urlencode({'q': query, 'format': 'json'})}"
        try:
            return self._api.search("GET", path, None, read=_read_rows, max_results=max_results)
        except RefusedError as error:
            if error.status != _FORBIDDEN:
                raise
            raise RefusedError(
                f"{self._api.redacted_url} does not return JSON (HTTP 403); add json to "
                "search.formats in its settings.yml",
                error.status,
            ) from error


def _read_rows(data: Any) -> list[tuple[str, str, str]]:
    rows = [
        (row.get("title") or "", row["url"], row.get("content") or "") for row in data["results"]
    ]
    unresponsive = [str(engine[0]) for engine in data.get("unresponsive_engines") or ()]
    if unresponsive and not rows:
        raise Unavailable(f"none of its engines answered: {', '.join(unresponsive)}")
    return rows
