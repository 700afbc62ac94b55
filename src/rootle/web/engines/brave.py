"""Brave Search, by its Web Search API: https://api-dashboard.search.brave.com/documentation."""

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
# What it takes of a query; a longer one is refused.
_MAX_WORDS: Final = 50
_MAX_CHARS: Final = 400
_TAG: Final = re.compile(r"</?\w[^<>]*>")


class Brave:
    """Needs a key, which stands in a header."""

    label = "Brave"

    def __init__(
        self, key: Callable[[], str], *, timeout_s: float, endpoint: str = ENDPOINT
    ) -> None:
        self._api = JsonApi(
            endpoint, key_header="X-Subscription-Token", key=key, timeout_s=timeout_s
        )

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """At most 20 results. Raises Unavailable."""
        asked = " ".join(query.split()[:_MAX_WORDS])[:_MAX_CHARS]
        count = max(1, min(max_results, _MAX_COUNT))
        wish = urlencode({"q": asked, "count": count, "text_decorations": "false"})
        return self._api.results("GET", f"?{wish}", None, found=_found, max_results=max_results)


def _found(data: Any) -> list[tuple[str, str, str]]:
    return list(_rows(data))


def _rows(data: Any) -> Iterator[tuple[str, str, str]]:
    # Where nothing is found, "web" is missing.
    for row in (data.get("web") or {"results": ()})["results"]:
        yield _plain(row["title"]), row["url"], _plain(row.get("description") or "")


def _plain(text: str) -> str:
    """Without the entities, and the marks of words found, that its texts may have."""
    return unescape(_TAG.sub("", text))
