"""Brave, Exa and SearXNG by their documented requests and answers, faults included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from json_server import JsonServer, Reply, serving

from rootle.errors import RateLimitedError, RefusedError, Unavailable, UnavailableError
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


EVERY = pytest.mark.parametrize("make", [brave, exa, searxng])
KEYED = pytest.mark.parametrize("make", [brave, exa])


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply({})) as running:
        yield running


def test_brave_is_asked_as_it_wants(server: JsonServer) -> None:
    server.answer = lambda request: Reply(BRAVE)
    assert brave(server.url).search("python & co", 10) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home & more"),
        WebResult("Docs", "https://docs.python.org/3/", ""),
    ]
    asked = server.requests[0]
    assert asked.method == "GET"
    assert urlsplit(asked.path).path == "/res/v1/web/search"
    assert parse_qs(urlsplit(asked.path).query) == {
        "q": ["python & co"],
        "count": ["10"],
        "text_decorations": ["false"],
    }
    assert asked.headers["x-subscription-token"] == KEY


def test_brave_gets_no_more_of_a_query_than_it_takes(server: JsonServer) -> None:
    brave(server.url).search("word " * 60, 50)
    asked = parse_qs(urlsplit(server.requests[0].path).query)
    assert len(asked["q"][0].split()) == 50
    assert asked["count"] == ["20"]


def test_brave_leaves_out_the_web_where_it_found_nothing(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"type": "search", "query": {"original": "qzx"}})
    assert brave(server.url).search("qzx", 10) == []


def test_exa_is_asked_as_it_wants(server: JsonServer) -> None:
    server.answer = lambda request: Reply(EXA)
    assert exa(server.url).search("python", 5) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home … & more"),
        WebResult("https://docs.python.org/3/", "https://docs.python.org/3/", ""),
    ]
    asked = server.requests[0]
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.body == {
        "query": "python",
        "type": "auto",
        "numResults": 5,
        "contents": {"highlights": True},
    }
    assert asked.headers["x-api-key"] == KEY


@pytest.mark.parametrize("ending", ["", "/", "/search"])
def test_searxng_is_asked_as_it_wants(server: JsonServer, ending: str) -> None:
    server.answer = lambda request: Reply(SEARXNG)
    assert searxng(f"{server.url}{ending}").search("python", 10) == [
        WebResult("Welcome to Python.org", "https://www.python.org", "The official home"),
        WebResult("https://docs.python.org/3/", "https://docs.python.org/3/", ""),
    ]
    asked = server.requests[0]
    assert asked.method == "GET"
    assert asked.path == "/search?q=python&format=json"


def test_searxng_without_json_says_what_to_do(server: JsonServer) -> None:
    server.answer = lambda request: Reply(raw=b"<h1>Forbidden</h1>", status=403)
    with pytest.raises(RefusedError, match=r"add json to search\.formats"):
        searxng(server.url).search("python", 10)


def test_searxng_whose_engines_are_silent_is_left_for_the_next(server: JsonServer) -> None:
    silent = {"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["bing", "timeout"]]}
    server.answer = lambda request: Reply(silent)
    with pytest.raises(Unavailable, match="none of its engines answers: google, bing"):
        searxng(server.url).search("python", 10)


@EVERY
def test_no_more_results_than_wished(server: JsonServer, make: Make) -> None:
    rows = [{"title": "t", "url": f"https://e.com/{n}", "content": "c"} for n in range(9)]
    server.answer = lambda request: Reply({"results": rows, "web": {"results": rows}})
    assert len(make(server.url).search("python", 3)) == 3


@EVERY
def test_a_rate_limit_says_how_long(server: JsonServer, make: Make) -> None:
    limit = Reply({"error": {"code": "RATE_LIMITED"}}, 429, {"Retry-After": "17"})
    server.answer = lambda request: limit
    with pytest.raises(RateLimitedError, match="rate limited, HTTP 429") as caught:
        make(server.url).search("python", 10)
    assert caught.value.retry_after_s == 17
    assert len(server.requests) == 1


@EVERY
def test_a_quota_that_is_used_up_is_a_limit_too(server: JsonServer, make: Make) -> None:
    server.answer = lambda request: Reply({"tag": "NO_MORE_CREDITS"}, 402)
    with pytest.raises(RateLimitedError, match="its quota is used up"):
        make(server.url).search("python", 10)


@EVERY
@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_in_trouble_is_left_for_the_next(
    server: JsonServer, make: Make, status: int
) -> None:
    server.answer = lambda request: Reply({"error": "oops"}, status)
    with pytest.raises(Unavailable, match=f"HTTP {status}") as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, RateLimitedError)


@pytest.mark.parametrize("make", [brave, exa, searxng])
def test_a_server_that_hangs_is_left_for_the_next(
    server: JsonServer, make: Callable[[str, float], WebProvider]
) -> None:
    server.answer = lambda request: Reply(hang=True)
    with pytest.raises(Unavailable, match=r"no answer within 0\.2 s"):
        make(server.url, 0.2).search("python", 10)


@KEYED
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_surfaces_and_is_not_shown(
    server: JsonServer, make: Make, status: int
) -> None:
    server.answer = lambda request: Reply({"error": f"bad key {KEY}"}, status)
    with pytest.raises(RefusedError, match="check the key in the configuration") as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, Unavailable)
    assert KEY not in repr(caught.value)


def test_a_refused_key_is_read_again(server: JsonServer) -> None:
    keys = iter(["old", "new"])
    asked = Brave(lambda: next(keys), timeout_s=20.0, endpoint=server.url)
    server.answer = lambda request: Reply({}, 401)
    with pytest.raises(RefusedError):
        asked.search("python", 10)
    server.answer = lambda request: Reply(BRAVE)
    assert asked.search("python", 10)
    assert [request.headers["x-subscription-token"] for request in server.requests] == [
        "old",
        "new",
    ]


@EVERY
def test_a_request_that_is_refused_surfaces_without_the_query(
    server: JsonServer, make: Make
) -> None:
    server.answer = lambda request: Reply({"error": {"code": "VALIDATION"}}, 422)
    with pytest.raises(RefusedError, match="answered HTTP 422") as caught:
        make(server.url).search("unspeakable", 10)
    assert "unspeakable" not in str(caught.value)


@EVERY
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
def test_an_answer_that_is_none_surfaces(server: JsonServer, make: Make, reply: Reply) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError) as caught:
        make(server.url).search("python", 10)
    assert not isinstance(caught.value, Unavailable)


@EVERY
def test_a_server_that_is_not_there_surfaces(server: JsonServer, make: Make) -> None:
    gone = make(server.url)
    server.close()
    with pytest.raises(UnavailableError, match="cannot be reached") as caught:
        gone.search("python", 10)
    assert not isinstance(caught.value, Unavailable)
