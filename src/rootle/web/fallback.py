"""One search over several engines of the web: who is asked, who is next, what is kept."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Sequence
from typing import Final

from rootle.errors import RateLimitedError, Unavailable
from rootle.protocols import TextCache, WebProvider, WebResult
from rootle.text.terms import encodable
from rootle.web.cooldowns import Cooldowns

MAX_RESULTS: Final = 10

_LOG = logging.getLogger(__name__)


class WebSearch:
    """Asks its providers in random order, until one answers. Safe to use from several threads.

    The random order spreads the load: no provider is always the first to be used up.
    """

    def __init__(
        self,
        providers: Sequence[WebProvider],
        *,
        cache: TextCache | None,
        rests: Cooldowns | None = None,
        rng: random.Random | None = None,
    ) -> None:
        """Without a cache every search goes out; without `rests` nobody is ever left alone."""
        self.providers = tuple(providers)
        self._cache = cache
        self._rests = rests
        self._rng = rng or random.Random()  # nothing secret hangs on it
        self._last_logged: tuple[str, ...] = ()

    def search(self, query: str, max_results: int = MAX_RESULTS) -> str:
        """The results as Markdown, or an "Error: …" where every provider is unavailable.

        An answer is kept for its query, whatever `max_results` was. Raises ValueError for an empty
        query. Whatever else a provider raises but `Unavailable` comes through.
        """
        cleaned = " ".join(encodable(query).split())
        if not cleaned:
            raise ValueError("query is empty")
        self._log_providers()
        is_hit = True

        def answer() -> str:
            nonlocal is_hit
            is_hit = False
            return rendered(self._first_answer(cleaned, max_results))

        try:
            text = self._cache.fetch(cleaned, answer) if self._cache is not None else answer()
        except Unavailable as error:
            return f"Error: {error}"
        if is_hit:
            _LOG.info("cache=hit query=%s bytes=%d", _quoted(cleaned), len(text.encode()))
        return text

    def _first_answer(self, query: str, max_results: int) -> Sequence[WebResult]:
        failures = []
        for provider in self._rng.sample(self.providers, len(self.providers)):
            try:
                results = self._asked(provider, query, max_results)
            except Unavailable as error:
                _LOG.debug("engine=%s query=%s: %s", provider.label, _quoted(query), error)
                failures.append(f"{provider.label} ({error})")
                continue
            _LOG.info("engine=%s query=%s results=%d", provider.label, _quoted(query), len(results))
            return results
        # Raised, so that the cache does not keep it.
        raise Unavailable(f"all search providers temporarily unavailable: {'; '.join(failures)}")

    def _asked(self, provider: WebProvider, query: str, max_results: int) -> Sequence[WebResult]:
        if self._rests is None:
            return provider.search(query, max_results)
        self._rests.check(provider.label)
        try:
            results = provider.search(query, max_results)
        except RateLimitedError as error:
            self._rests.begin(provider.label, error.retry_after_s)
            raise
        self._rests.end(provider.label)
        return results

    def _log_providers(self) -> None:
        labels = tuple(provider.label for provider in self.providers)
        if labels != self._last_logged:
            self._last_logged = labels
            _LOG.info("providers=%s", ",".join(labels))


def rendered(results: Sequence[WebResult]) -> str:
    """Results as the Markdown that a model is shown."""
    if not results:
        return "No results found."
    entries = [f"[{result.title}]({result.url})\n{result.body}" for result in results]
    return "\n\n".join(["## Search Results", *entries])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
