"""Chat completions with tool calls from any OpenAI-compatible endpoint."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_ATTEMPTS: Final = 3
_RETRIED: Final = (408, 409, 425, 429)
_MAX_ERROR_CHARS: Final = 300

Message = dict[str, Any]  # Any: JSON


class EndpointError(Exception):
    """Raised when the endpoint gives no usable answer."""


@dataclass(frozen=True)
class ChatEndpoint:
    """An endpoint such as http://localhost:8080/v1, a model and limits for one request."""

    url: str
    model: str
    timeout_s: float = 300.0
    api_key: str = ""
    retry_delay_s: float = 2.0

    def complete(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Message:
        """Return the model's next message. Raise EndpointError if the endpoint gives none.

        Server errors, rate limits, timeouts and connection errors are retried; other errors are
        raised at once.
        """
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(self.retry_delay_s * attempt)
            try:
                return self._request(messages, tools)
            except urllib.error.HTTPError as error:
                body = error.read()[:_MAX_ERROR_CHARS].decode(errors="replace")
                problem = f"HTTP {error.code}: {body}"
                if error.code < 500 and error.code not in _RETRIED:
                    break
            except (OSError, http.client.HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
        raise EndpointError(f"{self.url}: {problem}")

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Message:
        body = {"model": self.model, "messages": list(messages), "tools": list(tools)}
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers
        )
        with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
            raw = response.read()
        try:
            message = json.loads(raw)["choices"][0]["message"]
        except (ValueError, LookupError, TypeError) as error:
            start = raw[:_MAX_ERROR_CHARS].decode(errors="replace")
            raise EndpointError(f"{self.url}: not a chat completion: {start}") from error
        if not isinstance(message, dict):
            raise EndpointError(f"{self.url}: the message is not an object")
        return message


def as_chat_tool(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool definition in the form of chat completions."""
    function = {
        "name": definition["name"], "description": definition["description"],
        "parameters": definition["input_schema"],
    }  # fmt: skip
    return {"type": "function", "function": function}
