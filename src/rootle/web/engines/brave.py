"""Search provider: Brave (https://api-dashboard.search.brave.com/documentation)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, Final
from urllib.parse import urlencode

from rootle.protocols import WebResult
from rootle.web.engines.json_api import JsonApi

ENDPOINT: Final = "https://api.search.brave.com/res/v1/web/search"
_MAX_COUNT: Final = 20
# The maximum number of words in a query. Brave rejects longer queries.
_MAX_WORDS: Final = 50
_MAX_CHARS: Final = 400
_TAG: Final = re.compile(r"</?\w[^<>]*>")


class Brave:
    """The Web Search API of Brave, which requires an API key."""

    label = "Brave"

    def __init__(
        self, key: Callable[[], str], *, timeout_s: float, endpoint: str = ENDPOINT
    ) -> None:
        self._api = JsonApi(
            endpoint, key_header="X-Subscription-Token", key=key, timeout_s=timeout_s
        )

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """Return at most 20 results. Raise Unavailable if Brave cannot answer now."""
        truncated = " ".join(query.split()[:_MAX_WORDS])[:_MAX_CHARS]
        count = max(1, min(max_results, _MAX_COUNT))
        parameters = {"q": truncated, "count": count, "text_decorations": "false"}
        path = f"?{urlencode(parameters)}"
        return self._api.search("GET", path, None, read=_read_rows, max_results=max_results)


def _read_rows(data: Any) -> Iterator[tuple[str, str, str]]:
    # "web" is missing if there are no results.
    for row in (data.get("web") or {"results": ()})["results"]:
        yield _strip_markup(row["title"]), row["url"], _strip_markup(row.get("description") or "")


def _strip_markup(text: str) -> str:
    """Return the text without HTML tags, and with entities replaced by characters."""
    return unescape(_TAG.sub("", text))
