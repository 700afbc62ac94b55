"""What stands before a server that any program or page on this machine can reach."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from rootle.server.address import Address, are_same_host, host_of

# ASGI's shapes. Any: whatever a server puts into them.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_SCHEME: Final = "bearer "


class AuthMiddleware:
    """Lets requests through that are meant for this address and know its token.

    What a browser sends for a page of somebody else's has the page's `Origin`, or where the page's
    name was made to point here, that name as `Host`.
    """

    def __init__(self, application: Application, address: Address, token: str) -> None:
        """Without a token nobody is asked for one."""
        self._application = application
        self._address = address
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            await _answer(send, *(refusal or (404, "there is nothing but HTTP here")))

    def _refusal(self, headers: dict[str, str]) -> tuple[int, str] | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._address.admits(host):
            return 421, "this server is not known by that Host"
        if origin is not None and not _is_own(origin, host):
            return 403, "pages of another Origin may not ask this server"
        if self._token and not self._knows_token(headers.get("authorization", "")):
            return 401, "give the token of this server as `Authorization: Bearer …`"
        return None

    def _knows_token(self, header: str) -> bool:
        given = header[len(_SCHEME) :].strip() if header.lower().startswith(_SCHEME) else ""
        # In a time that does not tell how much of it was right.
        return hmac.compare_digest(given.encode("utf-8"), self._token.encode("utf-8"))


def _is_own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        return parts.scheme in {"http", "https"} and are_same_host(
            host_of(parts.netloc), host_of(host)
        )
    except ValueError:
        return False


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode("utf-8")})
