"""A model on a server that embeds images and texts into the same space, such as CLIP on vLLM."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlunsplit

from rootle.concurrency.circuit_breaker import CircuitBreaker
from rootle.embed.batched_embedder import normalize_rows
from rootle.embed.http_model import HttpModel
from rootle.embed.providers import Body
from rootle.errors import RefusedError, UnavailableError
from rootle.http.client import JsonServer
from rootle.http.urls import redact_url, split_url
from rootle.protocols import Matrix, Vector
from rootle.text.terms import encodable

# The HTTP status codes with which a working server refuses an image that its model cannot read.
_BAD_INPUT: Final = frozenset({400, 413, 415, 422})


class ImageModel:
    """Embeds images and texts. After several failures, no requests are sent for a while."""

    def __init__(
        self,
        endpoint: str,
        model: str = "",
        *,
        key: Callable[[], str] = str,
        connect: Callable[..., JsonServer] = JsonServer,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """Create a client. `endpoint` is the URL of the server, with or without "/v1".

        An empty `model` lets the server choose. Raise ConfigError if the endpoint is not a URL.
        """
        JsonServer(endpoint)  # raises now if the URL is invalid
        parts = split_url(endpoint)
        base = urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/v1"))
        self.fingerprint = model or redact_url(endpoint)
        self._model = model
        self._server = HttpModel("vllm", model, endpoint=base, key=key, connect=connect)
        self._breaker = breaker or CircuitBreaker()

    def expect_dimensions(self, dimensions: int) -> None:
        """Refuse vectors of another length: they come from another model."""
        self._server.expect_dimensions(dimensions)

    def embed_image(self, image: bytes, media_type: str, timeout_s: float) -> Vector:
        """Return the unit vector of an image. `media_type` is its type, such as "image/png".

        Raise RefusedError with one of the statuses of `is_bad_input` if the model cannot read the
        image, and UnavailableError for any other failure.
        """
        url = f"data:{media_type};base64,{base64.b64encode(image).decode('ascii')}"
        content = [{"type": "image_url", "image_url": {"url": url}}]
        message = {"role": "user", "content": content}
        vector: Vector = self._request({"messages": [message]}, 1, timeout_s)[0]
        return vector

    def embed_texts(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        """Return a unit vector per text. Raise UnavailableError if that fails."""
        # Unlike `messages`, `input` adds the special tokens at which CLIP pools a text. A question
        # may be longer than the 77 tokens of CLIP, so it is truncated.
        body: Body = {"input": [encodable(text) for text in texts], "truncate_prompt_tokens": -1}
        if "siglip" in self._model.lower():
            # SigLIP was trained on padded texts; vectors of texts with other lengths are not
            # comparable.
            body["padding"] = "max_length"
        return self._request(body, len(texts), timeout_s)

    def _request(self, body: Body, count: int, timeout_s: float) -> Matrix:
        if self._breaker.state() == "open":
            raise UnavailableError("the image embedding server is paused because it keeps failing")
        named = {"model": self._model} if self._model else {}
        try:
            rows = self._server.request(
                {**named, **body, "encoding_format": "float"}, count, timeout_s
            )
        except UnavailableError as error:
            if not is_bad_input(error):
                self._breaker.record_failure()
            raise
        self._breaker.record_success()
        return normalize_rows(rows)


def is_bad_input(error: UnavailableError) -> bool:
    """Return whether the server is working but rejected the input."""
    return isinstance(error, RefusedError) and error.status in _BAD_INPUT
