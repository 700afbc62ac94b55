"""Web search with fallback: queries providers in random order until one answers."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rootle.errors import RateLimitedError, Unavailable, UnreachableError
from rootle.protocols import TextCache, WebProvider, WebResult
from rootle.text.secret_masking import mask_secrets
from rootle.text.terms import encodable
from rootle.web.cooldowns import Cooldowns

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions

MAX_RESULTS: Final = 10
# The longest cooldown after a network failure. It is shorter than after a rate limit, because a
# machine that was offline should soon search again.
_MAX_NETWORK_COOLDOWN_S: Final = 300.0

_LOG = logging.getLogger(__name__)


class WebSearch:
    """Searches the web through several providers. Safe to use from several threads.

    The random order distributes the load, so that all quotas are used up at the same rate.
    """

    def __init__(
        self,
        providers: Sequence[WebProvider],
        *,
        cache: TextCache | None,
        cooldowns: Cooldowns | None = None,
        secret_exceptions: Exceptions = (),
        rng: random.Random | None = None,
    ) -> None:
        """Create a search over these providers. `cache` and `cooldowns` may be None."""
        self.providers = tuple(providers)
        self._cache = cache
        self._cooldowns = cooldowns
        self._secret_exceptions = secret_exceptions
        self._rng = rng or random.Random()  # not used for security
        self._last_logged: tuple[str, ...] = ()

    def search(self, query: str, max_results: int = MAX_RESULTS) -> str:
        """Return the results as Markdown, or "Error: …" if every provider is unavailable.

        Secrets in the query are masked, because it is sent to other machines, cached and logged.
        The cache key is the query alone, so cached results may come from a call with another
        `max_results`. Raise ValueError if the query is empty. Errors of providers other than
        `Unavailable` are not caught.
        """
        masked = mask_secrets(encodable(query), self._secret_exceptions)
        cleaned = " ".join(masked.text.split())
        if not cleaned:
            raise ValueError("query is empty")
        self._log_providers()
        is_hit = True

        def search_providers() -> str:
            nonlocal is_hit
            is_hit = False
            return render_results(self._first_answer(cleaned, max_results))

        try:
            if self._cache is None:
                return search_providers()
            text = self._cache.fetch(cleaned, search_providers)
        except Unavailable as error:
            return f"Error: {error}"
        if is_hit:
            _LOG.info("cache=hit query=%s bytes=%d", _quote(cleaned), len(text.encode()))
        return text

    def _first_answer(self, query: str, max_results: int) -> Sequence[WebResult]:
        failures = []
        for provider in self._rng.sample(self.providers, len(self.providers)):
            try:
                results = self._query(provider, query, max_results)
            except Unavailable as error:
                _LOG.debug("engine=%s query=%s: %s", provider.label, _quote(query), error)
                failures.append(f"{provider.label} ({error})")
                continue
            _LOG.info("engine=%s query=%s results=%d", provider.label, _quote(query), len(results))
            return results
        # Raise an exception instead of returning a text, which would be cached.
        raise Unavailable(f"all search providers temporarily unavailable: {'; '.join(failures)}")

    def _query(self, provider: WebProvider, query: str, max_results: int) -> Sequence[WebResult]:
        if self._cooldowns is None:
            return provider.search(query, max_results)
        self._cooldowns.check(provider.label)
        try:
            results = provider.search(query, max_results)
        except RateLimitedError as error:
            self._cooldowns.start(provider.label, error.retry_after_s)
            raise
        except UnreachableError:
            self._cooldowns.start(provider.label, 0.0, longest_s=_MAX_NETWORK_COOLDOWN_S)
            raise
        self._cooldowns.clear(provider.label)
        return results

    def _log_providers(self) -> None:
        labels = tuple(provider.label for provider in self.providers)
        if labels != self._last_logged:
            self._last_logged = labels
            _LOG.info("providers=%s", ",".join(labels))


def render_results(results: Sequence[WebResult]) -> str:
    """Return results as Markdown for a model."""
    if not results:
        return "No results found."
    entries = [
        f"[{_escape_title(result.title)}]({result.url})\n{result.body}" for result in results
    ]
    return "\n\n".join(["## Search Results", *entries])


def _escape_title(title: str) -> str:
    """Return a title that cannot end the text of a Markdown link."""
    return re.sub(r"[\[\]\\]", r"\\\g<0>", title)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
