"""Web search: order and fallback of providers, caching, cooldowns and log messages."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from rootle.errors import RateLimitedError, RefusedError, Unavailable, UnreachableError
from rootle.protocols import TextCache, WebResult
from rootle.web.cooldowns import Cooldowns
from rootle.web.fallback import WebSearch
from rootle.web.url_cache import UrlCache

PYTHON = WebResult("Python", "https://www.python.org/", "The official home")
DOCS = WebResult("Docs", "https://docs.python.org/", "Documentation")


class Provider:
    """Returns results or raises an error, and records its queries."""

    def __init__(self, label: str, answer: Sequence[WebResult] | Exception = (PYTHON,)) -> None:
        self.label = label
        self.answer = answer
        self.queries: list[tuple[str, int]] = []

    def search(self, query: str, max_results: int) -> Sequence[WebResult]:
        self.queries.append((query, max_results))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def web_search(*providers: Provider, cache: TextCache | None = None, seed: int = 0) -> WebSearch:
    return WebSearch(providers, cache=cache, rng=random.Random(seed))


@pytest.fixture
def cache(tmp_path: Path) -> UrlCache:
    return UrlCache(tmp_path / "cache")


def test_results_are_rendered_as_markdown() -> None:
    assert web_search(Provider("A", (PYTHON, DOCS))).search("python") == (
        "## Search Results\n\n"
        "[Python](https://www.python.org/)\nThe official home\n\n"
        "[Docs](https://docs.python.org/)\nDocumentation"
    )


def test_a_title_cannot_imitate_another_link() -> None:
    result = WebResult("T](https://evil.example) [x", "https://www.python.org/", "b")
    assert "[T\\](https://evil.example) \\[x](https://www.python.org/)" in web_search(
        Provider("A", (result,))
    ).search("python")


def test_an_empty_result_has_its_own_text() -> None:
    assert web_search(Provider("A", ())).search("qzx") == "No results found."


def test_white_space_in_a_query_is_normalized() -> None:
    provider = Provider("A")
    web_search(provider).search("  where \n\t is\u00a0it ", max_results=3)
    assert provider.queries == [("where is it", 3)]


def test_a_secret_in_a_query_is_not_sent_logged_or_cached(
    cache: UrlCache, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    provider = Provider("A")
    token = "ghp_" + "a1B2" * 9
    for _ in range(2):
        web_search(provider, cache=cache).search(
            f"why does password=Sup3rS3cret9 fail with {token}"
        )
    sent = "why does password=[masked: password] fail with [masked: GitHub token]"
    assert provider.queries == [(sent, 10)]
    stored = "".join(path.read_text() for path in (tmp_path / "cache").iterdir())
    for secret in (token, "Sup3rS3cret9"):
        assert secret not in stored + caplog.text
    exempt = WebSearch([provider], cache=None, secret_exceptions=("Sup3r*",))
    exempt.search("password=Sup3rS3cret9")
    assert provider.queries[1:] == [("password=Sup3rS3cret9", 10)]


def test_ten_results_are_requested_by_default() -> None:
    provider = Provider("A")
    web_search(provider).search("x")
    assert provider.queries == [("x", 10)]


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_an_empty_query_is_an_error(query: str) -> None:
    with pytest.raises(ValueError, match=r"^query is empty$"):
        web_search(Provider("A")).search(query)


def test_a_query_can_contain_a_lone_surrogate(cache: UrlCache) -> None:
    provider = Provider("A")
    web_search(provider, cache=cache).search("half \ud800")
    assert provider.queries == [("half ?", 10)]


def test_every_provider_is_used_first_in_some_searches() -> None:
    providers = [Provider(label) for label in "ABC"]
    search = web_search(*providers)
    for number in range(300):
        search.search(f"query {number}")
    counts = Counter({provider.label: len(provider.queries) for provider in providers})
    assert sum(counts.values()) == 300
    assert min(counts.values()) > 60


def test_the_next_provider_is_used_if_one_is_unavailable() -> None:
    late, good = Provider("A", Unavailable("late")), Provider("B")
    for seed in range(8):
        assert "python.org" in web_search(late, good, seed=seed).search("x")
    assert late.queries
    assert len(good.queries) == 8


@pytest.mark.parametrize("error", [RefusedError("bad key", 401), KeyError("bug"), OSError("net")])
def test_any_other_error_is_raised(error: Exception, cache: UrlCache) -> None:
    with pytest.raises(type(error)):
        web_search(Provider("A", error), cache=cache).search("x")


def test_an_error_names_all_providers_if_none_is_available() -> None:
    providers = Provider("Brave", Unavailable("HTTP 503")), Provider("Exa", Unavailable("late"))
    texts = {web_search(*providers, seed=seed).search("x") for seed in range(20)}
    start = "Error: all search providers temporarily unavailable: "
    assert texts == {f"{start}Brave (HTTP 503); Exa (late)", f"{start}Exa (late); Brave (HTTP 503)"}


def test_an_answer_is_cached_by_its_normalized_query(cache: UrlCache) -> None:
    provider = Provider("A")
    first = web_search(provider, cache=cache).search("where  is it")
    provider.answer = ()
    assert web_search(provider, cache=cache).search(" where is it ", max_results=1) == first
    assert web_search(provider, cache=cache).search("where is what") == "No results found."
    assert len(provider.queries) == 2


def test_empty_results_are_cached(cache: UrlCache) -> None:
    provider = Provider("A", ())
    for _ in range(2):
        web_search(provider, cache=cache).search("qzx")
    assert len(provider.queries) == 1


def test_failures_are_not_cached(cache: UrlCache) -> None:
    provider = Provider("A", Unavailable("late"))
    assert web_search(provider, cache=cache).search("x").startswith("Error: ")
    provider.answer = (PYTHON,)
    assert web_search(provider, cache=cache).search("x").startswith("## Search Results")


def test_every_search_sends_a_request_without_a_cache() -> None:
    provider = Provider("A")
    search = web_search(provider)
    search.search("x")
    search.search("x")
    assert len(provider.queries) == 2


def test_the_log_contains_the_provider_and_cache_hits(
    cache: UrlCache, caplog: pytest.LogCaptureFixture
) -> None:
    search = web_search(Provider("Brave", (PYTHON, DOCS)), cache=cache)
    with caplog.at_level(logging.INFO, logger="rootle.web"):
        text = search.search('say "x"')
        search.search('say "x"')
    assert [record.getMessage() for record in caplog.records] == [
        "providers=Brave",
        'engine=Brave query="say \\"x\\"" results=2',
        f'cache=hit query="say \\"x\\"" bytes={len(text.encode())}',
    ]


def test_a_rate_limited_provider_is_used_again_after_its_cooldown(tmp_path: Path) -> None:
    now = [1_000.0]
    cooldowns = Cooldowns(tmp_path, clock=lambda: now[0], rng=lambda: 1.0)
    limited, good = Provider("A", RateLimitedError("HTTP 429")), Provider("B")
    search = WebSearch([limited, good], cache=None, cooldowns=cooldowns, rng=random.Random(1))
    for number in range(20):
        search.search(f"query {number}")
    assert len(limited.queries) == 1
    now[0] += 31
    limited.answer = (DOCS,)
    for number in range(20):
        search.search(f"query {number}")
    assert len(limited.queries) > 5


def test_an_error_contains_the_remaining_cooldown(tmp_path: Path) -> None:
    cooldowns = Cooldowns(tmp_path, clock=lambda: 1_000.0, rng=lambda: 1.0)
    limited = Provider("A", RateLimitedError("rate limited, HTTP 429"))
    search = WebSearch([limited], cache=None, cooldowns=cooldowns)
    assert "A (rate limited, HTTP 429)" in search.search("x")
    assert "A (failed before, on cooldown for 30 s)" in search.search("x")
    assert len(limited.queries) == 1


def test_an_unreachable_provider_has_a_cooldown_and_fails_no_search(tmp_path: Path) -> None:
    now = [1_000.0]
    cooldowns = Cooldowns(tmp_path, clock=lambda: now[0], rng=lambda: 1.0)
    unreachable, good = Provider("A", UnreachableError("no route to host")), Provider("B")
    search = WebSearch([unreachable, good], cache=None, cooldowns=cooldowns, rng=random.Random(1))
    for number in range(20):
        assert "python.org" in search.search(f"query {number}")
    assert len(unreachable.queries) == 1
    now[0] += 31
    for number in range(20):
        assert "python.org" in search.search(f"query {number}")
    assert len(unreachable.queries) == 2


def test_a_cooldown_after_a_network_failure_lasts_at_most_five_minutes(tmp_path: Path) -> None:
    now = [1_000.0]
    cooldowns = Cooldowns(tmp_path, clock=lambda: now[0], rng=lambda: 1.0)
    unreachable = Provider("A", UnreachableError("no route to host"))
    search = WebSearch([unreachable], cache=None, cooldowns=cooldowns)
    for number in range(1, 20):
        search.search("x")
        assert len(unreachable.queries) == number
        now[0] += 301


def test_an_overloaded_provider_has_no_cooldown(tmp_path: Path) -> None:
    late = Provider("A", Unavailable("late"))
    search = WebSearch([late], cache=None, cooldowns=Cooldowns(tmp_path))
    search.search("x")
    search.search("x")
    assert len(late.queries) == 2
