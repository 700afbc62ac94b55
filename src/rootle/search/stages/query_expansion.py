"""Pipeline stage: search a question together with words that a language model adds to it."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Final

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import Config
from rootle.protocols import QueryExpander
from rootle.rank.question.language_detection import detect_language
from rootle.search.cache.answer_cache import LRUCache
from rootle.search.query.operators import parse_query
from rootle.search.request import SearchRequest
from rootle.search.results.page import FindPage, ResultPage
from rootle.telemetry.spans import expansion_stage
from rootle.text.secret_masking import mask_secrets

EXPANSION: Final = "expansion"  # the name of this stage in `degraded`
# Longer texts are not expanded: they are pasted files, not questions.
MAX_QUESTION_CHARS: Final = 1_000
# The maximum number of cached expansions, enough for the questions of a day. Until the cache entry
# expires, the same question is expanded with the same words, so that its ranking does not change.
_MAX_CACHED: Final = 500
_CACHE_TTL_S: Final = 3_600.0


class QueryExpansion:
    """Adds the words of an expander to questions, within a deadline.

    If the expander fails or is late, a question stays as typed. The expander is called only for the
    first page of an answer. The cursors of later pages contain the words that it added.
    """

    def __init__(self, expander: QueryExpander, config: Config) -> None:
        self._expander = expander
        self._model = config.expand_model
        self._exceptions = config.secret_exceptions
        self._executor = DeadlineExecutor(EXPANSION, config.expand_timeout_ms)
        self._cache: LRUCache[str] = LRUCache(_MAX_CACHED, _CACHE_TTL_S)

    def __call__(self, find: FindPage, request: SearchRequest) -> ResultPage:
        """Return the page of the expanded question, or one with "expansion" in `degraded`."""
        question = self._text_to_send(request)
        if not question:
            return find(request)
        position = request.position
        expansion = self._ask(question) if position is None else position.expansion
        page = find(replace(request, expansion=expansion))
        return page if expansion else replace(page, degraded=(EXPANSION, *page.degraded))

    def close(self) -> None:
        """Stop the threads."""
        self._executor.close()

    def _text_to_send(self, request: SearchRequest) -> str:
        """Return the words to expand, without secrets; "" if the question stays as typed."""
        words = words_to_expand(request.query.text_query) if request.query.expand else ""
        masked = mask_secrets(words, self._exceptions)
        return "" if masked.is_only_secrets else masked.text

    def _ask(self, question: str) -> str:
        """Return the words of the expander, or "" if it fails or is late."""

        def expand() -> str:
            words = self._expander.expand(question)
            self._cache.put(key, words)  # even after the deadline, for the next such question
            return words

        key = blake2b(question.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._cache.get(key)
        if known is not None:
            return known
        with expansion_stage(self._model):
            return self._executor.start(expand).result() or ""


def words_to_expand(text: str) -> str:
    """Return the words of a question without its filters.

    Return "" for names, phrases, regular expressions and pasted files, which are meant literally.
    """
    if len(text) > MAX_QUESTION_CHARS:
        return ""
    parsed = parse_query(text)
    words = parsed.text.strip()
    return "" if parsed.is_exact or _is_name(words) else words


def _is_name(words: str) -> bool:
    """Return whether a text is one word. Some languages have no spaces between words."""
    return len(words.split()) < 2 and detect_language(words) is None
