"""Responses to refused requests name the header, its value and the remedy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from rootle.errors import ConfigError
from rootle.server.address import Address
from rootle.server.auth_middleware import AuthMiddleware


def respond(token: str = "", kind: str = "http", **headers: str) -> tuple[int, str]:
    """Send one request through the middleware; return the status and the text of the response."""
    return respond_to(list(headers.items()), token, kind)


def respond_to(
    headers: Sequence[tuple[str, str]], token: str = "", kind: str = "http"
) -> tuple[int, str]:
    """Send a request whose headers may have the same name."""
    messages: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"served"})

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        messages.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers]
    middleware = AuthMiddleware(application, Address("127.0.0.1", 8765), token)
    asyncio.run(middleware({"type": kind, "headers": pairs}, receive, send))
    start, body = messages
    return start["status"], body["body"].decode()


@pytest.mark.parametrize(
    ("headers", "status", "parts"),
    [
        ({"host": "evil.example"}, 421, ("Host", "'evil.example'", "--http HOST:PORT")),
        ({}, 421, ("Host", "''")),
        (
            {"host": "localhost", "origin": "https://evil.example"},
            403,
            ("Origin", "'https://evil.example'"),
        ),
        ({"host": "localhost"}, 401, ("token", "Authorization: Bearer TOKEN")),
    ],
)
def test_a_refusal_names_the_header_its_value_and_the_remedy(
    headers: dict[str, str], status: int, parts: tuple[str, ...]
) -> None:
    found, text = respond(token="secret", **headers)
    assert found == status
    assert all(part in text for part in parts), text
    assert "secret" not in text


def test_a_request_with_the_token_is_served() -> None:
    headers = {"host": "localhost:8765", "authorization": "Bearer secret"}
    assert respond(token="secret", **headers) == (200, "served")


@pytest.mark.parametrize("sent", ["voilà", " voilà "])
@pytest.mark.parametrize("token", ["voilà", " voilà\n"])
def test_a_token_may_have_other_letters_and_spaces_around_it(token: str, sent: str) -> None:
    headers = {"host": "localhost:8765", "authorization": f"Bearer {sent}"}
    assert respond(token=token, **headers) == (200, "served")


def test_a_token_of_spaces_is_refused() -> None:
    with pytest.raises(ConfigError, match="mcpToken consists of spaces"):
        AuthMiddleware(None, Address("127.0.0.1", 8765), " ")  # type: ignore[arg-type]


def test_no_token_is_required_if_none_is_configured() -> None:
    assert respond(host="localhost:8765") == (200, "served")


def test_websockets_are_refused() -> None:
    assert respond(kind="websocket", host="localhost")[0] == 404


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("origin", "http://evil.example"), ("origin", "http://localhost")),
        (("authorization", "Bearer secret"), ("authorization", "Bearer other")),
        (("content-length", "5"), ("transfer-encoding", "chunked")),
    ],
)
def test_a_request_with_headers_that_contradict_each_other_is_refused(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    status, text = respond_to([("host", "localhost"), first, second])
    assert status == 400
    assert first[0].title() in text
