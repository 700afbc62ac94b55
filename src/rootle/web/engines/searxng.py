"""A SearXNG that somebody hosts: https://docs.searxng.org/dev/search_api.html."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from rootle.errors import RefusedError, Unavailable
from rootle.protocols import WebResult
from rootle.web.engines.json_api import JsonApi

_FORBIDDEN: Final = 403


class SearXNG:
    """Asks other engines; its settings must allow JSON."""

    label = "SearXNG"

    def __init__(self, endpoint: str, *, timeout_s: float) -> None:
        place = endpoint.rstrip("/").removesuffix("/search")
        self._api = JsonApi(f"{place}/search", timeout_s=timeout_s)

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """The first page of results. Raises Unavailable."""
        wish = urlencode({"q": query, "format": "json"})
        try:
            return self._api.results("GET", f"?{wish}", None, found=_found, max_results=max_results)
        except RefusedError as error:
            if error.status != _FORBIDDEN:
                raise
            raise RefusedError(
                f"{self._api.url} gives no JSON (HTTP 403); add json to search.formats in the "
                "settings.yml of that SearXNG",
                error.status,
            ) from error


def _found(data: Any) -> list[tuple[str, str, str]]:
    rows = [
        (row.get("title") or "", row["url"], row.get("content") or "") for row in data["results"]
    ]
    silent = [str(engine[0]) for engine in data.get("unresponsive_engines") or ()]
    if silent and not rows:
        raise Unavailable(f"none of its engines answers: {', '.join(silent)}")
    return rows
