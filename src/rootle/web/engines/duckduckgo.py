"""DuckDuckGo's page without scripts, as the `ddgs` package asks for it and reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.errors import (
    MissingExtraError,
    RateLimitedError,
    RefusedError,
    Unavailable,
    UnavailableError,
)
from rootle.protocols import WebResult
from rootle.web.normalize_results import normalize_results

try:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException, TimeoutException
    from lxml.etree import LxmlError
except ImportError as error:
    raise MissingExtraError(
        "a search of the web needs more packages: pip install 'rootle[web]'"
    ) from error

_NO_REGION: Final = "wt-wt"
# It takes no longer query. A word that begins like this would lead to another site.
_MAX_CHARS: Final = 499
_LEADS_AWAY: Final = re.compile(r"(?:^|(?<= ))([!\\]\S*)")
# A client that asks too often gets 202, a page of puzzles, or one of these.
_ACCEPTED: Final = 202
_LIMITS: Final = frozenset({403, 429})
# In attributes: the page repeats the query, in which no quotation mark stays one.
_PUZZLE: Final = re.compile(
    r'class="[^"]*\banomaly-modal|action="[^"]*/anomaly\.js|id="challenge-form"'
)
_NOTHING: Final = re.compile(r'class="[^"]*\b(?:no-results|result--no-result)\b')
# The address of a result may be one of DuckDuckGo's that leads to it. ddgs has unquoted it.
_LEADS_TO: Final = re.compile(r"(?:https?:)?//duckduckgo\.com/l/\?uddg=(.+?)(?:&rut=[0-9a-f]*)?$")


class DuckDuckGo:
    """Needs no key.

    The engine of `ddgs` is used, not its `DDGS`: for that one "nothing found", a refusal and a
    puzzle are the same exception.
    """

    label = "DuckDuckGo"

    def __init__(self, *, timeout_s: float, url: str = Duckduckgo.search_url) -> None:
        self._timeout_s = timeout_s
        self._url = url

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """The results of the first page. Raises Unavailable."""
        # One for each search: it takes the looks of another browser each time.
        engine = Duckduckgo(timeout=max(1, round(self._timeout_s)))
        status, page = self._page(engine, query)
        if 200 <= status < 300:
            return _results(engine, status, page, max_results)
        if status in _LIMITS:
            raise RateLimitedError(f"rate limited, HTTP {status}", status=status)
        if status >= 500:
            raise Unavailable(f"HTTP {status}", status=status)
        raise RefusedError(f"{self._url} answered HTTP {status}", status)

    def _page(self, engine: Duckduckgo, query: str) -> tuple[int, str]:
        asked = _LEADS_AWAY.sub(r"'\1'", query)[:_MAX_CHARS]
        wish = engine.build_payload(asked, _NO_REGION, "moderate", None)
        try:
            answer = engine.http_client.request(engine.search_method, self._url, data=wish)
        except TimeoutException as error:
            raise Unavailable(f"no answer within {self._timeout_s:g} s") from error
        except DDGSException as error:
            raise UnavailableError(f"{self._url} cannot be reached: {error}") from error
        return answer.status_code, answer.text


def _results(engine: Duckduckgo, status: int, page: str, max_results: int) -> list[WebResult]:
    # What can be read comes first: the marks of the other pages may stand in a result.
    found = normalize_results(_found(engine, page), max_results)
    if found:
        return found
    if _PUZZLE.search(page):
        raise RateLimitedError("rate limited, it asks whether a person is there", status=status)
    if _NOTHING.search(page):
        return []
    if status == _ACCEPTED:
        raise RateLimitedError(f"rate limited, HTTP {status}", status=status)
    raise UnavailableError(
        "DuckDuckGo answered with a page that has neither results nor a word that there are none"
    )


def _found(engine: Duckduckgo, page: str) -> Iterator[tuple[str, str, str]]:
    try:
        rows = engine.post_extract_results(engine.extract_results(page))
    except (LxmlError, ValueError):  # an empty page, and one with zero bytes
        return
    for row in rows:
        leads_to = _LEADS_TO.match(row.href)
        yield row.title, leads_to[1] if leads_to else row.href, row.body
