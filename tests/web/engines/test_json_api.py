"""Brave, Exa and SearXNG: documented requests and answers, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from json_server import JsonServer, Reply, serving

from rootle.errors import (
    RateLimitedError,
    RefusedError,
    Unavailable,
    UnavailableError,
    UnreachableError,
)
from rootle.protocols import WebProvider, WebResult
from rootle.web.engines.brave import Brave
from rootle.web.engines.exa import Exa
from rootle.web.engines.searxng import SearXNG

KEY = "BSA-very-secret-0123"

BRAVE = {
    "type": "search",
    "query": {"original": "python"},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Welcome to Python.org",
                "url": "https://www.python.org",
                "description": "The <strong>official</strong> home &amp; more",
                "age": "May 1, 2026",
            },
            {"title": "Docs", "url": "https://docs.python.org/3/"},
        ],
    },
}
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "results": [
        {
            "id": "https://www.python.org",
            "title": "Welcome to Python.org",
            "url": "https://www.python.org",
            "highlights": ["The official home", "& more"],
            "highlightScores": [0.5, 0.4],
        },
        {"id": "2", "title": None, "url": "https://docs.python.org/3/"},
    ],
    "costDollars": {"total": 0.005},
}
SEARXNG = {
    "query": "python",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://www.python.org",
            "title": "Welcome to Python.org",
            "content": "The official\nhome",
            "engine": "google",
        },
        {"url": "https://docs.python.org/3/", "title": "", "content": None},
    ],
    "unresponsive_engines": [["brave", "too many requests"]],
}
Make = Callable[[str], WebProvider]


def brave(url: str, timeout_s: float = 20.0) -> Brave:
    return Brave(lambda: KEY, timeout_s=timeout_s, endpoint=f"{url}/res/v1/web/search")


def exa(url: str, timeout_s: float = 20.0) -> Exa:
    return Exa(lambda: KEY, timeout_s=timeout_s, endpoint=f"{url}/search")


def searxng(url: str, timeout_s: float = 20.0) -> SearXNG:
    return SearXNG(url, timeout_s=timeout_s)


ALL_PROVIDERS = pytest.mark.parametrize("make", [brave, exa, searxng])
PROVIDERS_WITH_KEY = pytest.mark.parametrize("make", [brave, exa])


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply({})) as running:
        yield running


def test_brave_receives_documented_requests(server: JsonServer) -> None:
    server.answer = lambda request: Reply(BRAVE)
    assert brave(server.url).search("python & co", 10) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home & more"),
        WebResult("Docs", "https://docs.python.org/3/", ""),
    ]
    request = server.requests[0]
    assert request.method == "GET"
    assert urlsplit(request.path).path == "/res/v1/web/search"
    assert parse_qs(urlsplit(request.path).query) == {
        "q": ["python & co"],
        "count": ["10"],
        "text_decorations": ["false"],
    }
    assert request.headers["x-subscription-token"] == KEY


def test_brave_receives_a_truncated_query(server: JsonServer) -> None:
    brave(server.url).search("word " * 60, 50)
    parameters = parse_qs(urlsplit(server.requests[0].path).query)
    assert len(parameters["q"][0].split()) == 50
    assert parameters["count"] == ["20"]


def test_an_answer_of_brave_can_contain_no_results(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"type": "search", "query": {"original": "qzx"}})
    assert brave(server.url).search("qzx", 10) == []


def test_exa_receives_documented_requests(server: JsonServer) -> None:
    server.answer = lambda request: Reply(EXA)
    assert exa(server.url).search("python", 5) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home … & more"),
        WebResult("https://docs.python.org/3/", "https://docs.python.org/3/", ""),
    ]
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/search")
    assert request.body == {
        "query": "python",
        "type": "auto",
        "numResults": 5,
        "contents": {"highlights": True},
    }
    assert request.headers["x-api-key"] == KEY


@pytest.mark.parametrize("ending", ["", "/", "/search"])
def test_searxng_receives_documented_requests(server: JsonServer, ending: str) -> None:
    server.answer = lambda request: Reply(SEARXNG)
    assert searxng(f"{server.url}{ending}").search("python", 10) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home"),
        WebResult("https://docs.python.org/3/", "https://docs.python.org/3/", ""),
    ]
    request = server.requests[0]
    assert request.method == "GET"
    assert request.path == "/search?q=python&format=json"


def test_searxng_without_json_is_an_error_with_a_remedy(server: JsonServer) -> None:
    server.answer = lambda request: Reply(raw=b"<h1>Forbidden</h1>", status=403)
    with pytest.raises(RefusedError, match=r"add json to search\.formats"):
        searxng(server.url).search("python", 10)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<h1>Forbidden</h1>", status=403),
        Reply({"results": [{"title": "no url"}]}),
        Reply({"error": "user:pa55word"}, status=400),
    ],
)
def test_a_password_in_the_url_of_searxng_is_sent_but_not_shown(
    server: JsonServer, reply: Reply
) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError) as caught:
        searxng(server.url.replace("http://", "http://user:pa55word@")).search("python", 10)
    assert "pa55word" not in str(caught.value)
    assert f"{server.url}/search" in str(caught.value)
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYTU1d29yZA=="


def test_searxng_without_responsive_engines_is_reported_as_unavailable(server: JsonServer) -> None:
    answer = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}
    server.answer = lambda request: Reply(answer)
    with pytest.raises(Unavailable, match="none of its engines answered: google, bing"):
        searxng(server.url).search("python", 10)


@ALL_PROVIDERS
def test_at_most_max_results_are_returned(server: JsonServer, make: Make) -> None:
    rows = [{"title": "t", "url": f"https://e.com/{n}", "content": "c"} for n in range(9)]
    server.answer = lambda request: Reply({"results": rows, "web": {"results": rows}})
    assert len(make(server.url).search("python", 3)) == 3


@ALL_PROVIDERS
def test_a_rate_limit_contains_the_time_to_wait(server: JsonServer, make: Make) -> None:
    limit = Reply({"error": {"code": "RATE_LIMITED"}}, 429, {"Retry-After": "17"})
    server.answer = lambda request: limit
    with pytest.raises(RateLimitedError, match="rate limited, HTTP 429") as caught:
        make(server.url).search("python", 10)
    assert caught.value.retry_after_s == 17
    assert len(server.requests) == 1


@ALL_PROVIDERS
def test_an_exhausted_quota_is_reported_as_a_rate_limit(server: JsonServer, make: Make) -> None:
    server.answer = lambda request: Reply({"tag": "NO_MORE_CREDITS"}, 402)
    with pytest.raises(RateLimitedError, match="its quota is used up"):
        make(server.url).search("python", 10)


@ALL_PROVIDERS
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_error_is_reported_as_unavailable(
    server: JsonServer, make: Make, status: int
) -> None:
    server.answer = lambda request: Reply({"error": "oops"}, status)
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, RateLimitedError)


@pytest.mark.parametrize("make", [brave, exa, searxng])
def test_a_slow_server_is_reported_as_unavailable(
    server: JsonServer, make: Callable[[str, float], WebProvider]
) -> None:
    server.answer = lambda request: Reply(hang=True)
    with pytest.raises(Unavailable, match=r"no answer within 0\.2 s"):
        make(server.url, 0.2).search("python", 10)


@PROVIDERS_WITH_KEY
@pytest.mark.parametrize("status", [401, 403])
def test_a_rejected_key_is_an_error_without_the_key(
    server: JsonServer, make: Make, status: int
) -> None:
    server.answer = lambda request: Reply({"error": f"bad key {KEY}"}, status)
    with pytest.raises(RefusedError, match="check the key in the configuration") as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, Unavailable)
    assert KEY not in repr(caught.value)


def test_a_refused_key_is_read_again(server: JsonServer) -> None:
    keys = iter(["old", "new"])
    provider = Brave(lambda: next(keys), timeout_s=20.0, endpoint=server.url)
    server.answer = lambda request: Reply({}, 401)
    with pytest.raises(RefusedError):
        provider.search("python", 10)
    server.answer = lambda request: Reply(BRAVE)
    assert provider.search("python", 10)
    assert [request.headers["x-subscription-token"] for request in server.requests] == [
        "old",
        "new",
    ]


@ALL_PROVIDERS
def test_a_rejected_request_is_an_error_without_the_query(server: JsonServer, make: Make) -> None:
    server.answer = lambda request: Reply({"error": {"code": "VALIDATION"}}, 422)
    with pytest.raises(RefusedError, match="answered HTTP 422") as caught:
        make(server.url).search("unspeakable", 10)
    assert "unspeakable" not in str(caught.value)


@ALL_PROVIDERS
@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<html>"),
        Reply([]),
        Reply(None),
        Reply({"results": 7, "web": 7}),
        Reply({"results": [{"title": "no url"}], "web": {"results": [{"title": "no url"}]}}),
        Reply({"results": [None], "web": {"results": [None]}}),
        Reply({"results": [{"url": 7, "title": 7}], "web": {"results": [{"url": 7, "title": 7}]}}),
    ],
)
def test_an_invalid_answer_is_an_error(server: JsonServer, make: Make, reply: Reply) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError) as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, Unavailable)


@ALL_PROVIDERS
def test_an_unreachable_server_is_reported_as_unreachable(server: JsonServer, make: Make) -> None:
    provider = make(server.url)
    server.close()
    with pytest.raises(UnreachableError, match="cannot be reached"):
        provider.search("python", 10)


@ALL_PROVIDERS
def test_an_incomplete_answer_is_reported_as_unreachable(server: JsonServer, make: Make) -> None:
    server.answer = lambda request: Reply({"results": []}, cut=True)
    with pytest.raises(UnreachableError, match="cannot be reached"):
        make(server.url).search("python", 10)
