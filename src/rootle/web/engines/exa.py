"""Search provider: Exa (https://exa.ai/docs/reference/search)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rootle.protocols import WebResult
from rootle.web.engines.json_api import JsonApi

ENDPOINT: Final = "https://api.exa.ai/search"
_MAX_COUNT: Final = 100


class Exa:
    """The Search API of Exa, which requires an API key."""

    label = "Exa"

    def __init__(
        self, key: Callable[[], str], *, timeout_s: float, endpoint: str = ENDPOINT
    ) -> None:
        self._api = JsonApi(endpoint, key_header="x-api-key", key=key, timeout_s=timeout_s)

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """Return at most 100 results. Raise Unavailable if Exa cannot answer now."""
        body = {
            "query": query,
            "type": "auto",
            "numResults": max(1, min(max_results, _MAX_COUNT)),
            "contents": {"highlights": True},
        }
        return self._api.search("POST", "", body, read=_read_rows, max_results=max_results)


def _read_rows(data: Any) -> list[tuple[str, str, str]]:
    return [
        (row.get("title") or "", row["url"], " … ".join(row.get("highlights") or ()))
        for row in data["results"]
    ]
