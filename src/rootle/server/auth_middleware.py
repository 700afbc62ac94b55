"""ASGI middleware that checks the Host, the Origin and the token of every request."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from rootle.errors import ConfigError
from rootle.server.address import Address, are_same_host, parse_host

# The types of ASGI. Any: the values in a message.
AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
AsgiApplication = Callable[[AsgiMessage, AsgiReceive, AsgiSend], Awaitable[None]]

_SCHEME: Final = "bearer "
# Headers that affect how a request is handled. A request that repeats one of them is ambiguous, and
# is refused.
_SINGLE: Final = ("host", "origin", "authorization", "content-length")


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
        pairs = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ]
        refusal = _find_ambiguity([name for name, _ in pairs]) or self._refusal(dict(pairs))
        if scope["type"] != "http":
            await _respond(send, *(refusal or (404, "only HTTP requests are served here")))
        elif refusal is not None:
            await discard_body(receive)
            await _respond(send, *refusal)
        else:
            await self._application(scope, receive, send)

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


async def discard_body(receive: AsgiReceive) -> None:
    """Receive the body of a request that is refused.

    Otherwise, a client that is still sending would not read the response, because a refusal closes
    the connection.
    """
    has_more = True
    while has_more:
        message = await receive()
        has_more = message["type"] == "http.request" and message.get("more_body", False)


def _find_ambiguity(names: Sequence[str]) -> tuple[int, str] | None:
    """Return an error response if headers contradict each other."""
    repeated = next((name for name in _SINGLE if names.count(name) > 1), None)
    if repeated is not None:
        return 400, f"several {repeated.title()} headers (send one)"
    if "content-length" in names and "transfer-encoding" in names:
        return 400, "Content-Length and Transfer-Encoding headers (send one of them)"
    return None


def _is_same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and are_same_host(
            parse_host(parts.netloc), parse_host(host)
        )
    except ValueError:
        return False


async def _respond(send: AsgiSend, status: int, text: str) -> None:
    # Close the connection, so that no time is spent on refusing further requests on it.
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode("utf-8")})
