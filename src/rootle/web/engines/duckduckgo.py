"""Search provider: DuckDuckGo's HTML page, requested and parsed by the `ddgs` package."""

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
    UnreachableError,
)
from rootle.protocols import WebResult
from rootle.web.normalize_results import normalize_results

try:
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException, TimeoutException
    from lxml.etree import LxmlError
except ImportError as error:
    raise MissingExtraError(
        "web search requires more packages: pip install 'rootle[web]'"
    ) from error

_NO_REGION: Final = "wt-wt"
# The maximum length of a query, in characters; DuckDuckGo rejects longer ones.
_MAX_CHARS: Final = 499
# Words like "!w" are quoted, because they would redirect to another site.
_BANG: Final = re.compile(r"(?:^|(?<= ))([!\\]\S*)")
# A client that sends too many requests gets HTTP 202, a CAPTCHA, or one of these statuses.
_ACCEPTED: Final = 202
_LIMITS: Final = frozenset({403, 429})
# Matches only attributes. The page also contains the query, but with escaped quotation marks.
_CAPTCHA: Final = re.compile(
    r'class="[^"]*\banomaly-modal|action="[^"]*/anomaly\.js|id="challenge-form"'
)
_NO_RESULTS: Final = re.compile(r'class="[^"]*\b(?:no-results|result--no-result)\b')
# The link of a result may be a redirect of DuckDuckGo. ddgs has already unquoted it.
_REDIRECT: Final = re.compile(r"(?:https?:)?//duckduckgo\.com/l/\?uddg=(.+?)(?:&rut=[0-9a-f]*)?$")


class DuckDuckGo:
    """DuckDuckGo, which needs no API key.

    The class `DDGS` of the package is not used, because it raises the same exception for an empty
    result, a rejected request and a CAPTCHA. This class uses one engine of the package instead.
    """

    label = "DuckDuckGo"

    def __init__(self, *, timeout_s: float, url: str = Duckduckgo.search_url) -> None:
        self._timeout_s = timeout_s
        self._url = url

    def search(self, query: str, max_results: int) -> list[WebResult]:
        """Return the results of the first page. Raise Unavailable if it cannot be loaded now."""
        # A new engine for each search, because each engine imitates a different browser.
        engine = Duckduckgo(timeout=max(1, round(self._timeout_s)))
        status, page = self._download(engine, query)
        if 200 <= status < 300:
            return _read_results(engine, status, page, max_results)
        if status in _LIMITS:
            raise RateLimitedError(f"rate limited, HTTP {status}", status=status)
        if status >= 500:
            raise Unavailable(f"HTTP {status}", status=status)
        raise RefusedError(f"{self._url} answered HTTP {status}", status)

    def _download(self, engine: Duckduckgo, query: str) -> tuple[int, str]:
        quoted = _BANG.sub(r"'\1'", query)[:_MAX_CHARS]
        payload = engine.build_payload(quoted, _NO_REGION, "moderate", None)
        try:
            answer = engine.http_client.request(engine.search_method, self._url, data=payload)
        except TimeoutException as error:
            raise UnreachableError(f"no answer within {self._timeout_s:g} s") from error
        except DDGSException as error:
            raise UnreachableError(f"{self._url} cannot be reached: {error}") from error
        return answer.status_code, answer.text


def _read_results(engine: Duckduckgo, status: int, page: str, max_results: int) -> list[WebResult]:
    # Look for results first, because the patterns for error pages may match the text of a result.
    results = normalize_results(_read_rows(engine, page), max_results)
    if results:
        return results
    if _CAPTCHA.search(page):
        raise RateLimitedError("rate limited, CAPTCHA required", status=status)
    if _NO_RESULTS.search(page):
        return []
    if status == _ACCEPTED:
        raise RateLimitedError(f"rate limited, HTTP {status}", status=status)
    raise UnavailableError(
        'DuckDuckGo answered with an unknown page: neither results nor "no results"'
    )


def _read_rows(engine: Duckduckgo, page: str) -> Iterator[tuple[str, str, str]]:
    try:
        rows = engine.post_extract_results(engine.extract_results(page))
    except (LxmlError, ValueError):  # the page is empty or contains NUL
        return
    for row in rows:
        redirect = _REDIRECT.match(row.href)
        yield row.title, redirect[1] if redirect else row.href, row.body
