"""DuckDuckGo through the real `ddgs` package, against a fake server."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from json_server import JsonServer, Reply, serving

from rootle.errors import (
    RateLimitedError,
    RefusedError,
    Unavailable,
    UnavailableError,
    UnreachableError,
)
from rootle.protocols import WebResult
from rootle.web.engines.duckduckgo import DuckDuckGo

# The format of https://html.duckduckgo.com/html/, shortened to the relevant elements.
_PAGE = """<!DOCTYPE html>
<html><head><title>{query} at DuckDuckGo</title></head><body class="body--html">
<form id="search_form_homepage" action="/html/" method="post">
<input name="q" value="{query}"></form>
<div id="links" class="results">{results}</div></body></html>"""
_RESULT = """<div class="result results_links results_links_deep web-result">
<div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
<div class="result__extras"><a class="result__url" href="{href}">{href}</a></div>
<a class="result__snippet" href="{href}">{body}</a></div></div>"""
_NO_RESULTS = """<div class="result results_links results_links_deep result--no-result">
<div class="links_main links_deep result__body"><h2 class="result__title">
<div class="no-results">No results found for <b>{query}</b></div></h2></div></div>"""
_CAPTCHA = """<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></body>
</html>"""


def page(*results: tuple[str, str, str], query: str = "anything") -> Reply:
    shown = [_RESULT.format(href=href, title=title, body=body) for href, title, body in results]
    return html(_PAGE.format(query=query, results="".join(shown)))


def html(text: str, status: int = 200) -> Reply:
    return Reply(
        raw=text.encode(), status=status, headers={"Content-Type": "text/html; charset=UTF-8"}
    )


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: page()) as running:
        yield running


def engine(server: JsonServer, timeout_s: float = 20.0) -> DuckDuckGo:
    return DuckDuckGo(timeout_s=timeout_s, url=f"{server.url}/html/")


def search(server: JsonServer, reply: Reply, query: str = "anything", **options: Any) -> Any:
    server.answer = lambda request: reply
    return engine(server, **options).search(query, 10)


def test_results_are_parsed(server: JsonServer) -> None:
    reply = page(
        (
            "https://www.python.org/",
            "Welcome to <b>Python</b>.org",
            "The official <b>home</b> &amp;c.",
        ),
        ("https://docs.python.org/3/", "Docs", "Documentation"),
    )
    assert search(server, reply, "python & co") == [
        WebResult("Welcome to Python.org", "https://www.python.org/", "The official home &c."),
        WebResult("Docs", "https://docs.python.org/3/", "Documentation"),
    ]
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/html/")
    assert parse_qs(request.body)["q"] == ["python & co"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("!w python", "'!w' python"),
        ("css !important a!b", "css '!important' a!b"),
        ("\\\\ python", "'\\\\' python"),
        ("x" * 600, "x" * 499),
    ],
)
def test_bangs_are_quoted_and_long_queries_truncated(
    server: JsonServer, query: str, expected: str
) -> None:
    search(server, page(("https://e.com/", "t", "b")), query)
    assert parse_qs(server.requests[0].body)["q"] == [expected]


def test_at_most_max_results_are_returned(server: JsonServer) -> None:
    server.answer = lambda request: page(*[(f"https://e.com/{n}", "t", "b") for n in range(30)])
    assert len(engine(server).search("anything", 3)) == 3


def test_advertisements_and_other_schemes_are_removed(server: JsonServer) -> None:
    reply = page(
        ("https://duckduckgo.com/y.js?ad_domain=shop.example", "Buy", "now"),
        ("javascript:alert(1)", "no", "no"),
        ("https://e.com/", "yes", "yes"),
    )
    assert [result.url for result in search(server, reply)] == ["https://e.com/"]


def test_redirects_of_duckduckgo_are_resolved(
    server: JsonServer,
) -> None:
    target = "https%3A%2F%2Fe.com%2Fa%3Fx%3D1%26y%3D2"
    reply = page((f"//duckduckgo.com/l/?uddg={target}&amp;rut=0af3", "t", "b"))
    assert [result.url for result in search(server, reply)] == ["https://e.com/a?x=1&y=2"]


@pytest.mark.parametrize("status", [200, 202])
def test_an_empty_result_is_not_an_error(server: JsonServer, status: int) -> None:
    text = _PAGE.format(query="qzx", results=_NO_RESULTS.format(query="qzx"))
    assert search(server, html(text, status)) == []


@pytest.mark.parametrize(
    "reply",
    [
        html(_CAPTCHA, 202),
        html(_CAPTCHA, 200),
        html("", 202),
        html("Forbidden", 403),
        html("<h1>Too many requests</h1>", 429),
    ],
)
def test_too_many_requests_are_reported_as_a_rate_limit(server: JsonServer, reply: Reply) -> None:
    with pytest.raises(RateLimitedError, match="rate limited"):
        search(server, reply)


def test_a_query_about_captchas_is_not_a_captcha(server: JsonServer) -> None:
    query = "anomaly.js class=&quot;anomaly-modal&quot; action=&quot;/anomaly.js&quot;"
    reply = page(("https://e.com/", f"on {query}", query), query=query)
    assert len(search(server, reply)) == 1
    no_results = _PAGE.format(query=query, results=_NO_RESULTS.format(query=query))
    assert search(server, html(no_results)) == []


def test_a_server_error_is_reported_as_unavailable(server: JsonServer) -> None:
    with pytest.raises(Unavailable, match="HTTP 503") as caught:
        search(server, html("down", 503))
    assert not isinstance(caught.value, RateLimitedError)


def test_a_slow_server_is_reported_as_unavailable(server: JsonServer) -> None:
    with pytest.raises(Unavailable, match="no answer within 1 s"):
        search(server, Reply(hang=True), timeout_s=1.0)


def test_a_rejected_request_is_an_error(server: JsonServer) -> None:
    with pytest.raises(RefusedError, match="answered HTTP 400"):
        search(server, html("bad request", 400))


@pytest.mark.parametrize("raw", [b"", b"<html><body><p>We have moved", b"\0\x01\xff\xfe" * 50])
def test_an_unknown_page_is_an_error(server: JsonServer, raw: bytes) -> None:
    with pytest.raises(UnavailableError, match="neither results") as caught:
        search(server, Reply(raw=raw, headers={"Content-Type": "text/html"}))
    assert not isinstance(caught.value, Unavailable)


def test_an_unreachable_server_is_reported_as_unreachable(server: JsonServer) -> None:
    search_engine = engine(server)
    server.close()
    with pytest.raises(UnreachableError, match="cannot be reached"):
        search_engine.search("anything", 10)


def test_one_search_sends_one_request(server: JsonServer) -> None:
    """The class `DDGS` of the package would retry and query other engines."""
    with pytest.raises(RateLimitedError):
        search(server, html("", 202))
    assert len(server.requests) == 1


def test_an_invalid_certificate_is_an_error(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(lambda request: page(), context=context) as server:
        server.url = server.url.replace("http:", "https:")
        with pytest.raises(UnavailableError, match=r"cannot be reached: .*[Cc]ertificate"):
            engine(server).search("anything", 10)
        assert not server.requests
