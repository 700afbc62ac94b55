"""ASGI middleware that checks the Host, the Origin and the token of every request."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from rootle.errors import ConfigError
from rootle.server.address import Address, are_same_host, host_of

# The types of ASGI. Any: the values in a message.
AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
AsgiApplication = Callable[[AsgiMessage, AsgiReceive, AsgiSend], Awaitable[None]]

_SCHEME: Final = "bearer "


class AuthMiddleware:
    """Accepts only requests whose `Host` names this server and that contain its token.

    Any other `Host` is a sign of DNS rebinding. Browsers also send the `Origin` of the page that
    makes a request; requests from pages of other hosts are refused.
    """

    def __init__(self, application: AsgiApplication, address: Address, token: str) -> None:
        """If `token` is empty, requests need no token.

        Raise ConfigError if it consists of spaces.
        """
        if token and not token.strip():
            raise ConfigError("mcpToken consists of spaces; set a token, or remove the setting")
        self._application = application
        self._address = address
        # HTTP removes the spaces around a header.
        self._token = token.encode("utf-8", "surrogatepass").strip()

    async def __call__(self, scope: AsgiMessage, receive: AsgiReceive, send: AsgiSend) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refusal = self._refusal(headers)
        if refusal is None and scope["type"] == "http":
            await self._application(scope, receive, send)
        else:
            await _respond(send, *(refusal or (404, "only HTTP requests are served here")))

    def _refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the status and text of an error response; None if the request is accepted."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._address.accepts_host(host):
            return 421, (
                f"Host header not allowed: {host!r} (use the address that `rootle mcp --http` "
                "printed, or start it with --http HOST:PORT)"
            )
        if origin is not None and not _is_same_origin(origin, host):
            return 403, f"Origin header not allowed: {origin!r} (pages of other sites are refused)"
        if self._token and not self._has_token(headers.get("authorization", "")):
            return 401, "token missing or wrong (send it as `Authorization: Bearer TOKEN`)"
        return None

    def _has_token(self, header: str) -> bool:
        token = header[len(_SCHEME) :] if header.lower().startswith(_SCHEME) else ""
        # Compare in constant time, so that the response time reveals nothing about the token.
        return hmac.compare_digest(token.encode("latin-1").strip(), self._token)


def _is_same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and are_same_host(
            host_of(parts.netloc), host_of(host)
        )
    except ValueError:
        return False


async def _respond(send: AsgiSend, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode("utf-8")})
