"""Questions name packages; names that are also words are recognized only in certain phrases."""

from __future__ import annotations

import pytest

from rootle.federation.package_names import find_named_packages, remove_package_names

_ALIASES = {
    "httpx": "httpx",
    "click": "click",
    "requests": "requests",
    "pydantic": "pydantic",
    "ms": "ms",
    "@x/hono": "@x/hono",
    "hono": "@x/hono",
    "yaml": "PyYAML",
    "pyyaml": "PyYAML",
    "typing-extensions": "t_e",
}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("how does httpx follow redirects", ("httpx",)),
        ("Does HTTPX follow redirects?", ("httpx",)),
        ("httpx.Client timeout", ("httpx",)),
        ("how do pydantic and httpx differ", ("pydantic", "httpx")),
        ("hono basic auth", ("@x/hono",)),
        ("@x/hono basic auth", ("@x/hono",)),
        ("typing_extensions backports", ("t_e",)),
        ("how does click find the pager", ("click",)),
        ("the click library", ("click",)),
        ("click's pager", ("click",)),
        ("what does click.edit do", ("click",)),
        ("where do we handle a click", ()),
        ("retry failed requests", ()),
        ("how does requests retry", ("requests",)),
        ("read the yaml settings", ()),
        ("wait 100 ms", ()),
        ("nothing of this kind", ()),
        ("", ()),
    ],
)
def test_packages_that_a_question_names(question: str, named: tuple[str, ...]) -> None:
    assert find_named_packages(question, _ALIASES) == named


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("how does httpx follow redirects", "how does follow redirects"),
        ("HTTPX.Client timeout", "Client timeout"),
        ("how do pydantic and httpx differ", "how do and differ"),
        ("retries in the click library", "retries in"),
        ("click's pager", "pager"),
        ("what does click.edit do", "what does edit do"),
        ("how does click handle a click", "how does handle a click"),
        ("where do we handle a click", "where do we handle a click"),
        ("httpx", "httpx"),
        ("", ""),
    ],
)
def test_the_names_of_packages_are_removed(question: str, rest: str) -> None:
    assert remove_package_names(question, _ALIASES) == rest


def test_a_long_question_costs_bounded_time() -> None:
    assert find_named_packages("a." * 500_000 + " httpx", _ALIASES) == ()
    assert len(remove_package_names("httpx " + "a." * 500_000, _ALIASES)) == 1_000_000
