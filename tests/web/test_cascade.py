"""Who is asked, who is asked next, what is kept, and what the log says."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from rootle.errors import RateLimitedError, RefusedError, Unavailable
from rootle.protocols import TextCache, WebResult
from rootle.web.cooldowns import Cooldowns
from rootle.web.fallback import WebSearch
from rootle.web.url_cache import UrlCache

PYTHON = WebResult("Python", "https://www.python.org/", "The official home")
DOCS = WebResult("Docs", "https://docs.python.org/", "Documentation")


class Provider:
    """Answers with results or raises, and remembers what it was asked."""

    def __init__(self, label: str, answer: Sequence[WebResult] | Exception = (PYTHON,)) -> None:
        self.label = label
        self.answer = answer
        self.asked: list[tuple[str, int]] = []

    def search(self, query: str, max_results: int) -> Sequence[WebResult]:
        self.asked.append((query, max_results))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def engines(*providers: Provider, cache: TextCache | None = None, seed: int = 0) -> WebSearch:
    return WebSearch(providers, cache=cache, rng=random.Random(seed))


@pytest.fixture
def cache(tmp_path: Path) -> UrlCache:
    return UrlCache(tmp_path / "cache")


def test_results_are_markdown() -> None:
    assert engines(Provider("A", (PYTHON, DOCS))).search("python") == (
        "## Search Results\n\n"
        "[Python](https://www.python.org/)\nThe official home\n\n"
        "[Docs](https://docs.python.org/)\nDocumentation"
    )


def test_no_results_are_said() -> None:
    assert engines(Provider("A", ())).search("qzx") == "No results found."


def test_a_query_is_trimmed_and_its_white_space_collapsed() -> None:
    provider = Provider("A")
    engines(provider).search("  where \n\t is\u00a0it ", max_results=3)
    assert provider.asked == [("where is it", 3)]


def test_ten_results_are_wished_for_where_nobody_says() -> None:
    provider = Provider("A")
    engines(provider).search("x")
    assert provider.asked == [("x", 10)]


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_an_empty_query_is_a_mistake(query: str) -> None:
    with pytest.raises(ValueError, match=r"^query is empty$"):
        engines(Provider("A")).search(query)


def test_a_query_with_half_a_character_is_asked_all_the_same(cache: UrlCache) -> None:
    provider = Provider("A")
    engines(provider, cache=cache).search("half \ud800")
    assert provider.asked == [("half ?", 10)]


def test_every_provider_is_the_first_one_now_and_then() -> None:
    providers = [Provider(label) for label in "ABC"]
    asked = engines(*providers)
    for number in range(300):
        asked.search(f"query {number}")
    counts = Counter({provider.label: len(provider.asked) for provider in providers})
    assert sum(counts.values()) == 300
    assert min(counts.values()) > 60


def test_the_next_one_is_asked_where_one_is_unavailable() -> None:
    late, good = Provider("A", Unavailable("late")), Provider("B")
    for seed in range(8):
        assert "python.org" in engines(late, good, seed=seed).search("x")
    assert late.asked
    assert len(good.asked) == 8


@pytest.mark.parametrize("error", [RefusedError("bad key", 401), KeyError("bug"), OSError("net")])
def test_any_other_failure_surfaces(error: Exception, cache: UrlCache) -> None:
    with pytest.raises(type(error)):
        engines(Provider("A", error), cache=cache).search("x")


def test_all_are_named_where_none_is_available() -> None:
    providers = Provider("Brave", Unavailable("HTTP 503")), Provider("Exa", Unavailable("late"))
    said = {engines(*providers, seed=seed).search("x") for seed in range(20)}
    start = "Error: all search providers temporarily unavailable: "
    assert said == {f"{start}Brave (HTTP 503); Exa (late)", f"{start}Exa (late); Brave (HTTP 503)"}


def test_an_answer_is_kept_by_its_cleaned_query(cache: UrlCache) -> None:
    provider = Provider("A")
    first = engines(provider, cache=cache).search("where  is it")
    provider.answer = ()
    assert engines(provider, cache=cache).search(" where is it ", max_results=1) == first
    assert engines(provider, cache=cache).search("where is what") == "No results found."
    assert len(provider.asked) == 2


def test_no_results_are_kept_as_well(cache: UrlCache) -> None:
    provider = Provider("A", ())
    for _ in range(2):
        engines(provider, cache=cache).search("qzx")
    assert len(provider.asked) == 1


def test_that_none_is_available_is_never_kept(cache: UrlCache) -> None:
    provider = Provider("A", Unavailable("late"))
    assert engines(provider, cache=cache).search("x").startswith("Error: ")
    provider.answer = (PYTHON,)
    assert engines(provider, cache=cache).search("x").startswith("## Search Results")


def test_without_a_cache_every_search_goes_out() -> None:
    provider = Provider("A")
    asked = engines(provider)
    asked.search("x")
    asked.search("x")
    assert len(provider.asked) == 2


def test_the_log_says_who_answered_and_what_was_kept(
    cache: UrlCache, caplog: pytest.LogCaptureFixture
) -> None:
    asked = engines(Provider("Brave", (PYTHON, DOCS)), cache=cache)
    with caplog.at_level(logging.INFO, logger="rootle.web"):
        text = asked.search('say "x"')
        asked.search('say "x"')
    assert [record.getMessage() for record in caplog.records] == [
        "providers=Brave",
        'engine=Brave query="say \\"x\\"" results=2',
        f'cache=hit query="say \\"x\\"" bytes={len(text.encode())}',
    ]


def test_who_was_limited_is_left_alone_and_comes_back(tmp_path: Path) -> None:
    now = [1_000.0]
    rests = Cooldowns(tmp_path, clock=lambda: now[0], rng=lambda: 1.0)
    limited, good = Provider("A", RateLimitedError("HTTP 429")), Provider("B")
    asked = WebSearch([limited, good], cache=None, rests=rests, rng=random.Random(1))
    for number in range(20):
        asked.search(f"query {number}")
    assert len(limited.asked) == 1
    now[0] += 31
    limited.answer = (DOCS,)
    for number in range(20):
        asked.search(f"query {number}")
    assert len(limited.asked) > 5


def test_who_rests_is_named_with_the_time_that_is_left(tmp_path: Path) -> None:
    rests = Cooldowns(tmp_path, clock=lambda: 1_000.0, rng=lambda: 1.0)
    limited = Provider("A", RateLimitedError("rate limited, HTTP 429"))
    asked = WebSearch([limited], cache=None, rests=rests)
    assert "A (rate limited, HTTP 429)" in asked.search("x")
    assert "A (rests for 30 s more after a rate limit)" in asked.search("x")
    assert len(limited.asked) == 1


def test_who_is_late_once_does_not_rest(tmp_path: Path) -> None:
    late = Provider("A", Unavailable("late"))
    asked = WebSearch([late], cache=None, rests=Cooldowns(tmp_path))
    asked.search("x")
    asked.search("x")
    assert len(late.asked) == 2
