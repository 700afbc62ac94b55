"""Expand questions with an LLM server that has an OpenAI-compatible chat API."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlunsplit

from rootle.errors import RefusedError, UnavailableError
from rootle.expansion.answer import clean_answer
from rootle.http.client import JsonServer
from rootle.http.urls import split_url

_STEP: Final = "/chat/completions"
# The number of attempts. Without an expansion, the question is searched as typed, so a retry is not
# worth the time.
_ATTEMPTS: Final = 1
# The maximum size of a response. An answer has a few hundred bytes, but some models add their
# reasoning.
_MAX_ANSWER_BYTES: Final = 256_000
_MAX_TOKENS: Final = 120
# Fields of the request that some models reject. They are left out after a rejection.
_OPTIONS: Final[Mapping[str, object]] = {"temperature": 0, "max_tokens": _MAX_TOKENS}
_UNAUTHORIZED: Final = 401
_INVALID_REQUEST: Final = frozenset({400, 422})

_PROMPT: Final = """\
You turn a question about a software project into a query for a search engine that compares words \
and meaning. You do not know the project. Write what the right place would contain: first the \
words that the code, its comments or its documents would use, then likely names of functions, \
classes or settings. Write in English, on one line, at most 30 words, no explanation.
Question: how long do we wait before we try a failed request again
Query: delay before the next attempt of a failed request, exponential backoff, retry_backoff, \
max_retries, RetryPolicy"""


class ChatExpander:
    """A QueryExpander that asks an LLM server. The API key is read before the first request."""

    def __init__(
        self,
        endpoint: str,
        model: str = "",
        *,
        key: Callable[[], str] = str,
        timeout_s: float = 1.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create an expander. Raise ConfigError if the endpoint is not a URL."""
        self._url = chat_url(endpoint)
        JsonServer(self._url)  # raises now if the URL is invalid
        self._model = model
        self._key = key
        self._timeout_s = timeout_s
        self._clock = clock
        self._options = _OPTIONS
        self._server: JsonServer | None = None

    def expand(self, question: str) -> str:
        """Return words for a question, in one line. Raise UnavailableError if that fails."""
        deadline = self._clock() + self._timeout_s
        server = self._connect()
        try:
            return self._ask(server, question, deadline)
        except RefusedError as error:
            if error.status == _UNAUTHORIZED:
                # read the key again next time, as the key command may return a new one
                self._server = None
            if error.status not in _INVALID_REQUEST or not self._options:
                raise
        self._options = {}
        return self._ask(server, question, deadline)

    def _connect(self) -> JsonServer:
        # Two threads may each create a JsonServer. The one that is not kept is garbage-collected.
        server = self._server
        if server is None:
            key = self._key()
            server = self._server = JsonServer(
                self._url,
                {"Authorization": f"Bearer {key}"} if key else {},
                secrets=[key],
                attempts=_ATTEMPTS,
                max_answer_bytes=_MAX_ANSWER_BYTES,
            )
        return server

    def _ask(self, server: JsonServer, question: str, deadline: float) -> str:
        def read(answer: Any) -> str:  # Any: JSON
            words = clean_answer(_content(answer))
            if not words:
                raise UnavailableError(f"the LLM server at {server.redacted_url} sent no words")
            return words

        timeout_s = max(0.0, round(deadline - self._clock(), 3))
        return server.post("", self._body(question), timeout_s=timeout_s, read=read)

    def _body(self, question: str) -> dict[str, object]:
        # Servers refuse unpaired surrogates.
        text = question.encode("utf-8", "replace").decode("utf-8")
        messages = [
            {"role": "system", "content": _PROMPT},
            {"role": "user", "content": f"Question: {text}\nQuery:"},
        ]
        model_field = {"model": self._model} if self._model else {}
        return {**model_field, "messages": messages, "stream": False, **self._options}


def chat_url(endpoint: str) -> str:
    """Return the URL of chat requests for an endpoint with or without the path of the API."""
    parts = split_url(endpoint)
    path = parts.path.rstrip("/") or "/v1"
    return urlunsplit(parts._replace(path=path if path.endswith(_STEP) else f"{path}{_STEP}"))


def _content(answer: Any) -> str:  # Any: JSON
    """Return the text of the first choice; "" if there is none."""
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return ""
    return content if isinstance(content, str) else ""
